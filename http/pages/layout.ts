/**
 * The frame of our pages: title, way around, version, and the place where answers to actions appear. Scripts and
 * styles are files of their own, for the Content-Security-Policy lets none stand in a page.
 */
import { escapeHtml } from '../html.ts';

export interface PageLink {
  readonly href: string;
  readonly text: string;
}

export interface Frame {
  readonly title: string;
  /** Path of the page, to mark its link as the current one. */
  readonly path: string;
  readonly links: readonly PageLink[];
  readonly version: string;
  /** Where the files of pages are. @default /assets */
  readonly assets?: string;
  /** Whether there is a session to end. @default true */
  readonly session?: boolean;
  /** Files below `assets`. */
  readonly styles: readonly string[];
  readonly scripts: readonly string[];
  /** Attributes of `<body>` that the scripts read; lower-case names with hyphens, without `data-`. */
  readonly data?: { readonly [name: string]: string };
  /** HTML. */
  readonly main: string;
}

export function framedPage(frame: Frame): string {
  const { title, version, main, data = {}, assets = '/assets', session = true } = frame;
  const links = frame.links.map(({ href, text }) => {
    const inside = href === '/' ? frame.path === '/' : `${frame.path}/`.startsWith(`${href}/`);
    const current = inside ? ' aria-current="page"' : '';
    return `<a href="${escapeHtml(href)}"${current}>${escapeHtml(text)}</a>`;
  });
  const attributes = Object.entries(data).map(([name, value]) => ` data-${name}="${escapeHtml(value)}"`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} - sealwright</title>
<link rel="icon" href="${assets}/icon.svg">
${frame.styles.map((name) => `<link rel="stylesheet" href="${assets}/${name}">`).join('\n')}
${frame.scripts.map((name) => `<script type="module" src="${assets}/${name}"></script>`).join('\n')}
</head>
<body${attributes.join('')}>
<a class="skip" href="#main">Skip to the content</a>
<header class="bar">
<strong>sealwright</strong>
<nav aria-label="Pages">
${links.join('\n')}
</nav>
${session ? '<form method="post" action="/api/auth/logout"><button type="submit">Log out</button></form>' : ''}
<span class="version">${escapeHtml(version)}</span>
</header>
<main id="main" tabindex="-1">
${main}
</main>
<div id="toasts" role="status" aria-live="polite"></div>
</body>
</html>
`;
}
