/** Encodes failures between threads. */
import { describeFailure, Fatal, isRetryable, Retryable } from '../model/failures.ts';
import type { PlainFailure } from './wire.ts';

export function plainFailure(error: unknown): PlainFailure {
  const retryable = isRetryable(error);
  return { ...describeFailure(error), retryable, retryAfter: retryable ? error.retryAfter : undefined };
}

export function failureOf({ code, message, retryable, retryAfter }: PlainFailure): Retryable | Fatal {
  return retryable ? new Retryable(code, message, retryAfter) : new Fatal(code, message);
}
