/**
 * The actors of one thread: wake, take one message at a time, commit, sleep. What an actor is lives in the store;
 * between messages nothing of it stays here but, for a while, a copy in a small cache.
 */

import { isMainThread, threadId } from 'node:worker_threads';
import { bareStep } from './bare-step.ts';
import { ActorCache } from './cache.ts';
import type { ActorDefinition, ActorSystem, ActorView, StepOutcome, TellOptions } from './definition.ts';
import { describeFailure, Fatal, Retryable } from './failures.ts';
import type { Faults } from './faults.ts';
import { laneName } from './lanes.ts';
import { Mailboxes } from './mailbox.ts';
import type {
  ActorAddress,
  ActorEvent,
  ActorStore,
  Clock,
  Committed,
  EffectKey,
  Json,
  Log,
  Millis,
  Step,
  StoredActor,
  StoredEffect,
} from './ports.ts';
import { RecentTimes } from './recent-times.ts';
import { firstStep, nextStep, type StepContext, viewOf } from './step.ts';
import type { Supervisor } from './supervisor.ts';
import { type KindTraffic, Traffic } from './traffic.ts';

/** Messages that may wait for one actor unless its definition says otherwise. */
const MAILBOX_LIMIT = 256;

/** Times one message is computed anew because someone else moved the actor on. */
const RECOMPUTE_LIMIT = 8;

export interface HostParts {
  /** @default 0 */
  readonly shard?: number;
  readonly store: Pick<ActorStore, 'load' | 'commit'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly faults: Faults;
  readonly supervisor: Supervisor;
  readonly definitions: ReadonlyMap<string, ActorDefinition>;
  /** Effects somebody does, with the lane of those that have one; a step that asks for another effect throws. */
  readonly effects: ReadonlyMap<string, ((effect: StoredEffect['effect']) => string) | null>;
  /** Actors kept in the cache. */
  readonly cached: number;
  /** Called with each committed step, before its sender is answered. */
  readonly committed: (step: Step) => void;
  /** Told whose step is about to be computed, and undefined after it. @default nobody */
  readonly computing?: (actor: string | undefined) => void;
}

/** A message inside the runtime: what `tell` takes, and why it is sent. */
export interface Delivery {
  readonly id?: string | undefined;
  /** The effect whose outcome the event is. Settled also when the actor does not want the event. */
  readonly settles?: EffectKey | undefined;
  /** The deadline that fired. Forgotten also when the actor does not want the event. */
  readonly timer?: { readonly name: string; readonly due: Millis } | undefined;
  /** See `Step.call`. */
  readonly call?: number | undefined;
}

/** The key of an actor in maps of this process. */
export function addressKey(address: ActorAddress): string {
  return `${address.kind}/${address.id}`;
}

/** What one thread that hosts actors is doing. */
export interface HostReport {
  readonly shard: number;
  /** `main`, or the number of the worker thread. */
  readonly thread: string;
  /** Actors with a message in work or waiting: kind and id, and how many messages. */
  readonly mailboxes: readonly (readonly [actor: string, depth: number])[];
  readonly traffic: { readonly [kind: string]: KindTraffic };
  /** From handing over a step to its being stored, milliseconds. */
  readonly commit: { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number };
  /** How much later than asked the thread's timers ring; missing for the main thread. */
  readonly eventLoopDelay?: { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number };
}

/** What became of the threads of one shard. */
export interface ShardLife {
  readonly shard: number;
  /** False while its thread is being replaced; messages wait meanwhile. */
  readonly housed: boolean;
  /** Threads lost since the process began. */
  readonly losses: number;
  /** `actor`: kind and id of the one whose step was being computed; null when none was. */
  readonly lastLoss: { readonly at: Millis; readonly why: string; readonly actor: string | null } | null;
}

/** Where actors live: on this thread, or on others. */
export interface ActorHost extends ActorSystem {
  /** Actors with a message in work or waiting; on other threads: messages not answered yet. */
  readonly awake: number;
  /** `tell`, for the runtime's own messages as well. */
  deliver(address: ActorAddress, event: ActorEvent, delivery: Delivery): Promise<StepOutcome>;
  /** Settles an effect without any message to the actor, because nobody is left to hear of it. */
  settle(address: ActorAddress, effect: EffectKey): Promise<void>;
  /** Lets a stopped actor go on from where it was. `not-accepted` when it is not stopped. */
  restart(address: ActorAddress): Promise<StepOutcome>;
  /** The thread an actor lives on. */
  shardOf(address: ActorAddress): number;
  /** One for each thread that answers. */
  reports(): Promise<readonly HostReport[]>;
  /** One for each shard. */
  lives(): readonly ShardLife[];
}

export class Host implements ActorHost {
  readonly #parts: HostParts;
  readonly #mailboxes = new Mailboxes();
  readonly #cache: ActorCache;
  readonly #traffic: Traffic;
  readonly #commitTimes = new RecentTimes();

  constructor(parts: HostParts) {
    this.#parts = parts;
    this.#cache = new ActorCache(parts.cached);
    this.#traffic = new Traffic(() => parts.clock.elapsed());
  }

  /** Actors with a message in work or waiting. */
  get awake(): number {
    return this.#mailboxes.awake;
  }

  shardOf(): number {
    return this.#parts.shard ?? 0;
  }

  async reports(): Promise<readonly HostReport[]> {
    return [
      {
        shard: this.shardOf(),
        thread: isMainThread ? 'main' : String(threadId),
        mailboxes: [...this.#mailboxes.depths()],
        traffic: this.#traffic.all(),
        commit: this.#commitTimes.quantiles(),
      },
    ];
  }

  lives(): readonly ShardLife[] {
    return [{ shard: this.shardOf(), housed: true, losses: 0, lastLoss: null }];
  }

  create(address: ActorAddress, input: Json, call?: number): Promise<StepOutcome> {
    return this.#post(address, async () => {
      const key = addressKey(address);
      const definition = this.#definition(address);
      if ((this.#cache.get(key) ?? (await this.#load(key, address))) !== undefined)
        return { accepted: false, because: 'exists' };
      const first = firstStep(definition, address, input, { now: this.#parts.clock.now() });
      const outcome = await this.#commit(key, this.#withLanes(first), call);
      return outcome === 'again' ? { accepted: false, because: 'exists' } : outcome;
    });
  }

  tell(address: ActorAddress, event: ActorEvent, options?: TellOptions): Promise<StepOutcome> {
    return this.deliver(address, event, options ?? {});
  }

  /** `tell`, for the runtime's own messages as well. */
  deliver(address: ActorAddress, event: ActorEvent, delivery: Delivery): Promise<StepOutcome> {
    return this.#post(address, () => this.#step(address, event, delivery));
  }

  async read(
    address: ActorAddress,
  ): Promise<(ActorView & { readonly revision: number; readonly stopped: boolean }) | undefined> {
    const stored = this.#cache.get(addressKey(address)) ?? (await this.#parts.store.load(address));
    return stored && { ...viewOf(stored), revision: stored.revision, stopped: stored.stopped !== null };
  }

  /**
   * Settles an effect without any message to the actor, because nobody is left to hear of it.
   * Nothing happens when it is settled already.
   */
  async settle(address: ActorAddress, effect: EffectKey): Promise<void> {
    await this.#post(address, () =>
      this.#bare(address, (stored) => bareStep(stored, { now: this.#parts.clock.now(), settles: effect })),
    );
  }

  /** Lets a stopped actor go on from where it was. `not-accepted` when it is not stopped. */
  restart(address: ActorAddress): Promise<StepOutcome> {
    return this.#post(address, () => {
      this.#parts.supervisor.forget(addressKey(address));
      return this.#bare(address, (stored) =>
        stored.stopped === null ? undefined : bareStep(stored, { now: this.#parts.clock.now() }, null),
      );
    });
  }

  /** Stops an actor whose steps end the threads they run on. */
  giveUp(address: ActorAddress, error: string): Promise<StepOutcome> {
    return this.#post(address, () => this.#stop(address, error));
  }

  #definition(address: ActorAddress): ActorDefinition {
    const definition = this.#parts.definitions.get(address.kind);
    if (definition === undefined)
      throw new Fatal('actor.unknown-kind', `No actors of kind "${address.kind}".`);
    return definition;
  }

  async #post(address: ActorAddress, work: () => Promise<StepOutcome>): Promise<StepOutcome> {
    const limit = this.#parts.definitions.get(address.kind)?.mailboxLimit ?? MAILBOX_LIMIT;
    const outcome = await this.#mailboxes.post(addressKey(address), limit, work);
    this.#traffic.message(address.kind, outcome.accepted);
    return outcome;
  }

  /** Of an actor that is not in the cache. */
  async #load(key: string, address: ActorAddress): Promise<StoredActor | undefined> {
    const stored = await this.#parts.store.load(address);
    if (stored !== undefined) this.#cache.set(key, stored);
    return stored;
  }

  async #step(address: ActorAddress, event: ActorEvent, delivery: Delivery): Promise<StepOutcome> {
    const definition = this.#definition(address);
    const key = addressKey(address);
    for (let tries = 0; tries < RECOMPUTE_LIMIT; tries++) {
      const stored = this.#cache.get(key) ?? (await this.#load(key, address));
      if (stored === undefined) return { accepted: false, because: 'unknown-actor' };
      const early = earlyAnswer(stored, delivery);
      if (early !== undefined) return early;
      const now = this.#parts.clock.now();
      const context: StepContext = {
        now,
        messageId: delivery.id,
        settles: delivery.settles,
        timer: delivery.timer,
      };
      const stamped = { ...event, at: now };
      let step: Step | undefined;
      try {
        step = this.#compute(definition, key, stored, stamped, context);
      } catch (error) {
        this.#cache.delete(key);
        await this.#supervise(key, stored, stamped, error);
        throw error;
      }
      if (step === undefined) {
        if (delivery.settles === undefined && delivery.timer === undefined)
          return refused('not-accepted', stored);
        const settled = await this.#commit(key, bareStep(stored, context));
        if (settled === 'again') continue;
        return settled.accepted ? refused('not-accepted', stored) : settled;
      }
      const outcome = await this.#commit(key, step, delivery.call);
      if (outcome === 'again') continue;
      if (!outcome.accepted && outcome.because === 'duplicate') return refused('duplicate', stored);
      return outcome;
    }
    throw new Retryable('actor.contended', `${key} is being changed by somebody else.`);
  }

  /** The pure step; a throw in it is the supervisor's business. */
  #compute(
    definition: ActorDefinition,
    key: string,
    stored: StoredActor,
    event: ActorEvent,
    context: StepContext,
  ): Step | undefined {
    const { computing } = this.#parts;
    computing?.(key);
    try {
      const step = nextStep(definition, stored, event, context);
      return step && this.#withLanes(step);
    } finally {
      computing?.(undefined);
    }
  }

  async #supervise(key: string, stored: StoredActor, event: ActorEvent, error: unknown): Promise<void> {
    const { supervisor, clock, log } = this.#parts;
    const { code, message } = describeFailure(error);
    const verdict = supervisor.thrown(key, clock.elapsed());
    log.error('A step threw; the actor goes on from its last committed state.', {
      actor: key,
      state: stored.state,
      event: event.type,
      code,
      message,
      stopped: verdict === 'stop',
    });
    this.#traffic.threw(stored.address.kind, key, message);
    if (verdict === 'stop') await this.#stop(stored.address, message);
  }

  #stop(address: ActorAddress, error: string): Promise<StepOutcome> {
    const now = this.#parts.clock.now();
    return this.#bare(address, (current) =>
      current.stopped !== null ? undefined : bareStep(current, { now }, { at: now, error }),
    );
  }

  /** Commits a step that changes no state; `make` may decide that nothing is to be done. */
  async #bare(address: ActorAddress, make: (stored: StoredActor) => Step | undefined): Promise<StepOutcome> {
    const key = addressKey(address);
    for (let tries = 0; tries < RECOMPUTE_LIMIT; tries++) {
      const stored = this.#cache.get(key) ?? (await this.#load(key, address));
      if (stored === undefined) return { accepted: false, because: 'unknown-actor' };
      const step = make(stored);
      if (step === undefined) return refused('not-accepted', stored);
      const outcome = await this.#commit(key, step);
      if (outcome !== 'again') return outcome;
    }
    throw new Retryable('actor.contended', `${key} is being changed by somebody else.`);
  }

  /** Sends each effect to its lane. Refuses, before anything is stored, what nobody would ever do. */
  #withLanes(step: Step): Step {
    let laned = false;
    for (const { effect } of step.effects) {
      const lane = this.#parts.effects.get(effect.do);
      if (lane === undefined) throw new Fatal('effect.unknown', `Nobody does the effect "${effect.do}".`);
      laned ||= lane !== null;
    }
    if (!laned) return step;
    return {
      ...step,
      effects: step.effects.map((stored) => {
        const lane = this.#parts.effects.get(stored.effect.do);
        return lane ? { ...stored, lane: laneName(stored.effect.do, lane(stored.effect)) } : stored;
      }),
    };
  }

  /** `again`: someone else moved the actor on; compute anew. A rejection leaves open whether it was stored. */
  async #commit(key: string, step: Step, call?: number): Promise<StepOutcome | 'again'> {
    const { faults, store } = this.#parts;
    let committed: Committed;
    try {
      const before = faults.at('step.computed.before-commit', step.actor.address.kind);
      if (before !== undefined) await before;
      const begun = this.#parts.clock.elapsed();
      committed = await store.commit(call === undefined ? step : { ...step, call });
      this.#commitTimes.add(this.#parts.clock.elapsed() - begun);
      if (committed.ok) {
        const after = faults.at('step.committed.before-reply', step.actor.address.kind);
        if (after !== undefined) await after;
      }
    } catch (error) {
      this.#cache.delete(key);
      throw error;
    }
    if (committed.ok) {
      if (step.ends) this.#cache.delete(key);
      else this.#cache.set(key, step.actor);
      this.#announce(step);
      return {
        accepted: true,
        actor: viewOf(step.actor),
        revision: step.actor.revision,
        durable: committed.durable,
      };
    }
    if (committed.because === 'taken') {
      return { accepted: false, because: 'taken', name: committed.name, holder: committed.holder };
    }
    if (committed.because === 'duplicate') return refused('duplicate', step.actor);
    this.#cache.delete(key);
    return 'again';
  }

  #announce(step: Step): void {
    try {
      this.#parts.committed(step);
    } catch (error) {
      this.#parts.log.error('An observer of committed steps threw.', describeFailure(error));
    }
  }
}

/** What can be said without asking the machine. */
function earlyAnswer(stored: StoredActor, delivery: Delivery): StepOutcome | undefined {
  if (stored.stopped !== null) return refused('stopped', stored);
  if (delivery.id !== undefined && stored.consumed.includes(delivery.id)) return refused('duplicate', stored);
  // Cancelled or moved since it was read: the deadline this message speaks of is no more.
  if (delivery.timer !== undefined && stored.timers[delivery.timer.name] !== delivery.timer.due) {
    return refused('not-accepted', stored);
  }
  return undefined;
}

function refused(because: 'not-accepted' | 'duplicate' | 'stopped', stored: StoredActor): StepOutcome {
  return { accepted: false, because, actor: viewOf(stored) };
}
