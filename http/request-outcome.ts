/**
 * What became of a request, told to the log and to whoever observes.
 *
 * Source: batch-gaps §2: both ids and the client's address are on every line about a request.
 */
import type { Log } from '../runtime/index.ts';
import type { Problem } from './problem.ts';
import type { RequestNames } from './request-ids.ts';

/** What became of one request, for metrics. */
export interface RequestObservation {
  readonly method: string;
  /** Path of the route; `(none)` when there is no such route. */
  readonly route: string;
  /** 0 when the client left before it was answered. */
  readonly status: number;
  /** From the request's head to the end of its answer, in milliseconds. */
  readonly milliseconds: number;
}

/** What log lines say of a request besides. */
export interface RequestMarks extends RequestNames {
  /** IP address. */
  readonly client: string;
}

export type RequestObserver = (observation: RequestObservation) => void;

/** True when nothing is logged about a request that is answered well. */
export function isQuiet(log: Log, method: string): boolean {
  return log.debugging === false && (method === 'GET' || method === 'HEAD');
}

/** One line for each request: reads at debug, changes and refusals at info, our own failures as errors. */
export function tellOutcome(
  log: Log,
  outcome: RequestObservation,
  problem: Problem | undefined,
  marks: () => RequestMarks,
): void {
  const { method, route, status, milliseconds } = outcome;
  if (problem === undefined && isQuiet(log, method)) return;
  const { client, requestId, traceId } = marks();
  const properties = {
    Method: method,
    Route: route,
    Status: status,
    Ms: Math.round(milliseconds * 10) / 10,
    Client: client,
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
