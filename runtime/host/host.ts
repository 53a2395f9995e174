/**
 * Hosts the actors of one thread: load, process one message at a time, commit, unload. The state of an actor is in the
 * store; between messages only a small cache holds copies.
 */
import { isMainThread, threadId } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import type { ActorDefinition, CommittedActor, SendOptions, StepOutcome } from '../model/definition.ts';
import { describeFailure, Fatal, Retryable } from '../model/failures.ts';
import type { Faults } from '../model/faults.ts';
import { withFrozenContext } from '../model/json.ts';
import type {
  ActorAddress,
  ActorEvent,
  ActorStore,
  Clock,
  EffectKey,
  Ids,
  Json,
  Log,
  Step,
  StoredActor,
  StoredEffect,
} from '../model/ports.ts';
import { type Tracing, tracedStep } from '../model/tracing.ts';
import {
  type DeadLetterValue,
  isLetterStored,
  letterOf,
  withDeadLetter,
  withoutDeadLetter,
} from '../step/dead-letters.ts';
import { withoutNeedless, withPartitions } from '../step/effect-partitions.ts';
import { migrationOf } from '../step/migrate.ts';
import {
  committedViewOf,
  endingStep,
  firstStep,
  machinelessStep,
  nextStep,
  type StepContext,
  viewOf,
} from '../step/step.ts';
import {
  type ActorHost,
  type HostReport,
  LoopUtilisation,
  type MessageDelivery,
  type ShardStatus,
  Traffic,
} from './actor-host.ts';
import { isInternal, Mailboxes, mailboxLimitOf } from './mailboxes.ts';
import type { Supervisor } from './supervisor.ts';

const WINDOW_SIZE = 1024;
/** Additions to a full window after which it is sorted again: reads of a busy thread share a sort. */
const SORT_EVERY = 64;

/** Keeps recent durations, for their quantiles. */
export class RecentTimes {
  readonly #times = new Float64Array(WINDOW_SIZE);
  #count = 0;
  #sorted = new Float64Array();
  /** Number of durations at the last sort. */
  #sortedAt = 0;

  /** Milliseconds. */
  add(time: number): void {
    this.#times[this.#count % WINDOW_SIZE] = time;
    this.#count += 1;
  }

  /** Milliseconds; zeros when there are none. Of a full window, at most the last 63 durations are missing. */
  quantiles(): { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number } {
    const added = this.#count - this.#sortedAt;
    if (added >= SORT_EVERY || (added > 0 && this.#sortedAt < WINDOW_SIZE)) {
      this.#sorted = this.#times.slice(0, Math.min(this.#count, WINDOW_SIZE)).sort();
      this.#sortedAt = this.#count;
    }
    const sorted = this.#sorted;
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
    return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: sorted.at(-1) ?? 0 };
  }
}

/** Answers what is known without the machine. */
function answerWithoutStep(stored: StoredActor, delivery: MessageDelivery): StepOutcome | undefined {
  if (stored.stopped !== null) return refused('stopped', stored);
  if (delivery.id !== undefined && stored.consumed.includes(delivery.id)) return refused('duplicate', stored);
  // The deadline was canceled or moved since it was read.
  if (delivery.timer !== undefined && stored.timers[delivery.timer.name] !== delivery.timer.due) {
    return refused('duplicate', stored);
  }
  return undefined;
}

/** Builds the outcome of a message that changes nothing. */
function refused(reason: 'not-accepted' | 'duplicate' | 'stopped', stored: StoredActor): StepOutcome {
  return { accepted: false, reason, actor: committedViewOf(stored) };
}

function contended(actor: string): Retryable {
  return new Retryable('actor.contended', `${actor} is being changed by somebody else.`);
}

/** The step is stored, and its sender is answered, even if the observer throws. */
export function announce(committed: (step: Step) => void, log: Log, step: Step): void {
  try {
    committed(step);
  } catch (error) {
    log.error('An observer of committed steps threw.', describeFailure(error));
  }
}

/** Of a journal line: nobody can try all texts with all salts. */
const SALT_BYTES = 16;

/** Retries of one message after conflicting commits; more where several nodes change one actor. */
const RECOMPUTE_LIMIT = { alone: 8, shared: 24 };

export interface HostDependencies {
  /** @default 0 */
  readonly shard?: number;
  readonly store: Pick<ActorStore, 'load' | 'commit' | 'rows'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly faults: Faults;
  readonly supervisor: Supervisor;
  readonly definitions: ReadonlyMap<string, ActorDefinition>;
  /**
   * Known effects, with the function for the partition where there is one; a step that requests another effect throws.
   */
  readonly effects: ReadonlyMap<string, ((effect: StoredEffect['effect']) => string) | null>;
  /** See `EffectHandler.isNeeded`; effects without a function are always needed. @default none */
  readonly isNeeded?: ReadonlyMap<string, (effect: StoredEffect['effect']) => boolean>;
  /** Actors kept in the cache. */
  readonly cached: number;
  /**
   * True: other processes write to the store. A cached actor then serves to compute a step, whose commit checks its
   * revision, but no refusal and no read. The store tells of committed steps itself. @default false
   */
  readonly isShared?: boolean;
  /** True: stored actors may be of earlier versions, each of which is migrated before its next step. @default false */
  readonly mayBeOld?: boolean;
  /** Number of this node among those that share the store. @default 0 */
  readonly node?: number;
  /** @default none */
  readonly tracing?: Tracing | undefined;
  /** Called with each committed step, before its sender is answered. */
  readonly committed: (step: Step) => void;
  /** Receives the actor whose step is about to be computed, and undefined after it. @default none */
  readonly computing?: (actor: string | undefined) => void;
}

/** The key of an actor in maps of this process. */
export function addressKey(address: ActorAddress): string {
  return `${address.kind}/${address.id}`;
}

export class Host implements ActorHost {
  readonly #dependencies: HostDependencies;
  readonly #mailboxes = new Mailboxes();
  /** Recently used actors, so that a busy one is not read and parsed for every message. Undefined: none is cached. */
  readonly #cache: LRUCache<string, StoredActor> | undefined;
  readonly #traffic: Traffic;
  readonly #commitTimes = new RecentTimes();
  readonly #utilisation = new LoopUtilisation();
  #closing: Promise<void> | undefined;

  constructor(dependencies: HostDependencies) {
    this.#dependencies = dependencies;
    this.#cache = dependencies.cached > 0 ? new LRUCache({ max: dependencies.cached }) : undefined;
    this.#traffic = new Traffic(() => dependencies.clock.elapsed());
  }

  get awake(): number {
    return this.#mailboxes.awake;
  }

  shardOf(): number {
    return this.#dependencies.shard ?? 0;
  }

  async reports(): Promise<readonly HostReport[]> {
    return [
      {
        shard: this.shardOf(),
        thread: isMainThread ? 'main' : String(threadId),
        mailboxes: [...this.#mailboxes.depths()],
        traffic: this.#traffic.reports(),
        commit: this.#commitTimes.quantiles(),
        utilisation: this.#utilisation.read(),
      },
    ];
  }

  shardStatus(): readonly ShardStatus[] {
    return [{ shard: this.shardOf(), housed: true, losses: 0, lastLoss: null }];
  }

  create(address: ActorAddress, input: Json, delivery: MessageDelivery = {}): Promise<StepOutcome> {
    return this.#post(address, undefined, () =>
      tracedStep(this.#dependencies.tracing, address, {
        event: 'CREATE',
        delivery,
        step: async ({ call, trace }) => {
          const key = addressKey(address);
          const definition = this.#definition(address);
          if ((this.#peek(key) ?? (await this.#load(key, address))) !== undefined)
            return { accepted: false, reason: 'exists' };
          const context: StepContext = {
            now: this.#dependencies.clock.now(),
            firstIndex: this.#firstIndex,
            salt: this.#salt,
            trace,
          };
          const first = firstStep(definition, address, input, context);
          const outcome = await this.#commit(key, this.#prepared(first), call);
          return outcome === 'again' ? { accepted: false, reason: 'exists' } : outcome;
        },
      }),
    );
  }

  send(address: ActorAddress, event: ActorEvent, options?: SendOptions): Promise<StepOutcome> {
    return this.deliver(address, event, options ?? {});
  }

  deliver(address: ActorAddress, event: ActorEvent, delivery: MessageDelivery): Promise<StepOutcome> {
    return this.#post(address, delivery, () =>
      tracedStep(this.#dependencies.tracing, address, {
        event: event.type,
        delivery,
        step: (traced) => this.#step(address, event, traced),
      }),
    );
  }

  async read(address: ActorAddress): Promise<CommittedActor | undefined> {
    const loaded = this.#peek(addressKey(address)) ?? (await this.#dependencies.store.load(address));
    const mayBeOld = loaded && this.#dependencies.mayBeOld;
    const stored = mayBeOld
      ? (migrationOf(this.#definition(address), loaded, this.#dependencies.clock.now())?.actor ?? loaded)
      : loaded;
    return stored && committedViewOf(stored);
  }

  /** Settles an effect without a message to the actor. Does nothing when the effect is settled already. */
  async settle(address: ActorAddress, effect: EffectKey, letter?: DeadLetterValue): Promise<void> {
    const now = this.#dependencies.clock.now();
    await this.#post(address, { settles: effect }, () =>
      this.#machinelessStep(address, (stored) =>
        withDeadLetter(machinelessStep(stored, { now, settles: effect }), now, letter),
      ),
    );
  }

  restart(address: ActorAddress): Promise<StepOutcome> {
    return this.#post(address, undefined, () => {
      this.#dependencies.supervisor.clear(addressKey(address));
      return this.#machinelessStep(address, (stored) =>
        stored.stopped === null
          ? undefined
          : machinelessStep(stored, { now: this.#dependencies.clock.now() }, null),
      );
    });
  }

  end(address: ActorAddress): Promise<StepOutcome> {
    return this.#post(address, undefined, async () => {
      const definition = this.#definition(address);
      const now = this.#dependencies.clock.now();
      for (let tries = 0; tries < this.#recomputeLimit; tries++) {
        let isLast = false;
        const outcome = await this.#machinelessStep(address, (stored) => {
          // What an actor of an earlier version has stored follows from its migration alone.
          const migration = this.#dependencies.mayBeOld ? migrationOf(definition, stored, now) : undefined;
          isLast = migration === undefined;
          return migration ?? endingStep(definition, stored, { now });
        });
        if (isLast || !outcome.accepted) return outcome;
      }
      throw contended(addressKey(address));
    });
  }

  /** Stops an actor whose steps crash the threads they run on. */
  stopActor(address: ActorAddress, error: string): Promise<StepOutcome> {
    return this.#post(address, undefined, () => this.#stop(address, error));
  }

  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#mailboxes.onIdle = resolve;
      if (this.#mailboxes.awake === 0) resolve();
    });
    return this.#closing;
  }

  /** 48 random bits: an index below 2^53 for each effect of a step. */
  readonly #firstIndex = (): number => Number.parseInt(this.#dependencies.ids.uuid().slice(-12), 16);

  readonly #salt = (): string => Buffer.from(this.#dependencies.ids.bytes(SALT_BYTES)).toString('base64url');

  get #recomputeLimit(): number {
    return this.#dependencies.isShared ? RECOMPUTE_LIMIT.shared : RECOMPUTE_LIMIT.alone;
  }

  /** Forgets an actor that another node changed. */
  forget(address: ActorAddress): void {
    this.#cache?.delete(addressKey(address));
  }

  #definition(address: ActorAddress): ActorDefinition {
    const definition = this.#dependencies.definitions.get(address.kind);
    if (definition === undefined)
      throw new Fatal('actor.unknown-kind', `No actors of kind "${address.kind}".`);
    return definition;
  }

  async #post(
    address: ActorAddress,
    delivery: MessageDelivery | undefined,
    work: () => Promise<StepOutcome>,
  ): Promise<StepOutcome> {
    if (this.#closing !== undefined) throw new Retryable('runtime.stopping', 'The runtime is stopping.');
    const limit = isInternal(delivery)
      ? Number.POSITIVE_INFINITY
      : mailboxLimitOf(this.#dependencies.definitions, address.kind);
    const outcome = await this.#mailboxes.post(addressKey(address), limit, work);
    this.#traffic.recordMessage(address.kind, outcome.accepted);
    return outcome;
  }

  /** The cached actor, where no other process may have changed it. */
  #peek(key: string): StoredActor | undefined {
    return this.#dependencies.isShared ? undefined : this.#cache?.get(key);
  }

  /** Forgets a cached actor that may be older than the stored one. False when it was just loaded. */
  #mayBeStale(key: string, isCached: boolean): boolean {
    if (!isCached || !this.#dependencies.isShared) return false;
    this.#cache?.delete(key);
    return true;
  }

  /** Pauses before a step is computed anew, differently long on each node, so that commits do not conflict again. */
  async #pauseBefore(tries: number): Promise<void> {
    if (tries < 2 || !this.#dependencies.isShared) return;
    await this.#dependencies.clock.sleep(((this.#dependencies.node ?? 0) % 8) + tries * 3);
  }

  /** Loads an actor that is not in the cache. */
  async #load(key: string, address: ActorAddress): Promise<StoredActor | undefined> {
    const stored = await this.#dependencies.store.load(address);
    if (stored !== undefined) this.#cache?.set(key, withFrozenContext(stored));
    return stored;
  }

  async #step(address: ActorAddress, event: ActorEvent, delivery: MessageDelivery): Promise<StepOutcome> {
    const definition = this.#definition(address);
    const key = addressKey(address);
    for (let tries = 0; tries < this.#recomputeLimit; tries++) {
      await this.#pauseBefore(tries);
      const cached = this.#cache?.get(key);
      const isCached = cached !== undefined;
      const stored = cached ?? (await this.#load(key, address));
      if (stored === undefined) return { accepted: false, reason: 'unknown-actor' };
      const early = answerWithoutStep(stored, delivery);
      if (early !== undefined) {
        if (this.#mayBeStale(key, isCached)) continue;
        return early;
      }
      const now = this.#dependencies.clock.now();
      const migration = this.#dependencies.mayBeOld ? migrationOf(definition, stored, now) : undefined;
      if (migration !== undefined) {
        await this.#commit(key, migration);
        continue;
      }
      const context: StepContext = {
        now,
        messageId: delivery.id,
        settles: delivery.settles,
        timer: delivery.timer,
        firstIndex: this.#firstIndex,
        salt: this.#salt,
        trace: delivery.trace,
      };
      const stamped = { ...event, at: now };
      let step: Step | undefined;
      try {
        step = this.#compute(definition, key, { stored, event: stamped, context });
      } catch (error) {
        this.#cache?.delete(key);
        if (isCached && this.#dependencies.isShared) continue;
        await this.#supervise(key, stored, { event: stamped, error, delivery });
        throw error;
      }
      if (step === undefined) {
        if (this.#mayBeStale(key, isCached)) continue;
        if (delivery.waits || (delivery.settles === undefined && delivery.timer === undefined))
          return refused('not-accepted', stored);
        const letter = letterOf(address, event, delivery);
        const settled = await this.#commit(
          key,
          withDeadLetter(machinelessStep(stored, context), now, letter),
        );
        if (settled === 'again') continue;
        return settled.accepted ? refused('not-accepted', stored) : settled;
      }
      const { letter } = delivery;
      // After the actor was loaded: a step that took the letter since then has changed the actor, and this one conflicts.
      if (letter !== undefined && !(await isLetterStored(this.#dependencies.store, letter)))
        return refused('duplicate', stored);
      const outcome = await this.#commit(key, withoutDeadLetter(step, letter), delivery.call);
      if (outcome === 'again') continue;
      if (!outcome.accepted && outcome.reason === 'duplicate') return refused('duplicate', stored);
      return outcome;
    }
    throw contended(key);
  }

  /** Computes the step; the supervisor handles errors. */
  #compute(
    definition: ActorDefinition,
    key: string,
    {
      stored,
      event,
      context,
    }: { readonly stored: StoredActor; readonly event: ActorEvent; readonly context: StepContext },
  ): Step | undefined {
    const { computing } = this.#dependencies;
    computing?.(key);
    try {
      const step = nextStep(definition, stored, event, context);
      return step && this.#prepared(step);
    } finally {
      computing?.(undefined);
    }
  }

  #prepared(step: Step): Step {
    const { isNeeded, effects } = this.#dependencies;
    return withPartitions(withoutNeedless(step, isNeeded), effects);
  }

  /** A message of another actor does not count against this one: its delivery is repeated, then it is set aside. */
  async #supervise(
    key: string,
    stored: StoredActor,
    {
      event,
      error,
      delivery: { id, settles },
    }: { readonly event: ActorEvent; readonly error: unknown; readonly delivery: MessageDelivery },
  ): Promise<void> {
    const { supervisor, clock, log } = this.#dependencies;
    const { code, message } = describeFailure(error);
    const isTell = id !== undefined && settles !== undefined;
    const verdict = isTell ? 'restart' : supervisor.recordFailure(key, clock.elapsed());
    log.error('A step threw; the actor goes on from its last committed state.', {
      actor: key,
      state: stored.state,
      event: event.type,
      code,
      message,
      stopped: verdict === 'stop',
    });
    this.#traffic.recordFailure(stored.address.kind, key, message);
    if (verdict === 'stop') await this.#stop(stored.address, message);
  }

  #stop(address: ActorAddress, error: string): Promise<StepOutcome> {
    const now = this.#dependencies.clock.now();
    return this.#machinelessStep(address, (current) =>
      current.stopped !== null ? undefined : machinelessStep(current, { now }, { at: now, error }),
    );
  }

  /** Commits a step that changes no state; `make` may return none. */
  async #machinelessStep(
    address: ActorAddress,
    make: (stored: StoredActor) => Step | undefined,
  ): Promise<StepOutcome> {
    const key = addressKey(address);
    for (let tries = 0; tries < this.#recomputeLimit; tries++) {
      await this.#pauseBefore(tries);
      const cached = this.#cache?.get(key);
      const stored = cached ?? (await this.#load(key, address));
      if (stored === undefined) return { accepted: false, reason: 'unknown-actor' };
      const step = make(stored);
      if (step === undefined) {
        if (this.#mayBeStale(key, cached !== undefined)) continue;
        return refused('not-accepted', stored);
      }
      const outcome = await this.#commit(key, step);
      if (outcome !== 'again') return outcome;
    }
    throw contended(key);
  }

  /**
   * Commits a step. `again`: a conflicting commit came first; compute anew. A rejection leaves open whether it was
   * stored.
   */
  async #commit(key: string, step: Step, call?: number): Promise<StepOutcome | 'again'> {
    const { faults, store, clock } = this.#dependencies;
    // The store can show the step, and lease its effects, before it answers: reads use the store until then.
    this.#cache?.delete(key);
    const before = faults.at('step.computed.before-commit', step.actor.address.kind);
    if (before !== undefined) await before;
    const begun = clock.elapsed();
    const committed = await store.commit(call === undefined ? step : { ...step, call });
    this.#commitTimes.add(clock.elapsed() - begun);
    if (committed.ok) {
      const after = faults.at('step.committed.before-reply', step.actor.address.kind);
      if (after !== undefined) await after;
      if (!step.ends) this.#cache?.set(key, withFrozenContext(step.actor));
      if (!this.#dependencies.isShared) announce(this.#dependencies.committed, this.#dependencies.log, step);
      return {
        accepted: true,
        actor: viewOf(step.actor),
        revision: step.actor.revision,
      };
    }
    if (committed.reason === 'taken') {
      return { accepted: false, reason: 'taken', name: committed.name, holder: committed.holder };
    }
    return committed.reason === 'duplicate' ? refused('duplicate', step.actor) : 'again';
  }
}
