/**
 * Content-Security-Policy of the portal's pages: scripts, styles and connections of this host only, nothing inline,
 * and frames only where permitted.
 *
 * Source: Content Security Policy Level 3; docs/portal-values.md §9.
 */
import type { ReplyHeaders } from '../../core/reply.ts';

/** Sites that may frame a page: none, this portal, any, or these origins. */
export type Framing = 'none' | 'self' | 'any' | readonly string[];

/** Scripts send the forms; only the check page has a form that the browser sends. */
export type Forms = 'by-script' | 'own';

const BASE =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; font-src 'self' data:; " +
  "connect-src 'self'; worker-src 'self'; base-uri 'none'";

/** Headers of an HTML page. @param hasFrames it shows other pages of this portal */
export function pageHeaders(framing: Framing, forms: Forms = 'by-script', hasFrames = false): ReplyHeaders {
  const frames = hasFrames ? "; frame-src 'self'" : '';
  const policy = `${BASE}${frames}; form-action ${forms === 'own' ? "'self'" : "'none'"}${ancestors(framing)}`;
  return [
    ['Content-Security-Policy', policy],
    // X-Frame-Options cannot name origins, and would forbid frames that the policy allows.
    ['X-Frame-Options', framing === 'none' ? 'DENY' : ''],
    ['X-Robots-Tag', 'noindex'],
  ];
}

/** Headers of the worker that holds a participant's key: it loads its own scripts, and can connect to no host. */
export const KEY_HEADERS: ReplyHeaders = [
  ['Content-Security-Policy', "default-src 'none'; script-src 'self'"],
];

/** Headers of the pdf.js script that decodes images with WebAssembly, which its own policy must allow. */
export const DECODER_HEADERS: ReplyHeaders = [
  ['Content-Security-Policy', "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"],
];

/** Headers of a picture: opened by itself, it runs and loads nothing. */
export const PICTURE_HEADERS: ReplyHeaders = [
  ['Content-Security-Policy', "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox"],
  ['Vary', 'Accept-Encoding'],
];

function ancestors(framing: Framing): string {
  // Not `*`, which leaves out the pages of apps, such as `capacitor://localhost`.
  return framing === 'any' ? '' : `; frame-ancestors ${sources(framing)}`;
}

function sources(framing: Exclude<Framing, 'any'>): string {
  if (framing === 'none') return "'none'";
  if (framing === 'self') return "'self'";
  const origins = framing.filter((origin) => /^[a-z][a-z0-9+.-]*:\/\/[\w.*:[\]-]+$/i.test(origin));
  // A list without valid origins must not permit any site.
  return origins.length === 0 ? "'none'" : origins.join(' ');
}
