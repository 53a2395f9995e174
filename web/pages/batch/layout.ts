/**
 * Frame of the operator pages: title, navigation, version, and the live region for results. Scripts and styles are
 * separate files, because the Content-Security-Policy forbids inline ones.
 */
import { type Html, html, lines } from '../../../contracts/texts/html.ts';

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
  /** URL prefix of the assets. @default /assets */
  readonly assets?: string;
  /** True when there is a session to end. @default true */
  readonly session?: boolean;
  /** Files below `assets`. */
  readonly styles: readonly string[];
  readonly script?: string;
  /** Of a page that refreshes itself: `Dashboard:PollIntervalSeconds`. */
  readonly pollSeconds?: number;
  readonly main: Html;
}

const TIMES = html`<label class="quiet">Times <select id="times">
<option value="local">local</option><option value="utc">UTC</option><option value="relative">relative</option>
</select></label>`;

/** On narrow screens it shows and hides the navigation that follows, also without a script. */
const MENU = html`<details class="menu"><summary>Menu</summary></details>`;

export function framedPage(frame: Frame): string {
  const { title, version, main, script, pollSeconds, assets = '/assets', session = true } = frame;
  const links = frame.links.map(({ href, text }) => {
    const inside = href === '/' ? frame.path === '/' : `${frame.path}/`.startsWith(`${href}/`);
    const current = inside ? html` aria-current="page"` : '';
    return html`<a href="${href}"${current}>${text}</a>`;
  });
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} - sealwright</title>
<link rel="icon" href="${assets}/icon.svg">
${lines(frame.styles.map((name) => html`<link rel="stylesheet" href="${assets}/${name}">`))}
${script === undefined ? '' : html`<script type="module" src="${assets}/${script}"></script>`}
</head>
<body${pollSeconds === undefined ? '' : html` data-poll="${pollSeconds}"`}>
<a class="skip" href="#main">Skip to the content</a>
<header class="bar">
<strong>sealwright</strong>
${links.length > 0 ? MENU : ''}
<nav aria-label="Pages">
${lines(links)}
</nav>
${pollSeconds === undefined ? '' : TIMES}
${session ? html`<form method="post" action="/api/auth/logout"><button type="submit">Log out</button></form>` : ''}
<span class="version">${version}</span>
</header>
<main id="main" tabindex="-1">
${main}
</main>
<div id="toasts" role="status" aria-live="polite"></div>
</body>
</html>
`.text;
}
