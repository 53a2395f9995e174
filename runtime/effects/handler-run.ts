/** Runs one attempt of an effect handler. */
import type { EffectContext, EffectHandler } from '../model/definition.ts';
import { Retryable } from '../model/failures.ts';
import type { Clock, Log, Millis, StoredEffect } from '../model/ports.ts';

/** Time that a handler has to end after its signal was aborted, milliseconds. Then it is abandoned. */
const ABANDON_AFTER_MS = 1000;

export interface HandlerRunDependencies {
  readonly clock: Clock;
  readonly log: Log;
  readonly context: EffectContext;
  /** Time limit of handlers without one of their own, milliseconds. */
  readonly timeLimitMs: Millis;
}

/**
 * Resolves with what the handler resolves with. Rejects once the time limit has passed, or with the reason of `stop` once
 * that is aborted: a later outcome is not used.
 */
export async function runHandler(
  { clock, log, context, timeLimitMs: defaultLimit }: HandlerRunDependencies,
  handler: EffectHandler,
  { key, actor, failures, effect }: StoredEffect,
  stop: AbortSignal,
): Promise<unknown> {
  stop.throwIfAborted();
  // Not that of the caller, who stores the failure after the time limit, and may have to try that for long.
  const attempt = new AbortController();
  const { signal } = attempt;
  stop.addEventListener('abort', () => attempt.abort(stop.reason), { once: true });
  const { timeLimitMs = defaultLimit } = handler;
  const late = `The handler of "${effect.do}" did not end within ${timeLimitMs} milliseconds.`;
  let isAbandoned = false;
  let cancel = clock.after(timeLimitMs, () => attempt.abort(new Retryable('effect.time-limit', late)));
  try {
    const outcome = await new Promise((resolve, reject) => {
      const abandon = (): void => {
        isAbandoned = true;
        reject(signal.reason);
      };
      signal.addEventListener('abort', () => {
        cancel();
        cancel = clock.after(ABANDON_AFTER_MS, abandon);
      });
      const ended = (): void => {
        if (isAbandoned) log.warn('An abandoned effect ended; its outcome is not used.', { effect: key });
      };
      Promise.resolve(handler.run(effect, { key, actor, failures, signal }, context))
        .finally(ended)
        .then(resolve, reject);
    });
    // An outcome this late may come from threads that the stop has cut off; the effect is repeated instead.
    signal.throwIfAborted();
    return outcome;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    cancel();
  }
}
