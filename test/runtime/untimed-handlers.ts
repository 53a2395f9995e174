import type { HandledEffect } from '@sealwright/runtime';

/** The handlers without time limits, for a clock that tests advance by minutes while a real call is on its way. */
export function withoutTimeLimits(
  handlers: readonly HandledEffect<unknown>[],
): readonly HandledEffect<unknown>[] {
  return handlers.map((one) => ({
    ...one,
    handler: { ...one.handler, timeLimitMs: Number.POSITIVE_INFINITY },
  }));
}
