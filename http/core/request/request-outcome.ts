/**
 * Outcomes of requests, reported to the log and to an observer.
 *
 * Source: docs/batch-values.md §2: both ids and the client's address are on every line about a request.
 */
import type { Log } from '@sealwright/runtime';
import type { Problem } from '../problem.ts';
import type { RequestNames } from '../request-ids.ts';

/** Outcome of one request, for metrics. */
export interface RequestObservation {
  readonly method: string;
  /** Path of the route; `(none)` when there is no such route. */
  readonly route: string;
  /** 0 when the client left before it was answered. */
  readonly status: number;
  /** From the request's head to the end of its answer, in milliseconds. */
  readonly milliseconds: number;
}

/** Fields of log lines about a request. */
export interface RequestMarks extends RequestNames {
  /** IP address. */
  readonly client: string;
  /** Name of the caller where the request changes something. Undefined: not known. */
  readonly operator: string | undefined;
}

export type RequestObserver = (observation: RequestObservation) => void;

/** True when successful requests with this method are not logged. */
export function isQuiet(log: Log, method: string): boolean {
  return log.debugging === false && (method === 'GET' || method === 'HEAD');
}

/** Writes one line per request: reads at debug, changes and refusals at info, server errors as errors. */
export function reportOutcome(
  log: Log,
  outcome: RequestObservation,
  problem: Problem | undefined,
  marks: () => RequestMarks,
): void {
  const { method, route, status, milliseconds } = outcome;
  if (problem === undefined && isQuiet(log, method)) return;
  const { client, operator, requestId, traceId } = marks();
  const properties = {
    Method: method,
    Route: route,
    Status: status,
    Ms: Math.round(milliseconds * 10) / 10,
    Client: client,
    ...(operator !== undefined && method !== 'GET' && method !== 'HEAD' && { Operator: operator }),
    RequestId: requestId,
    TraceId: traceId,
  };
  if (problem === undefined) {
    if (method === 'GET' || method === 'HEAD') log.debug('Request answered.', properties);
    else log.info('Request answered.', properties);
    return;
  }
  const why = { ...properties, Code: problem.code, Detail: problem.detail };
  if (problem.exception !== undefined) log.error('Request failed.', { ...why, Exception: problem.exception });
  else log.info('Request refused.', why);
}
