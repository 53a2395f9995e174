/**
 * Frame of the portal's pages. Scripts and styles are separate files, because the Content-Security-Policy forbids
 * inline ones; a block of JSON, which browsers do not execute, carries the data of the scripts.
 */

import { type Html, html, lines, raw } from '../../../contracts/texts/html.ts';
import type { PageBranding } from '../../../machines/portal/branding.ts';
import type { PageTexts } from './texts.ts';

/** URL prefix of scripts and styles. */
export const ASSETS = '/document/assets';

export type Theme = 'light' | 'dark';

export interface PortalFrame {
  readonly words: PageTexts;
  readonly title: string;
  /** Undefined: the system's colour scheme. */
  readonly theme?: Theme | undefined;
  /** Class of `<body>`. */
  readonly kind: string;
  /** Script of the page, a file below `ASSETS`. */
  readonly script?: string | undefined;
  /** File below `ASSETS` that runs as soon as it is loaded, before the others. */
  readonly early?: string | undefined;
  /** Path of a file that a script will read; requested at once. */
  readonly preload?: string | undefined;
  /** Data for the script. */
  readonly data?: unknown;
  /** Look of the organization. */
  readonly branding?: PageBranding | undefined;
  /** The page has a header of its own, in place of the band. */
  readonly ownHeader?: boolean;
  readonly main: Html;
}

export function portalPage(frame: PortalFrame): string {
  const { words, title, theme, kind, script, early, preload, data, main, branding, ownHeader } = frame;
  const theming = theme === undefined ? '' : html` data-theme="${theme}"`;
  const head = [
    html`<link rel="icon" href="${ASSETS}/icon.svg">`,
    html`<link rel="stylesheet" href="${ASSETS}/pages.css">`,
    ...(branding?.colors === undefined
      ? []
      : [html`<link rel="stylesheet" href="${brandingPath(branding)}/colors.css?v=${branding.colors}">`]),
    ...(early === undefined ? [] : [html`<script type="module" async src="${ASSETS}/${early}"></script>`]),
    ...(script === undefined ? [] : [html`<script type="module" src="${ASSETS}/${script}"></script>`]),
    ...(preload === undefined ? [] : [html`<link rel="preload" as="fetch" crossorigin href="${preload}">`]),
  ];
  const block =
    data === undefined
      ? ''
      : html`\n<script type="application/json" id="page-data">${raw(jsonInHtml(data))}</script>`;
  return html`<!doctype html>
<html lang="${words.language}"${theming}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${theme ?? 'light dark'}">
<title>${title}</title>
${lines(head)}
</head>
<body class="${kind}">
${branding === undefined || ownHeader === true || kind.includes('embedded') ? '' : brandingBand(branding)}${main}${block}
</body>
</html>
`.text;
}

/** URL prefix of what an organization's pages load. */
export const BRANDING = '/document/branding';

function brandingPath({ organizationId }: PageBranding): string {
  return `${BRANDING}/${encodeURIComponent(organizationId)}`;
}

function brandingBand(branding: PageBranding): Html {
  const content = logoOf(branding, branding.name) ?? html`<strong>${branding.name}</strong>`;
  return html`<header class="branding">${content}</header>
`;
}

/** @param alt empty when the name is shown beside it */
export function logoOf(branding: PageBranding, alt: string): Html | undefined {
  const { logo } = branding;
  if (logo === undefined) return undefined;
  return html`<img src="${brandingPath(branding)}/logo?v=${logo.digest}" alt="${alt}" width="${logo.width}" height="${logo.height}">`;
}

/** Escapes `<`, which could end the element, and the line separators that old parsers reject. */
export function jsonInHtml(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}

/** A page with a single message. @param more HTML below it */
export function message(
  notice: { readonly title: string; readonly text: string },
  more: Html = html``,
): Html {
  return html`<main id="main" class="notice" tabindex="-1">
<h1>${notice.title}</h1>
<p>${notice.text}</p>
${more}</main>`;
}
