/**
 * Runs the effects of committed steps. Effects are leased from the store, run by the handler registered for their `do`,
 * and settled by the step that consumes their outcome, in that step's own commit. So each effect runs at least once and
 * its outcome counts exactly once.
 */
import type { MessageDelivery } from '../host/actor-host.ts';
import { effectPause, hasOneMoreAttempt, MAX_BACKOFF_MS, SET_ASIDE } from '../model/backoff.ts';
import { steadyTime } from '../model/clock.ts';
import type { EffectContext, EffectHandler, StepOutcome } from '../model/definition.ts';
import { describeFailure, isFatal, isRetryable, Retryable, retryAfterOf } from '../model/failures.ts';
import type { Faults } from '../model/faults.ts';
import { checkedOutcome } from '../model/message-checks.ts';
import type { AttemptOutcome, Metrics } from '../model/metrics.ts';
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
} from '../model/ports.ts';
import { endOf, SEND_EFFECT } from '../model/requests.ts';
import { type Tracing, traceOf, withTrace } from '../model/tracing.ts';
import type { DeadLetterValue } from '../step/dead-letters.ts';
import { commonQueue, type EffectQueue, PartitionedQueue } from '../step/effect-partitions.ts';
import { checkedMessage } from '../step/step.ts';
import { Abortion, runHandler } from './attempt.ts';
import { type CrashJournal, SET_ASIDE_MS, SetAside } from './crash-journal.ts';

/**
 * The outboxes of a runtime: one for messages between actors, one for each handler with partitions, and one for all
 * other effects.
 */
export class Outboxes {
  /** Runs the effects without a partition. */
  readonly common: Outbox;
  /** By the name of the handler. */
  readonly #partitioned = new Map<string, Outbox>();
  readonly #messages: PartitionedQueue;
  readonly #all: readonly Outbox[];

  /**
   * @param inFlight effects without a partition in progress at once
   * @param messagesInFlight messages between actors in delivery at once
   */
  constructor(
    dependencies: Omit<OutboxDependencies, 'queue' | 'inFlight'>,
    inFlight: number,
    messagesInFlight: number,
  ) {
    const { store, handlers } = dependencies;
    this.common = new Outbox({ ...dependencies, queue: commonQueue(store), inFlight });
    // One message of a pair at a time, and a failed one before all later ones: so they arrive in order.
    const messages = new PartitionedQueue(store, SEND_EFFECT, 1, true);
    this.#messages = messages;
    this.#partitioned.set(
      SEND_EFFECT,
      new Outbox({ ...dependencies, queue: messages, inFlight: messagesInFlight }),
    );
    for (const [name, { partitioning }] of Object.entries(handlers)) {
      if (partitioning === undefined) continue;
      const queue = new PartitionedQueue(store, name, partitioning.perPartition);
      this.#partitioned.set(name, new Outbox({ ...dependencies, queue, inFlight: partitioning.atOnce }));
    }
    this.#all = [this.common, ...this.#partitioned.values()];
  }

  /** Wakes the outboxes of the effects of a committed step. */
  committed(effects: readonly StoredEffect[]): void {
    for (const { partition, effect } of effects) {
      (partition === undefined ? this.common : this.#partitioned.get(effect.do))?.wake();
    }
  }

  /** Wakes the messages that wait for an earlier one of their pair: another node has settled an effect. */
  settledElsewhere(): void {
    if (this.#messages.endedElsewhere()) this.#partitioned.get(SEND_EFFECT)?.wakeAndRearm();
  }

  wake(): void {
    for (const one of this.#all) one.wake();
  }

  wakeAndRearm(): void {
    for (const one of this.#all) one.wakeAndRearm();
  }

  start(): void {
    for (const one of this.#all) one.start();
  }

  async stop(grace: Millis | undefined): Promise<void> {
    await Promise.all(this.#all.map((one) => one.stop(grace)));
  }

  /** Number of effects in progress. */
  get running(): number {
    return this.#all.reduce((sum, { running }) => sum + running, 0);
  }
}

/** Pauses between attempts to deliver or store something while the store refuses, milliseconds. */
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
const STORE_PAUSE_MS = 1000;

/** Shortest pause before another attempt that an error can ask for, milliseconds. */
const MIN_PAUSE_MS = 100;

/** Code of a run of a schedule whose receiver is busy, and the pause before it is delivered again, milliseconds. */
const BUSY = 'actor.busy';
const BUSY_PAUSE_MS = 5000;

/** Deliveries of one message that make the receiver throw before the message is set aside. */
const POISON_TRIES = 5;

export interface OutboxDependencies {
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly faults: Faults;
  readonly handlers: { readonly [name: string]: EffectHandler };
  /** @default no traces */
  readonly tracing?: Tracing | undefined;
  /** @default none */
  readonly metrics?: Pick<Metrics, 'attempt'> | undefined;
  /** Given to every handler. */
  readonly context: EffectContext;
  /** Queue of the effects of this outbox. */
  readonly queue: EffectQueue;
  readonly inFlight: number;
  /** Time limit of handlers without one of their own, milliseconds. */
  readonly timeLimitMs: Millis;
  /** Called with the receiver of an outcome or message that it did not accept. */
  readonly onUnaccepted: (receiver: ActorAddress, what: 'outcome' | 'tell') => void;
  readonly deliver: (
    address: ActorAddress,
    event: ActorEvent,
    delivery: MessageDelivery,
  ) => Promise<StepOutcome>;
  readonly settle: (address: ActorAddress, effect: EffectKey, letter?: DeadLetterValue) => Promise<void>;
  /** True: what receivers do not accept is kept as dead letters. */
  readonly keepsLetters: true | undefined;
  /** Records the effects in progress; missing: they are not recorded. */
  readonly journal?: CrashJournal | undefined;
  /** Runs an isolated effect when no other one runs. */
  readonly isolate: (run: () => Promise<void>) => void;
}

export class Outbox {
  readonly #dependencies: OutboxDependencies;
  readonly #now: () => Millis;
  readonly #running = new Set<Promise<void>>();
  /** One for each effect in progress, for a stop. */
  readonly #attempts = new Set<Abortion>();
  #isStarted = false;
  /** From an orderly stop to the next start: what fails meanwhile is no failed attempt. */
  #isStopped = false;
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
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#isStopped = false;
    this.wakeAndRearm();
  }

  /**
   * Starts no more effects and waits for those in progress. After `grace` milliseconds the handlers' signals are
   * aborted, and handlers that go on are abandoned; their effects stay stored and are repeated after the next start.
   */
  async stop(grace: Millis = Number.POSITIVE_INFINITY): Promise<void> {
    this.#isStopped = true;
    this.#isStarted = false;
    this.#cancelAlarm?.();
    const abort = (): void => {
      for (const attempt of this.#attempts)
        attempt.abort(new Retryable('runtime.stopping', 'The runtime is stopping.'));
    };
    const cancel = Number.isFinite(grace) ? this.#dependencies.clock.after(grace, abort) : () => {};
    await this.#polling;
    await Promise.all(this.#running);
    cancel();
    await this.#settleEnded();
  }

  /** Polls the store for effects to start, once for all calls of one turn. */
  wake(): void {
    if (!this.#isStarted || this.#running.size >= this.#dependencies.inFlight) return;
    if (this.#polling !== undefined) {
      this.#pollAgain = true;
      return;
    }
    this.#polling = this.#poll().finally(() => {
      this.#polling = undefined;
      if (this.#pollAgain) this.wake();
    });
  }

  /** Polls because an alarm fired or an effect is due later; new effects are due at once and need no alarm. */
  wakeAndRearm(): void {
    this.#rearm = true;
    this.wake();
  }

  /**
   * Runs one unleased effect while nothing else runs; resolves when it has ended, with any outcome. Does nothing after a
   * stop, and when another node runs it.
   */
  async runAlone(effect: StoredEffect): Promise<void> {
    if (this.#isStopped) return;
    if (!(await this.#dependencies.store.takeEffect(effect.key, effect.dueAt, null)) || this.#isStopped)
      return;
    this.#dependencies.journal?.beginExclusive(effect);
    const run = this.#run(effect);
    this.#running.add(run);
    await run;
    // It is not leased: the next poll would run it again.
    await this.#settleEnded();
    this.#running.delete(run);
    this.#dependencies.journal?.end(effect.key);
  }

  async #poll(): Promise<void> {
    const { store, queue, clock, inFlight, log, journal } = this.#dependencies;
    // All commits of one group are announced in one run of microtasks; one poll serves them all.
    await undefined;
    this.#pollAgain = false;
    if (!this.#isStarted) return;
    let pause = POLL_INTERVAL_MS;
    try {
      const now = this.#now();
      const { effects: leased, isCut, isPastNextDue } = await queue.lease(now, inFlight - this.#running.size);
      if (!this.#isStarted) {
        for (const effect of leased) queue.ended(effect);
        await store.releaseEffects(leased.map(({ key }) => key));
        return;
      }
      const effects = journal ? leased.filter((effect) => !this.#holdBack(effect, journal)) : leased;
      journal?.begin(effects.filter(({ effect }) => effect.do !== SEND_EFFECT));
      for (const effect of effects) void this.#start(effect, () => queue.ended(effect));
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
      pause = STORE_PAUSE_MS;
    }
    this.#cancelAlarm?.();
    if (this.#isStarted) this.#cancelAlarm = clock.after(pause, () => this.wakeAndRearm());
  }

  /**
   * Keeps a leased effect from running now: a quarantined one stays leased, an isolated one waits for its turn. Both
   * leave their slots to others. Returns false for an effect that may run.
   */
  #holdBack(effect: StoredEffect, journal: CrashJournal): boolean {
    if (!journal.isSetAside(effect.key) && !journal.isIsolated(effect.key)) return false;
    if (this.#dependencies.queue.ended(effect)) this.#pollAgain = true;
    if (journal.isSetAside(effect.key)) return true;
    this.#dependencies.isolate(async () => {
      // One that has run alone for too long is still in progress.
      if (!this.#isStarted || journal.isRunning(effect.key)) return;
      if (!(await this.#isStored(effect)) || !this.#isStarted) return;
      journal.begin([effect]);
      await this.#start(effect, () => false);
    });
    return true;
  }

  /**
   * False for an effect that is gone after it has waited: its actor dropped it or has ended, or it ran already because an
   * operator asked. True if the store cannot tell.
   */
  async #isStored({ actor, key }: StoredEffect): Promise<boolean> {
    try {
      return (await this.#dependencies.store.pendingEffects(actor)).some((one) => one.key === key);
    } catch {
      return true;
    }
  }

  /** @param ended releases the slot of the effect; returns true when others waited for it */
  #start(effect: StoredEffect, ended: () => boolean): Promise<void> {
    const run = this.#run(effect).finally(() => {
      this.#dependencies.journal?.end(effect.key);
      const wasFull = this.#running.size >= this.#dependencies.inFlight;
      this.#running.delete(run);
      const partitionWasFull = ended();
      if (wasFull || partitionWasFull) this.wake();
    });
    this.#running.add(run);
    return run;
  }

  /** Runs an effect and settles or reschedules it. Never rejects. */
  async #run(stored: StoredEffect): Promise<void> {
    const attempt = new Abortion();
    this.#attempts.add(attempt);
    try {
      await this.#attempt(stored, attempt);
    } catch (error) {
      this.#dependencies.log.error(
        'An effect could not be put back; it is done again after the next start.',
        { effect: stored.key, ...describeFailure(error) },
      );
    }
    this.#attempts.delete(attempt);
  }

  /** Runs an effect once. Rejects when a failed effect could not be rescheduled. */
  async #attempt(stored: StoredEffect, stop: Abortion): Promise<void> {
    const begun = this.#dependencies.clock.elapsed();
    try {
      const leased = this.#dependencies.faults.at('effect.leased.before-run', stored.effect.do);
      if (leased !== undefined) await leased;
      const outcome = await this.#traced(stored, async (traced) => {
        if (traced.effect.do !== SEND_EFFECT) return this.#handle(traced, stop);
        await this.#send(traced, stop);
        return 'done';
      });
      this.#count(stored, outcome, begun);
    } catch (error) {
      const outcome = error instanceof SetAside ? 'set-aside' : 'retried';
      this.#count(stored, this.#isStopped ? 'stopped' : outcome, begun);
      if (this.#isStopped) await this.#dependencies.store.releaseEffects([stored.key]);
      else await this.#requeue(stored, error, stop);
    }
  }

  #count({ effect }: StoredEffect, outcome: AttemptOutcome, begun: number): void {
    const { metrics, clock, log } = this.#dependencies;
    try {
      metrics?.attempt(effect.do, outcome, clock.elapsed() - begun);
    } catch (error) {
      // The effect has run all the same.
      log.error('An effect could not be counted.', describeFailure(error));
    }
  }

  /** Does work as a span of the trace of the effect, where there are traces. */
  #traced<Result>(stored: StoredEffect, work: (traced: StoredEffect) => Promise<Result>): Promise<Result> {
    const { tracing } = this.#dependencies;
    if (tracing === undefined) return work(stored);
    const { key, actor, failures, effect } = stored;
    const name = effect.do === SEND_EFFECT ? 'message' : `effect ${effect.do}`;
    const attributes = { 'actor.kind': actor.kind, 'effect.key': key, 'effect.failures': failures };
    return tracing.span(name, attributes, traceOf(effect) ?? null, (trace) =>
      work({ ...stored, effect: withTrace(effect, trace) }),
    );
  }

  async #send(stored: StoredEffect, stop: Abortion): Promise<void> {
    const { to, event, overlap } = checkedMessage(stored.effect);
    let outcome: StepOutcome;
    try {
      const { keepsLetters } = this.#dependencies;
      const keeps = overlap === undefined ? keepsLetters : undefined;
      const waits = overlap === 'queue' || undefined;
      const delivery = { id: stored.key, settles: stored.key, keeps, waits, trace: traceOf(stored.effect) };
      outcome = await this.#deliver(to, event, delivery, stop);
    } catch (error) {
      const isPoison = !isRetryable(error) && stored.failures + 1 >= POISON_TRIES;
      throw isPoison ? new SetAside(error) : error;
    }
    if (outcome.accepted) return;
    if (outcome.reason === 'not-accepted' && overlap === 'queue')
      throw new Retryable(BUSY, `${to.kind}/${to.id} does not take the run in its state.`, BUSY_PAUSE_MS);
    // It may have been recognised without a commit: the store then holds the lease until the effect is removed.
    if (outcome.reason === 'duplicate') {
      this.#settleLater(stored.key);
      return;
    }
    if (outcome.reason === 'unknown-actor') {
      const { settle, keepsLetters } = this.#dependencies;
      const { actor, key } = stored;
      const letter = { key, to, event, what: 'tell', because: outcome.reason } as const;
      await this.#retryUntilStored(() => settle(actor, key, keepsLetters && letter), stop);
    } else if (outcome.reason !== 'not-accepted')
      throw new Error(`${to.kind}/${to.id} did not take the message: ${outcome.reason}.`);
    // After the letter is stored: letters are counted soon after this, and then not for an hour.
    this.#reportUnaccepted(stored, to, event, outcome.reason);
  }

  async #handle(stored: StoredEffect, stop: Abortion): Promise<AttemptOutcome> {
    const { store, handlers, faults } = this.#dependencies;
    const handler = handlers[stored.effect.do];
    if (handler === undefined) throw new Error(`No handler exists for the effect "${stored.effect.do}".`);
    if (stored.isTakenOver && handler.interrupted !== undefined) {
      await this.#deliverOutcome(stored, handler.interrupted(), stop);
      return 'given-up';
    }
    if (handler.after === 'durable') await store.flushed();
    let event: ActorEvent | null;
    let end: AttemptOutcome = 'done';
    try {
      const left = hasOneMoreAttempt(stored) ? Number.POSITIVE_INFINITY : endOf(stored.effect) - this.#now();
      const outcome = await runHandler(this.#dependencies, handler, stored, { stop, leftMs: left });
      event = checkedOutcome(stored.effect.do, outcome);
    } catch (error) {
      const isFinal = isFatal(error);
      if (!isFinal && (this.#isStopped || stored.failures + 1 < (handler.tries ?? Number.POSITIVE_INFINITY)))
        throw error;
      if (handler.failed === undefined) throw new SetAside(error);
      end = 'given-up';
      try {
        event = checkedOutcome(stored.effect.do, handler.failed(stored.effect, describeFailure(error)));
      } catch (thrown) {
        // An effect that is given up must not run again.
        throw new SetAside(thrown);
      }
    }
    const done = faults.at('effect.done.before-outcome', stored.effect.do);
    if (done !== undefined) await done;
    if (event === null) {
      this.#settleLater(stored.key);
      return end;
    }
    await this.#deliverOutcome(stored, event, stop);
    return end;
  }

  async #deliverOutcome(stored: StoredEffect, event: ActorEvent, stop: Abortion): Promise<void> {
    const { keepsLetters: keeps } = this.#dependencies;
    const delivery = { settles: stored.key, keeps, trace: traceOf(stored.effect) };
    const outcome = await this.#deliver(stored.actor, event, delivery, stop);
    if (outcome.accepted || outcome.reason === 'duplicate') return;
    if (outcome.reason !== 'not-accepted' && outcome.reason !== 'unknown-actor')
      throw new Error(`The actor did not take the outcome: ${outcome.reason}.`);
    this.#reportUnaccepted(stored, stored.actor, event, outcome.reason);
    // The end of an actor removes its effects; so this one has lost its actor in another way.
    if (outcome.reason === 'unknown-actor') this.#settleLater(stored.key);
  }

  #reportUnaccepted(
    { key, effect }: StoredEffect,
    receiver: ActorAddress,
    event: ActorEvent,
    because: string,
  ): void {
    const { log, onUnaccepted } = this.#dependencies;
    const what = effect.do === SEND_EFFECT ? 'tell' : 'outcome';
    log.info(`The receiver did not accept ${what === 'tell' ? 'a message' : 'the outcome of an effect'}.`, {
      receiver: `${receiver.kind}/${receiver.id}`,
      event: event.type,
      effect: key,
      do: effect.do,
      because,
    });
    onUnaccepted(receiver, what);
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
      if (this.#isStarted)
        this.#cancelSettling ??= this.#dependencies.clock.after(
          STORE_PAUSE_MS,
          () => void this.#settleEnded(),
        );
    }
  }

  /** Delivers an outcome or message: the effect has run, and is not repeated because the store refuses. */
  #deliver(
    to: ActorAddress,
    event: ActorEvent,
    delivery: MessageDelivery,
    stop: Abortion,
  ): Promise<StepOutcome> {
    return this.#retryUntilStored(() => this.#dependencies.deliver(to, event, delivery), stop);
  }

  /** Retries transient failures, but not after a stop. */
  async #retryUntilStored<T>(work: () => Promise<T>, stop: Abortion): Promise<T> {
    for (let pause = SEND_RETRY_MS.first; ; pause = Math.min(SEND_RETRY_MS.longest, pause * 2)) {
      try {
        return await work();
      } catch (error) {
        if (!isRetryable(error) || !this.#isStarted) throw error;
        await this.#dependencies.clock.sleep(pause, stop.signal);
      }
    }
  }

  /** Reschedules an effect; the store counts the failure. */
  async #requeue(stored: StoredEffect, thrown: unknown, stop: Abortion): Promise<void> {
    const { store, ids, log, faults, queue } = this.#dependencies;
    const failed = faults.at('effect.failed.before-defer', stored.effect.do);
    if (failed !== undefined) await failed;
    const failures = stored.failures + 1;
    const error = thrown instanceof SetAside ? thrown.cause : thrown;
    const { code, message } = describeFailure(error);
    const what = { effect: stored.key, do: stored.effect.do, failures, code, message };
    if (thrown instanceof SetAside) {
      log.error(
        'An effect is set aside; it runs again after the next start, or when an operator asks.',
        what,
      );
      const until = this.#now() + SET_ASIDE_MS;
      const why = `${SET_ASIDE}: ${message}`;
      await this.#retryUntilStored(() => store.deferEffect(stored.key, until, why), stop);
      return;
    }
    const asked = isRetryable(error) ? retryAfterOf(error) : undefined;
    const pause =
      asked === undefined
        ? effectPause(failures, ids)
        : Math.max(MIN_PAUSE_MS, Math.min(asked, MAX_BACKOFF_MS));
    const text = 'An effect failed and is tried again later.';
    // A receiver that is busy is no fault.
    if (code === BUSY) log.debug(text, { ...what, pause });
    else log.warn(text, { ...what, pause });
    const due = queue.postpone(stored, Math.min(this.#now() + pause, endOf(stored.effect)));
    await this.#retryUntilStored(() => store.deferEffect(stored.key, due, message), stop);
    this.wakeAndRearm();
  }
}
