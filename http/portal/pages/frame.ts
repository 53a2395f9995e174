/**
 * The frame of the portal's pages. Scripts and styles are files of their own, for the Content-Security-Policy lets
 * none stand in a page; what scripts need to know comes along as a block of JSON, which no browser runs.
 */
import { escapeHtml } from '../../html.ts';
import type { PageWords } from './texts/words.ts';

/** Where scripts and styles are. */
export const ASSETS = '/document/assets';

export type Theme = 'light' | 'dark';

export interface PortalFrame {
  readonly words: PageWords;
  readonly title: string;
  /** Undefined: as the system has it. */
  readonly theme?: Theme | undefined;
  /** Class of `<body>`. */
  readonly kind: string;
  /** Files below `ASSETS`; the first is run, the others are what it will import. */
  readonly scripts?: readonly string[];
  /** For the script. */
  readonly data?: unknown;
  /** HTML. */
  readonly main: string;
}

export function portalPage({ words, title, theme, kind, scripts = [], data, main }: PortalFrame): string {
  const [entry, ...imported] = scripts;
  const theming = theme === undefined ? '' : ` data-theme="${theme}"`;
  const head = [
    `<link rel="icon" href="${ASSETS}/icon.svg">`,
    `<link rel="stylesheet" href="${ASSETS}/pages.css">`,
    ...(entry === undefined ? [] : [`<script type="module" src="${ASSETS}/${entry}"></script>`]),
    ...imported.map((name) => `<link rel="modulepreload" href="${ASSETS}/${name}">`),
  ];
  const block =
    data === undefined ? '' : `\n<script type="application/json" id="page-data">${jsonInHtml(data)}</script>`;
  return `<!doctype html>
<html lang="${words.language}"${theming}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${theme ?? 'light dark'}">
<title>${escapeHtml(title)}</title>
${head.join('\n')}
</head>
<body class="${kind}">
${main}${block}
</body>
</html>
`;
}

/** No `<` is left that could end the element, and no line separator that old parsers stumble over. */
export function jsonInHtml(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}

/** A page that says one thing. @param more HTML below it */
export function saying(notice: { readonly title: string; readonly text: string }, more: string = ''): string {
  return `<main id="main" class="notice" tabindex="-1">
<h1>${escapeHtml(notice.title)}</h1>
<p>${escapeHtml(notice.text)}</p>
${more}</main>`;
}
