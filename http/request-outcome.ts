/**
 * What became of a request, told to the log and to whoever observes.
 *
 * Source: batch-gaps §2: both ids and the client's address are on every line about a request.
 */
import type { Log } from '../runtime/index.ts';
import type { Problem } from './problem.ts';

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

export interface RequestOutcome extends RequestObservation {
  /** IP address. */
  readonly client: string;
  readonly requestId: string;
  readonly traceId: string;
  readonly problem: Problem | undefined;
}

/** One line for each request: reads at debug, changes and refusals at info, our own failures as errors. */
export function tellOutcome(
  to: { readonly log: Log; readonly observe: ((observation: RequestObservation) => void) | undefined },
  outcome: RequestOutcome,
): void {
  const { method, route, status, milliseconds, problem } = outcome;
  to.observe?.({ method, route, status, milliseconds });
  const properties = {
    Method: method,
    Route: route,
    Status: status,
    Ms: Math.round(milliseconds * 10) / 10,
    Client: outcome.client,
    RequestId: outcome.requestId,
    TraceId: outcome.traceId,
  };
  if (problem === undefined) {
    if (method === 'GET' || method === 'HEAD') to.log.debug('Request answered.', properties);
    else to.log.info('Request answered.', properties);
    return;
  }
  const why = { ...properties, Code: problem.code, Detail: problem.detail };
  if (problem.exception !== undefined)
    to.log.error('Request failed.', { ...why, Exception: problem.exception });
  else to.log.info('Request refused.', why);
}
