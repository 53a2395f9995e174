/**
 * Checks the headers that delimit a body. Where two of them disagree, or name an unknown coding, a proxy in front of
 * the service may see another end of the body (request smuggling).
 *
 * Source: RFC 9112 §6.1 (`Transfer-Encoding`) and §6.3, rules 3 to 5.
 */
import type { UwsRequest } from './uws.ts';

/** Describes the fault; undefined when there is none. Call before the route handler returns. */
export function framingFault(request: Pick<UwsRequest, 'getHeader' | 'forEach'>): string | undefined {
  if (request.getHeader('content-length') === '' && request.getHeader('transfer-encoding') === '')
    return undefined;
  const lengths = new Set<string>();
  const codings: string[] = [];
  request.forEach((name, value) => {
    if (name === 'content-length') lengths.add(value.trim());
    else if (name === 'transfer-encoding') codings.push(value.trim().toLowerCase());
  });
  if (lengths.size > 1) return 'The request has two different Content-Length headers.';
  if (codings.length > 1 || (codings.length === 1 && codings[0] !== 'chunked')) {
    return 'The only transfer coding that is known here is chunked.';
  }
  return undefined;
}
