/** The head of a request: copies what later phases read, and finds faults in the headers that delimit the body. */

import type { AnyRoute } from '../router.ts';
import type { RequestHead } from '../transport/port.ts';
import type { IncomingRequest } from './access-check.ts';

/** Values copied from a request, which the library invalidates after the first await. */
export interface ReceivedRequest {
  readonly route: AnyRoute;
  readonly params: Readonly<Record<string, string>> | undefined;
  /** Text after `?`. */
  readonly query: string | undefined;
  /** Headers that the route reads. */
  readonly headers: ReadonlyMap<string, string>;
  readonly contentType: string;
  readonly contentLength: string;
  /** True: the bytes of the body are not the content itself. */
  readonly isEncoded: boolean;
}

const NO_HEADERS: ReadonlyMap<string, string> = new Map();

/** Copies what the route reads. Call before the handler of the library returns. */
export function copyRequest(
  { query, header }: Pick<IncomingRequest, 'query' | 'header'>,
  route: AnyRoute,
  params: ReceivedRequest['params'],
): ReceivedRequest {
  const hasBody = route.bodyPolicy !== 'none';
  return {
    route,
    params,
    query,
    headers:
      route.headers.length === 0 ? NO_HEADERS : new Map(route.headers.map((name) => [name, header(name)])),
    contentType: hasBody ? header('content-type') : '',
    contentLength: hasBody ? header('content-length') : '',
    isEncoded: hasBody && !/^(?:identity)?$/i.test(header('content-encoding')),
  };
}

/**
 * Checks the headers that delimit a body. Where two of them disagree, or name an unknown coding, a proxy in front of
 * the service may see another end of the body (request smuggling). Describes the fault; undefined when there is none.
 * Call before the handler of the library returns.
 *
 * Source: RFC 9112 §6.1 (`Transfer-Encoding`) and §6.3, rules 3 to 5.
 */
export function framingFault(request: Pick<RequestHead, 'forEach'>): string | undefined {
  // An empty first value hides the others from `getHeader`, so all headers are read.
  let length: string | undefined;
  let coding: string | undefined;
  let fault: string | undefined;
  request.forEach((name, value) => {
    if (name === 'content-length') {
      const text = value.trim();
      if (text === '') fault = 'The Content-Length header is empty.';
      else if (length !== undefined && length !== text)
        fault = 'The request has two different Content-Length headers.';
      length = text;
    } else if (name === 'transfer-encoding') {
      const text = value.trim().toLowerCase();
      if (coding !== undefined || text !== 'chunked')
        fault = 'The only transfer coding that is known here is chunked.';
      coding = text;
    }
  });
  return fault;
}
