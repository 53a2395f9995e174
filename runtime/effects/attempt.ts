/** Runs one attempt of an effect handler, within its limits. */
import type { EffectAttempt, EffectContext, EffectHandler } from '../model/definition.ts';
import { Fatal, Retryable } from '../model/failures.ts';
import type { ActorAddress, Clock, EffectKey, Log, Millis, StoredEffect } from '../model/ports.ts';

/** Time that a handler has to end after its signal was aborted, milliseconds. Then it is abandoned. */
const ABANDON_AFTER_MS = 1000;

/** An abortion whose `AbortSignal` is only made for who asks for it: one with its listeners takes 5 µs, for two in each effect. */
export class Abortion {
  #reason: { readonly value: unknown } | undefined;
  #controller: AbortController | undefined;
  #listener: () => void = () => {};

  get isAborted(): boolean {
    return this.#reason !== undefined;
  }

  get reason(): unknown {
    return this.#reason?.value;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason !== undefined) this.#controller.abort(this.#reason.value);
    return this.#controller.signal;
  }

  /** Does nothing after the first time. */
  abort(reason: unknown): void {
    if (this.#reason !== undefined) return;
    this.#reason = { value: reason };
    this.#controller?.abort(reason);
    this.#listener();
  }

  /** Called once, at the next abortion; in place of an earlier listener. */
  onAbort(listener: () => void): void {
    this.#listener = listener;
  }

  throwIfAborted(): void {
    if (this.#reason !== undefined) throw this.#reason.value;
  }
}

/** An attempt as its handler sees it. */
class Attempt implements EffectAttempt {
  readonly key: EffectKey;
  readonly actor: ActorAddress;
  readonly failures: number;
  readonly heartbeat: () => void;

  constructor(
    private readonly needs: {
      readonly key: EffectKey;
      readonly actor: ActorAddress;
      readonly failures: number;
      readonly heartbeat: () => void;
      readonly abortion: Abortion;
    },
  ) {
    this.key = needs.key;
    this.actor = needs.actor;
    this.failures = needs.failures;
    this.heartbeat = needs.heartbeat;
  }

  get signal(): AbortSignal {
    return this.needs.abortion.signal;
  }
}

const NO_HEARTBEAT = (): void => {};

/**
 * Resolves with what the handler resolves with. Rejects once a limit of time has passed, or with the reason of `stop` once
 * that is aborted: a later outcome is not used.
 * @param leftMs time that is left of that over all attempts
 */
export async function runHandler(
  dependencies: {
    readonly clock: Clock;
    readonly log: Log;
    readonly context: EffectContext;
    /** Of handlers without one of their own. */
    readonly timeLimitMs: Millis;
  },
  handler: EffectHandler,
  { key, actor, failures, lastError, effect }: StoredEffect,
  { stop, leftMs = Number.POSITIVE_INFINITY }: { readonly stop: Abortion; readonly leftMs?: number },
): Promise<unknown> {
  stop.throwIfAborted();
  const { clock, log, context } = dependencies;
  const { timeLimitMs = dependencies.timeLimitMs, heartbeatMs } = handler;
  const over = (): Error => {
    if (leftMs > timeLimitMs)
      return new Retryable(
        'effect.time-limit',
        `The handler of "${effect.do}" did not end within ${timeLimitMs} milliseconds.`,
      );
    const last = lastError === null ? '' : ` Last error: ${lastError}`;
    return new Fatal('effect.total-limit', `The time of "${effect.do}" over all attempts has passed.${last}`);
  };
  if (leftMs <= 0) throw over();
  // Not that of the caller, who stores the failure after the time limit, and may have to try that for long.
  const attempt = new Abortion();
  stop.onAbort(() => attempt.abort(stop.reason));
  let isAbandoned = false;
  let cancel = clock.after(Math.min(timeLimitMs, leftMs), () => attempt.abort(over()));
  const heart =
    heartbeatMs === undefined ? undefined : watchHeartbeat(clock, effect.do, heartbeatMs, attempt);
  const heartbeat = heart?.heartbeat ?? NO_HEARTBEAT;
  try {
    const outcome = await new Promise((resolve, reject) => {
      const abandon = (): void => {
        isAbandoned = true;
        reject(attempt.reason);
      };
      attempt.onAbort(() => {
        cancel();
        cancel = clock.after(ABANDON_AFTER_MS, abandon);
      });
      const ended = (): void => {
        if (isAbandoned) log.warn('An abandoned effect ended; its outcome is not used.', { effect: key });
      };
      Promise.resolve(
        handler.run(effect, new Attempt({ key, actor, failures, heartbeat, abortion: attempt }), context),
      )
        .finally(ended)
        .then(resolve, reject);
    });
    // An outcome this late may come from threads that the stop has cut off; the effect is repeated instead.
    attempt.throwIfAborted();
    return outcome;
  } catch (error) {
    throw attempt.isAborted ? attempt.reason : error;
  } finally {
    cancel();
    heart?.cancel();
  }
}

/** Aborts an attempt that is silent for too long. A call of `heartbeat` sets no alarm: it may be frequent. */
function watchHeartbeat(clock: Clock, name: string, heartbeatMs: Millis, attempt: Pick<Abortion, 'abort'>) {
  let last = clock.elapsed();
  const arm = (pause: Millis): (() => void) =>
    clock.after(pause, () => {
      const left = last + heartbeatMs - clock.elapsed();
      if (left > 0) cancel = arm(left);
      else
        attempt.abort(
          new Retryable(
            'effect.no-heartbeat',
            `The handler of "${name}" gave no sign of life for ${heartbeatMs} milliseconds.`,
          ),
        );
    });
  let cancel = arm(heartbeatMs);
  return {
    heartbeat: (): void => {
      last = clock.elapsed();
    },
    cancel: (): void => cancel(),
  };
}
