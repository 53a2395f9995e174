/**
 * Same-origin check of requests.
 *
 * Source: docs/batch-values.md §10; Fetch Metadata Request Headers, "Sec-Fetch-Site".
 */
import type { Caller } from './caller.ts';

/** Request headers that name the origin of a request; empty when absent. */
export interface OriginHeaders {
  readonly origin: string;
  readonly fetchSite: string;
}

/**
 * False when one of the headers is present and names another origin. Clients other than browsers send neither.
 *
 * An https origin counts although the request came over http: a TLS terminator in front of the service need not
 * announce itself. The reverse (an http page, which anyone on the network could change) is refused.
 */
export function isSameOrigin(headers: OriginHeaders, caller: Caller): boolean {
  const { origin, fetchSite } = headers;
  if (fetchSite !== '' && fetchSite !== 'same-origin') return false;
  if (origin === '') return true;
  // Pages that were loaded with the header alone send no origin, because of its Referrer-Policy; other sites send `cross-site`.
  if (origin === 'null') return fetchSite === 'same-origin';
  if (!/^https?:\/\//i.test(origin) || !URL.canParse(origin)) return false;
  const from = new URL(origin);
  if (caller.https && from.protocol === 'http:') return false;
  const own = `${from.protocol}//${caller.host}`;
  return caller.host !== '' && URL.canParse(own) && new URL(own).host === from.host;
}
