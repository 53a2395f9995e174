/**
 * What browsers let the pages of the portal do: scripts, styles and connections of this host only, nothing that
 * stands in the page itself, and frames only where they are meant to be.
 *
 * Source: Content Security Policy Level 3; portal-gaps §9 ("it must be frameable").
 */
import type { ReplyHeaders } from '../../reply.ts';

/** Who may show a page in a frame: nobody, anybody, or these origins. */
export type Framing = 'nobody' | 'anybody' | readonly string[];

/** Forms are sent by scripts; only the check page has one that the browser sends. */
export type Forms = 'by-script' | 'own';

const BASE =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; font-src 'self' data:; " +
  "connect-src 'self'; worker-src 'self'; base-uri 'none'";

/** Headers of an HTML page. */
export function pageHeaders(framing: Framing, forms: Forms = 'by-script'): ReplyHeaders {
  const policy = `${BASE}; form-action ${forms === 'own' ? "'self'" : "'none'"}; frame-ancestors ${ancestors(framing)}`;
  return [
    ['Content-Security-Policy', policy],
    // The older header cannot name origins, and would forbid what the policy allows.
    ['X-Frame-Options', framing === 'nobody' ? 'DENY' : ''],
    ['X-Robots-Tag', 'noindex'],
  ];
}

/** Headers of the thread that holds a participant's key: it loads its own scripts, and can tell nobody anything. */
export const KEY_HEADERS: ReplyHeaders = [
  ['Content-Security-Policy', "default-src 'none'; script-src 'self'"],
];

/** Headers of the script of pdf.js that decodes images with WebAssembly, which its own policy must allow. */
export const DECODER_HEADERS: ReplyHeaders = [
  ['Content-Security-Policy', "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"],
];

function ancestors(framing: Framing): string {
  if (framing === 'nobody') return "'none'";
  if (framing === 'anybody') return '*';
  const origins = framing.filter((origin) => /^https?:\/\/[\w.*:[\]-]+$/i.test(origin));
  // A list of which nothing is left must not turn into "anybody".
  return origins.length === 0 ? "'none'" : origins.join(' ');
}
