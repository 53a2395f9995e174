/**
 * Runs the effects of committed steps. Effects are leased from the store, run by the handler registered for their `do`,
 * and settled by the step that consumes their outcome, in that step's own commit. So each effect runs at least once and
 * its outcome counts exactly once.
 */

import type { MessageDelivery } from '../actor-host.ts';
import type { CrashJournal } from '../crash-journal.ts';
import type { EffectContext, EffectHandler, StepOutcome } from '../definition.ts';
import { describeFailure, isRetryable } from '../failures.ts';
import type { Faults } from '../faults.ts';
import { jsonType } from '../json-type.ts';
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
} from '../ports.ts';
import { effectPause, MAX_BACKOFF_MS } from './backoff.ts';
import type { EffectQueue } from './effect-partitions.ts';

/** The built-in effect: `{ do: 'tell', to: { kind, id }, event }`, a message from actor to actor. */
export const SEND_EFFECT = 'tell';

const SEND = jsonType<{ readonly to: ActorAddress; readonly event: ActorEvent }>();

/**
 * Pauses between attempts to deliver or store something while a mailbox is full or the store refuses, milliseconds.
 */
const SEND_RETRY_MS = { first: 20, longest: 5000 };

/**
 * Longest interval between two polls of the store, milliseconds: bounds the delay that a jump of the wall clock causes.
 */
const POLL_INTERVAL_MS = 30_000;

/**
 * Maximum delay of the removal of effects that report nothing, milliseconds: those that end meanwhile are removed
 * together.
 */
const SETTLE_DELAY_MS = 100;

/** Effects that report nothing are removed when so many have ended. */
const SETTLE_BATCH_SIZE = 256;

/** Pause before the next poll when the store did not answer, milliseconds. */
const STORE_PAUSE = 1000;

export interface OutboxDependencies {
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly faults: Faults;
  readonly handlers: { readonly [name: string]: EffectHandler };
  /** Given to every handler. */
  readonly context: EffectContext;
  /** Queue of the effects of this outbox. */
  readonly queue: EffectQueue;
  readonly inFlight: number;
  readonly deliver: (
    address: ActorAddress,
    event: ActorEvent,
    delivery: MessageDelivery,
  ) => Promise<StepOutcome>;
  readonly settle: (address: ActorAddress, effect: EffectKey) => Promise<void>;
  /** Records the effects in progress; missing: they are not recorded. */
  readonly journal?: CrashJournal | undefined;
}

/**
 * Wall-clock time that never goes back: when the system clock is set back, due effects stay due and pauses keep their
 * length.
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
  readonly #dependencies: OutboxDependencies;
  readonly #now: () => Millis;
  readonly #running = new Set<Promise<void>>();
  #stopping: AbortController | undefined;
  #polling: Promise<void> | undefined;
  #pollAgain = false;
  /** True when the next poll must also find the next due time. */
  #rearm = true;
  #cancelAlarm: (() => void) | undefined;
  /** Effects that have ended and report nothing. */
  #ended: EffectKey[] = [];
  #cancelSettling: (() => void) | undefined;

  constructor(dependencies: OutboxDependencies) {
    this.#dependencies = dependencies;
    this.#now = steadyTime(dependencies.clock);
  }

  /** Effects in progress. */
  get running(): number {
    return this.#running.size;
  }

  start(): void {
    if (this.#stopping !== undefined) return;
    this.#stopping = new AbortController();
    this.wakeAndRearm();
  }

  /**
   * Starts no more effects and waits for those in progress. After `grace` milliseconds the handlers' signals are
   * aborted; effects that end after that stay stored and are repeated after the next start.
   */
  async stop(grace: Millis = Number.POSITIVE_INFINITY): Promise<void> {
    const stopping = this.#stopping;
    if (stopping === undefined) return;
    this.#stopping = undefined;
    this.#cancelAlarm?.();
    const cancel = Number.isFinite(grace)
      ? this.#dependencies.clock.after(grace, () => stopping.abort(new Error('The outbox is stopping.')))
      : () => {};
    await this.#polling;
    await Promise.all(this.#running);
    cancel();
    await this.#settleEnded();
  }

  /** Polls the store for effects to start, once for all calls of one turn. */
  wake(): void {
    if (this.#stopping === undefined || this.#running.size >= this.#dependencies.inFlight) return;
    if (this.#polling !== undefined) {
      this.#pollAgain = true;
      return;
    }
    this.#polling = this.#poll().finally(() => {
      this.#polling = undefined;
      if (this.#pollAgain) this.wake();
    });
  }

  /**
   * Polls because an alarm fired or an effect has a future due time; new effects are due at once and need no alarm.
   */
  wakeAndRearm(): void {
    this.#rearm = true;
    this.wake();
  }

  /** Runs one unleased effect while nothing else runs; resolves when it has ended, with any outcome. */
  async runAlone(effect: StoredEffect): Promise<void> {
    const alone = new AbortController();
    this.#dependencies.journal?.beginAlone(effect);
    const run = this.#run(effect, alone.signal);
    this.#running.add(run);
    await run;
    // It is not leased: the next poll would run it again.
    await this.#settleEnded();
    this.#running.delete(run);
    this.#dependencies.journal?.end(effect.key);
  }

  async #poll(): Promise<void> {
    const { queue, clock, inFlight, log } = this.#dependencies;
    // All commits of one group are announced in one run of microtasks; one poll serves them all.
    await undefined;
    this.#pollAgain = false;
    const stopping = this.#stopping;
    if (stopping === undefined) return;
    let pause = POLL_INTERVAL_MS;
    try {
      const now = this.#now();
      const { effects: leased, isCut, isPastNextDue } = await queue.lease(now, inFlight - this.#running.size);
      const { journal } = this.#dependencies;
      // Quarantined effects stay leased, so that they do not run.
      const effects = journal ? leased.filter(({ key }) => !journal.isSetAside(key)) : leased;
      for (const effect of leased) if (!effects.includes(effect)) queue.ended(effect);
      journal?.begin(effects.filter(({ effect }) => effect.do !== SEND_EFFECT));
      for (const effect of effects) this.#start(effect, stopping.signal);
      if (this.#running.size >= inFlight) return;
      // Slots became free during the lease; their effects had nobody to wake for those that wait.
      if (isCut) this.#pollAgain = true;
      this.#rearm ||= isPastNextDue;
      if (this.#pollAgain || !this.#rearm) return;
      this.#rearm = false;
      const next = await queue.nextDue();
      if (next !== undefined) pause = Math.max(1, Math.min(POLL_INTERVAL_MS, next - this.#now()));
    } catch (error) {
      log.error('The outbox could not read the store.', describeFailure(error));
      pause = STORE_PAUSE;
    }
    this.#cancelAlarm?.();
    if (this.#stopping === stopping) this.#cancelAlarm = clock.after(pause, () => this.wakeAndRearm());
  }

  #start(effect: StoredEffect, signal: AbortSignal): void {
    const run = this.#run(effect, signal).finally(() => {
      this.#dependencies.journal?.end(effect.key);
      const wasFull = this.#running.size >= this.#dependencies.inFlight;
      this.#running.delete(run);
      const partitionWasFull = this.#dependencies.queue.ended(effect);
      if (wasFull || partitionWasFull) this.wake();
    });
    this.#running.add(run);
  }

  /** Runs an effect and settles or reschedules it. Never rejects. */
  async #run(stored: StoredEffect, signal: AbortSignal): Promise<void> {
    try {
      await this.#attempt(stored, signal);
    } catch (error) {
      this.#dependencies.log.error(
        'An effect could not be put back; it is done again after the next start.',
        { effect: stored.key, ...describeFailure(error) },
      );
    }
  }

  /** Runs an effect once. Rejects when a failed effect could not be rescheduled. */
  async #attempt(stored: StoredEffect, signal: AbortSignal): Promise<void> {
    try {
      const leased = this.#dependencies.faults.at('effect.leased.before-run', stored.effect.do);
      if (leased !== undefined) await leased;
      if (stored.effect.do === SEND_EFFECT) await this.#send(stored, signal);
      else await this.#handle(stored, signal);
    } catch (error) {
      await this.#requeue(stored, error, signal);
    }
  }

  async #send(stored: StoredEffect, signal: AbortSignal): Promise<void> {
    const { to, event } = SEND.read(stored.effect);
    const outcome = await this.#deliver(to, event, { id: stored.key, settles: stored.key }, signal);
    if (outcome.accepted || outcome.reason === 'not-accepted') return;
    // It may have been recognised without a commit: the store then holds the lease until the effect is removed.
    if (outcome.reason === 'duplicate') {
      this.#settleLater(stored.key);
      return;
    }
    if (outcome.reason === 'unknown-actor')
      await this.#retryUntilStored(() => this.#dependencies.settle(stored.actor, stored.key), signal);
    else throw new Error(`${to.kind}/${to.id} did not take the message: ${outcome.reason}.`);
  }

  async #handle(stored: StoredEffect, signal: AbortSignal): Promise<void> {
    const { store, handlers, faults, context } = this.#dependencies;
    const handler = handlers[stored.effect.do];
    if (handler === undefined) throw new Error(`No handler exists for the effect "${stored.effect.do}".`);
    if (stored.isTakenOver && handler.interrupted !== undefined) {
      await this.#deliverOutcome(stored, handler.interrupted(), signal);
      return;
    }
    if (handler.after === 'durable') await store.flushed();
    let event: ActorEvent | null;
    try {
      const { key, actor, failures } = stored;
      event = await handler.run(stored.effect, { key, actor, failures, signal }, context);
    } catch (error) {
      const again = isRetryable(error) && stored.failures + 1 < (handler.tries ?? Number.POSITIVE_INFINITY);
      if (again || signal.aborted || handler.failed === undefined) throw error;
      event = handler.failed(stored.effect, describeFailure(error));
    }
    // An outcome this late may come from threads cut off by the stop; the effect is repeated instead.
    if (signal.aborted) throw signal.reason;
    const done = faults.at('effect.done.before-outcome', stored.effect.do);
    if (done !== undefined) await done;
    if (event === null) {
      this.#settleLater(stored.key);
      return;
    }
    await this.#deliverOutcome(stored, event, signal);
  }

  async #deliverOutcome(stored: StoredEffect, event: ActorEvent, signal: AbortSignal): Promise<void> {
    const outcome = await this.#deliver(stored.actor, event, { settles: stored.key }, signal);
    if (outcome.accepted || outcome.reason === 'not-accepted' || outcome.reason === 'duplicate') return;
    throw new Error(`The actor did not take the outcome: ${outcome.reason}.`);
  }

  #settleLater(key: EffectKey): void {
    this.#ended.push(key);
    if (this.#ended.length >= SETTLE_BATCH_SIZE) void this.#settleEnded();
    else
      this.#cancelSettling ??= this.#dependencies.clock.after(
        SETTLE_DELAY_MS,
        () => void this.#settleEnded(),
      );
  }

  /** Removes the effects that report nothing. If the store refuses, they stay leased and are removed later. */
  async #settleEnded(): Promise<void> {
    this.#cancelSettling?.();
    this.#cancelSettling = undefined;
    const ended = this.#ended;
    if (ended.length === 0) return;
    this.#ended = [];
    try {
      await this.#dependencies.store.settleEffects(ended);
    } catch (error) {
      this.#dependencies.log.warn('Effects that have run could not be removed yet.', describeFailure(error));
      this.#ended.push(...ended);
      if (this.#stopping !== undefined)
        this.#cancelSettling ??= this.#dependencies.clock.after(STORE_PAUSE, () => void this.#settleEnded());
    }
  }

  /** Delivers an outcome: the effect has run, and is not repeated because a mailbox is full. */
  #deliver(
    to: ActorAddress,
    event: ActorEvent,
    delivery: MessageDelivery,
    signal: AbortSignal,
  ): Promise<StepOutcome> {
    return this.#retryUntilStored(() => this.#dependencies.deliver(to, event, delivery), signal);
  }

  /** Retries transient failures, but not after a stop. */
  async #retryUntilStored<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let pause = SEND_RETRY_MS.first; ; pause = Math.min(SEND_RETRY_MS.longest, pause * 2)) {
      try {
        return await work();
      } catch (error) {
        if (!isRetryable(error) || this.#stopping === undefined) throw error;
        await this.#dependencies.clock.sleep(pause, signal);
      }
    }
  }

  /** Reschedules an effect; the store counts the failure. */
  async #requeue(stored: StoredEffect, error: unknown, signal: AbortSignal): Promise<void> {
    const { store, ids, log, faults } = this.#dependencies;
    const failed = faults.at('effect.failed.before-defer', stored.effect.do);
    if (failed !== undefined) await failed;
    const failures = stored.failures + 1;
    const { code, message } = describeFailure(error);
    const asked = isRetryable(error) ? error.retryAfter : undefined;
    const pause = asked === undefined ? effectPause(failures, ids) : Math.min(asked, MAX_BACKOFF_MS);
    log.warn('An effect failed and is tried again later.', {
      effect: stored.key,
      do: stored.effect.do,
      failures,
      code,
      message,
      pause,
      stopping: signal.aborted,
    });
    await this.#retryUntilStored(() => store.deferEffect(stored.key, this.#now() + pause, message), signal);
    this.wakeAndRearm();
  }
}
