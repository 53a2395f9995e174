/**
 * Does what committed steps asked for. Effects are leased from the store, run by the handler registered for their
 * `do`, and settled by the step that takes their outcome, in that step's own commit. So each is done at least
 * once and its outcome counts exactly once.
 */
import { LONGEST_PAUSE, pauseAfter } from './backoff.ts';
import type { EffectHandler, StepOutcome } from './definition.ts';
import { describeFailure, isRetryable } from './failures.ts';
import type { Faults } from './faults.ts';
import type { Delivery } from './host.ts';
import type { EffectQueue } from './lanes.ts';
import type {
  ActorAddress,
  ActorEvent,
  ActorStore,
  Clock,
  EffectKey,
  Ids,
  Log,
  Millis,
  StoredEffect,
} from './ports.ts';

/** The built-in effect: `{ do: 'tell', to: { kind, id }, event }`, a message from actor to actor. */
export const TELL_EFFECT = 'tell';

/** Pauses between tries to tell or store something while a mailbox is full or the store refuses, milliseconds. */
const TELL_PAUSE = { first: 20, longest: 5000 };

/** Longest time without a look at the store, milliseconds: a bound on what a jump of the wall clock can delay. */
const LOOK_EVERY = 30_000;

/** Pause before the next look when the store did not answer, milliseconds. */
const STORE_PAUSE = 1000;

export interface OutboxParts {
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly faults: Faults;
  readonly handlers: { readonly [name: string]: EffectHandler };
  /** Where the effects of this outbox wait. */
  readonly queue: EffectQueue;
  readonly inFlight: number;
  readonly deliver: (address: ActorAddress, event: ActorEvent, delivery: Delivery) => Promise<StepOutcome>;
  readonly settle: (address: ActorAddress, effect: EffectKey) => Promise<void>;
}

/**
 * Wall-clock time that never goes back: when the machine's clock is set back, effects that were due stay due and
 * pauses keep their length.
 */
function steadyTime(clock: Clock): () => Millis {
  let latest = clock.now();
  let seen = clock.elapsed();
  return () => {
    const elapsed = clock.elapsed();
    latest = Math.max(clock.now(), latest + elapsed - seen);
    seen = elapsed;
    return Math.floor(latest);
  };
}

export class Outbox {
  readonly #parts: OutboxParts;
  readonly #now: () => Millis;
  readonly #running = new Set<Promise<void>>();
  #stopping: AbortController | undefined;
  #looking: Promise<void> | undefined;
  #lookAgain = false;
  /** The next look also finds out when the one after it is due. */
  #rearm = true;
  #cancelAlarm: (() => void) | undefined;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
    this.#now = steadyTime(parts.clock);
  }

  /** Effects in work. */
  get running(): number {
    return this.#running.size;
  }

  start(): void {
    if (this.#stopping !== undefined) return;
    this.#stopping = new AbortController();
    this.#wakeAndRearm();
  }

  /**
   * Starts nothing new and waits for what runs. After `grace` milliseconds the handlers' signals are aborted; what
   * ends after that stays stored, whatever came of it, and is done again after the next start.
   */
  async stop(grace: Millis = Number.POSITIVE_INFINITY): Promise<void> {
    const stopping = this.#stopping;
    if (stopping === undefined) return;
    this.#stopping = undefined;
    this.#cancelAlarm?.();
    const cancel = Number.isFinite(grace)
      ? this.#parts.clock.after(grace, () => stopping.abort(new Error('The outbox is stopping.')))
      : () => {};
    await this.#looking;
    await Promise.all(this.#running);
    cancel();
  }

  /** There may be effects to start: looks at once, and only once for all calls of one turn. */
  wake(): void {
    if (this.#stopping === undefined || this.#running.size >= this.#parts.inFlight) return;
    if (this.#looking !== undefined) {
      this.#lookAgain = true;
      return;
    }
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined;
      if (this.#lookAgain) this.wake();
    });
  }

  /** The same when the alarm rang, or when an effect has a time to come: fresh ones are due at once and need none. */
  #wakeAndRearm(): void {
    this.#rearm = true;
    this.wake();
  }

  async #look(): Promise<void> {
    const { queue, clock, inFlight, log } = this.#parts;
    // All commits of one group announce themselves in one run of microtasks; one look serves them all.
    await undefined;
    this.#lookAgain = false;
    const stopping = this.#stopping;
    if (stopping === undefined) return;
    let pause = LOOK_EVERY;
    try {
      const now = this.#now();
      for (const effect of await queue.lease(now, inFlight - this.#running.size)) {
        this.#start(effect, stopping.signal);
      }
      if (!this.#rearm || this.#running.size >= inFlight) return;
      this.#rearm = false;
      const next = await queue.nextDue();
      if (next !== undefined) pause = Math.max(1, Math.min(LOOK_EVERY, next - this.#now()));
    } catch (error) {
      log.error('The outbox could not read the store.', describeFailure(error));
      pause = STORE_PAUSE;
    }
    this.#cancelAlarm?.();
    if (this.#stopping === stopping) this.#cancelAlarm = clock.after(pause, () => this.#wakeAndRearm());
  }

  #start(effect: StoredEffect, signal: AbortSignal): void {
    const run = this.#run(effect, signal)
      .catch((error) => {
        this.#parts.log.error('An effect could not be put back; it is done again after the next start.', {
          effect: effect.key,
          ...describeFailure(error),
        });
      })
      .finally(() => {
        const wasFull = this.#running.size >= this.#parts.inFlight;
        this.#running.delete(run);
        const laneWasFull = this.#parts.queue.ended(effect);
        if (wasFull || laneWasFull) this.wake();
      });
    this.#running.add(run);
  }

  async #run(stored: StoredEffect, signal: AbortSignal): Promise<void> {
    try {
      const leased = this.#parts.faults.at('effect.leased.before-run', stored.effect.do);
      if (leased !== undefined) await leased;
      if (stored.effect.do === TELL_EFFECT) await this.#tell(stored, signal);
      else await this.#handle(stored, signal);
    } catch (error) {
      await this.#putBack(stored, error, signal);
    }
  }

  async #tell(stored: StoredEffect, signal: AbortSignal): Promise<void> {
    const { to, event } = stored.effect as unknown as { to: ActorAddress; event: ActorEvent };
    const outcome = await this.#deliver(to, event, { id: stored.key, settles: stored.key }, signal);
    if (outcome.accepted || outcome.because === 'not-accepted' || outcome.because === 'duplicate') return;
    if (outcome.because === 'unknown-actor')
      await this.#insist(() => this.#parts.settle(stored.actor, stored.key), signal);
    else throw new Error(`${to.kind}/${to.id} did not take the message: ${outcome.because}.`);
  }

  async #handle(stored: StoredEffect, signal: AbortSignal): Promise<void> {
    const { store, handlers, faults } = this.#parts;
    const handler = handlers[stored.effect.do];
    if (handler === undefined) throw new Error(`Nobody does the effect "${stored.effect.do}".`);
    if (handler.after === 'durable') await store.flushed();
    let event: ActorEvent;
    try {
      const { key, actor, failures } = stored;
      event = await handler.run(stored.effect, { key, actor, failures, signal });
    } catch (error) {
      const again = isRetryable(error) && stored.failures + 1 < (handler.tries ?? Number.POSITIVE_INFINITY);
      if (again || signal.aborted || handler.failed === undefined) throw error;
      event = handler.failed(stored.effect, describeFailure(error));
    }
    // An outcome that comes this late may be that of threads cut off by the stop; the work is done again instead.
    if (signal.aborted) throw signal.reason;
    const done = faults.at('effect.done.before-outcome', stored.effect.do);
    if (done !== undefined) await done;
    const outcome = await this.#deliver(stored.actor, event, { settles: stored.key }, signal);
    if (outcome.accepted || outcome.because === 'not-accepted' || outcome.because === 'duplicate') return;
    throw new Error(`The actor did not take the outcome: ${outcome.because}.`);
  }

  /** Tells an outcome: the work is done, and is not done twice because a mailbox is full. */
  #deliver(
    to: ActorAddress,
    event: ActorEvent,
    delivery: Delivery,
    signal: AbortSignal,
  ): Promise<StepOutcome> {
    return this.#insist(() => this.#parts.deliver(to, event, delivery), signal);
  }

  /** Tries again while that is only a matter of time, but not beyond a stop. */
  async #insist<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let pause = TELL_PAUSE.first; ; pause = Math.min(TELL_PAUSE.longest, pause * 2)) {
      try {
        return await work();
      } catch (error) {
        if (!isRetryable(error) || this.#stopping === undefined) throw error;
        await this.#parts.clock.sleep(pause, signal);
      }
    }
  }

  /** Gives an effect a later time; the store counts the failure. */
  async #putBack(stored: StoredEffect, error: unknown, signal: AbortSignal): Promise<void> {
    const { store, ids, log, faults } = this.#parts;
    const failed = faults.at('effect.failed.before-defer', stored.effect.do);
    if (failed !== undefined) await failed;
    const failures = stored.failures + 1;
    const { code, message } = describeFailure(error);
    const asked = isRetryable(error) ? error.retryAfter : undefined;
    const pause = asked === undefined ? pauseAfter(failures, ids) : Math.min(asked, LONGEST_PAUSE);
    log.warn('An effect failed and is tried again later.', {
      effect: stored.key,
      do: stored.effect.do,
      failures,
      code,
      message,
      pause,
      stopping: signal.aborted,
    });
    await this.#insist(() => store.deferEffect(stored.key, this.#now() + pause, message), signal);
    this.#wakeAndRearm();
  }
}
