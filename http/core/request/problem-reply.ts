/** Builds the reply to a request that is refused or has failed: an error page for people, or a problem body. */
import type { Problem } from '../problem.ts';
import type { JsonReply, PageReply, ReplyHeaders } from '../reply.ts';
import type { Match } from '../router.ts';
import type { RequestHead } from '../transport/port.ts';
import type { ReceivedRequest } from './received-request.ts';
import type { RequestNames } from './request-ids.ts';
import type { RequestContextOptions } from './request-options.ts';

/** A request that is answered with a problem. */
export interface FailedRequest {
  readonly requestId: string;
  readonly path: string;
  readonly match: Match;
  /** Undefined when the request failed before it was copied. */
  readonly received: ReceivedRequest | undefined;
  /** The request of the library, which is invalid after the first wait. */
  readonly request: RequestHead;
  readonly names: () => RequestNames;
}

/** @param more headers in addition to those of the problem */
export function problemReply(
  problem: Problem,
  more: ReplyHeaders,
  failed: FailedRequest,
  { conventions, production, challenge }: RequestContextOptions,
): PageReply | JsonReply {
  const headers = [...problemHeaders(problem, failed.match, challenge), ...more];
  const page = failurePage(problem, failed, conventions);
  if (page !== undefined) return { ...page, headers: [...(page.headers ?? []), ...headers] };
  const { requestId, traceId } = failed.names();
  return {
    kind: 'json',
    status: problem.status,
    contentType: conventions.problemType,
    ascii: true,
    headers,
    body: conventions.problemBody(problem, { requestId, traceId, path: failed.path, production }),
  };
}

/** Returns the error page of a route for people, or of an unknown path, in the language of the request. */
function failurePage(
  { status }: Problem,
  { requestId, path, match, received, request }: FailedRequest,
  conventions: RequestContextOptions['conventions'],
): PageReply | undefined {
  if (!match.found) {
    if (status !== 404) return undefined;
    // Fails before anything is awaited, so the request can still be read.
    const header = (name: string) => request.getHeader(name);
    return conventions.notFoundPage({ status, requestId, path, query: request.getQuery(), header });
  }
  const header = (name: string) => received?.headers.get(name) ?? '';
  return match.route.failurePage?.({ status, requestId, query: received?.query, header });
}

function problemHeaders(problem: Problem, match: Match, challenge: string): ReplyHeaders {
  const headers: [string, string][] = [];
  if (problem.status === 401) headers.push(['WWW-Authenticate', challenge]);
  if (problem.status === 405 && !match.found) headers.push(['Allow', match.allow ?? '']);
  if (problem.retryAfterSeconds !== undefined)
    headers.push(['Retry-After', String(problem.retryAfterSeconds)]);
  return headers;
}
