/** Rendering on the server: components as HTML text, and templates inside components. */
import type { ComponentChildren, VNode } from 'preact';
import { jsxTemplate } from 'preact/jsx-runtime';
import { renderToString } from 'preact-render-to-string';
import { Html } from './html.ts';

/** Renders components for a template or a reply. */
export function markup(node: VNode): Html {
  return new Html(renderToString(node));
}

/** Inserts a template into components. */
export function Template({ of }: { of: Html | undefined }): VNode | null {
  return of === undefined ? null : jsxTemplate([of.text]);
}

/** A whole document. @param root the element `<html>` */
export function documentText(root: VNode): string {
  return `<!doctype html>\n${renderToString(root)}\n`;
}

/** Content of a page: components, or a template of a page that is not moved to components yet. */
export type Content = ComponentChildren | Html;

export function Inserted({ content }: { content: Content }): VNode {
  return <>{content instanceof Html ? <Template of={content} /> : content}</>;
}

/** Data for the scripts of a page, as a block of JSON that browsers do not execute. */
export function PageData({ data }: { data: unknown }): VNode {
  return (
    <script type="application/json" id="page-data" dangerouslySetInnerHTML={{ __html: jsonInHtml(data) }} />
  );
}

/** Escapes `<`, which could end the element, and the line separators that old parsers reject. */
export function jsonInHtml(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}
