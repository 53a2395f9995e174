/**
 * Whether a request comes from a page of our own.
 *
 * Source: batch-gaps §10, "Cookie-authenticated POST"; Fetch Metadata Request Headers, "Sec-Fetch-Site".
 */
import type { Caller } from './caller.ts';

/** Request headers that tell where a request comes from; empty where absent. */
export interface OriginHeaders {
  readonly origin: string;
  readonly fetchSite: string;
}

/**
 * False when one of the headers is there and names another origin. Clients that are no browsers send neither.
 *
 * An https origin counts although the request came over http: whoever ends TLS in front of the service need not
 * say so, and the other way round (a page that anybody on the network could change) is what must not pass.
 */
export function isSameOrigin(headers: OriginHeaders, caller: Caller): boolean {
  const { origin, fetchSite } = headers;
  if (fetchSite !== '' && fetchSite !== 'same-origin') return false;
  if (origin === '') return true;
  // Forms of our own pages name no origin, because of their Referrer-Policy; those of others say `cross-site`.
  if (origin === 'null') return fetchSite === 'same-origin';
  if (!/^https?:\/\//i.test(origin) || !URL.canParse(origin)) return false;
  const from = new URL(origin);
  if (caller.https && from.protocol === 'http:') return false;
  const own = `${from.protocol}//${caller.host}`;
  return caller.host !== '' && URL.canParse(own) && new URL(own).host === from.host;
}
