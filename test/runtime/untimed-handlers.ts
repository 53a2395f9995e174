import type { EffectHandler } from '@sealwright/runtime';

/** The handlers without time limits, for a clock that tests advance by minutes while a real call is on its way. */
export function withoutTimeLimits(handlers: { readonly [name: string]: EffectHandler }) {
  return Object.fromEntries(
    Object.entries(handlers).map(([name, handler]) => [
      name,
      { ...handler, timeLimitMs: Number.POSITIVE_INFINITY },
    ]),
  );
}
