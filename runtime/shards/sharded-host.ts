/**
 * Actors spread over threads by the hash of their kind and id. This thread only passes messages on; it hears of every
 * step from the writing thread of the store, before the step's sender is answered.
 *
 * A thread that ends, runs out of memory or answers nothing any more is replaced by a spare that is ready to take over.
 * A step says which call asked for it. So once the store takes nothing more of the lost thread, it is known which of the
 * calls sent to it were done: these are answered, the others are sent to the next thread. Only those to the actor whose
 * step was being computed are rejected, as `shard.lost`: they were not done, and are to be tried again by their senders.
 *
 * An actor whose steps cost one thread after the other is stopped, as one whose steps throw; a shard that loses its
 * threads again and again all the same is given up, and with it the process.
 */
import type { ActorView, StepOutcome, TellOptions } from '../definition.ts';
import { describeFailure, Fatal, Retryable } from '../failures.ts';
import type { ActorHost, Delivery, HostReport, ShardLife } from '../host.ts';
import type { ActorAddress, ActorEvent, ActorStore, Clock, EffectKey, Json, Log, Step } from '../ports.ts';
import { viewOf } from '../step.ts';
import type { RestartLimit } from '../supervisor.ts';
import { Supervisor } from '../supervisor.ts';
import { watchHeartbeat } from './heartbeat.ts';
import { ShardCalls } from './shard-calls.ts';
import { ShardThread } from './shard-thread.ts';
import type { PlainOutcome, ShardCall, ShardSetup } from './wire.ts';

/** How long senders should wait before they try again what a lost thread did not answer, milliseconds. */
const LOST_PAUSE = 50;
/**
 * How long a thread may leave others unanswered, milliseconds. A step takes microseconds; reading hundreds of sleeping
 * actors from a slow disk, or a machine with too many threads at work, may take a good part of a second.
 */
const PATIENCE = 2000;
/** From the housing of a thread to the loading of the next spare, milliseconds. */
const SPARE_PAUSE = 250;
/** Megabytes of heap of one thread: its cache of actors and what one step makes need a small part of it. */
const MEMORY = 512;
/** Threads of one shard lost within a minute before the process gives up. */
const LOSSES: RestartLimit = { restarts: 10, within: 60_000 };
/** Threads that may be lost within a minute while steps of one and the same actor are computed. */
const LOSSES_BY_ACTOR: RestartLimit = { restarts: 2, within: 60_000 };

const DURABLE = Promise.resolve();
const VACANT = Promise.resolve();

export interface ShardedHostParts {
  /** At least 2. */
  readonly count: number;
  /** URL of the module with the `shardParts` of the definitions. */
  readonly parts: string;
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly setup: ShardSetup;
  /** Most megabytes of heap of one thread. @default 512 */
  readonly memory?: number | undefined;
  /** Milliseconds without an answer after which a thread is stuck. @default 2000 */
  readonly patience?: number | undefined;
  /** Threads of one shard that may be lost. @default 10 within a minute */
  readonly losses?: RestartLimit | undefined;
  readonly committed: (step: Step) => void;
  /** Told of each thread that is lost and replaced. */
  readonly onReplaced?: (() => void) | undefined;
  /** A shard loses its threads again and again; nothing can be done about it here. */
  readonly onLost: (why: string) => void;
}

type Question = ShardCall extends infer Call ? (Call extends unknown ? Omit<Call, 'seq'> : never) : never;

/** A shard with the thread it is on now. */
interface Shard {
  readonly index: number;
  thread: ShardThread | undefined;
  readonly calls: ShardCalls;
  losses: number;
  lastLoss: ShardLife['lastLoss'];
}

export class ShardedHost implements ActorHost {
  readonly #parts: ShardedHostParts;
  readonly #share: NonNullable<ActorStore['share']>;
  readonly #shards: Shard[] = [];
  readonly #losses: Supervisor;
  readonly #lossesByActor = new Supervisor(LOSSES_BY_ACTOR);
  /** All that run, also those that are still loading. */
  readonly #threads = new Set<ShardThread>();
  #spare: ShardThread | undefined;
  #cancelSpare: () => void = () => {};
  #seq = 0;
  #closed = false;

  /** Starts the threads; messages wait for them. @throws {Fatal} `store.not-shared` */
  constructor(parts: ShardedHostParts) {
    this.#parts = parts;
    this.#losses = new Supervisor(parts.losses ?? LOSSES);
    const { share } = parts.store;
    if (share === undefined) {
      const { engine } = parts.store.describe();
      throw new Fatal('store.not-shared', `Only one thread can use a store of the kind ${engine}.`);
    }
    this.#share = share.bind(parts.store);
    for (let index = 0; index < parts.count; index += 1) {
      const shard: Shard = {
        index,
        thread: undefined,
        calls: new ShardCalls(),
        losses: 0,
        lastLoss: null,
      };
      this.#shards.push(shard);
      void this.#house(shard, this.#newThread(), VACANT);
    }
  }

  get awake(): number {
    return this.#shards.reduce((sum, { calls }) => sum + calls.size, 0);
  }

  /** FNV-1a over kind and id: spreads ids that differ in their last characters alone. */
  shardOf({ kind, id }: ActorAddress): number {
    let hash = 0x811c9dc5;
    for (const text of [kind, '/', id])
      for (let at = 0; at < text.length; at += 1)
        hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
    return hash % this.#parts.count;
  }

  create(address: ActorAddress, input: Json): Promise<StepOutcome> {
    return this.#outcome({ call: 'create', address, input });
  }

  tell(address: ActorAddress, event: ActorEvent, options?: TellOptions): Promise<StepOutcome> {
    return this.deliver(address, event, options ?? {});
  }

  deliver(address: ActorAddress, event: ActorEvent, delivery: Delivery): Promise<StepOutcome> {
    return this.#outcome({ call: 'deliver', address, event, delivery });
  }

  restart(address: ActorAddress): Promise<StepOutcome> {
    return this.#outcome({ call: 'restart', address });
  }

  async settle(address: ActorAddress, effect: EffectKey): Promise<void> {
    await this.#ask({ call: 'settle', address, effect });
  }

  async read(
    address: ActorAddress,
  ): Promise<(ActorView & { readonly revision: number; readonly stopped: boolean }) | undefined> {
    const stored = await this.#parts.store.load(address);
    return stored && { ...viewOf(stored), revision: stored.revision, stopped: stored.stopped !== null };
  }

  async reports(): Promise<readonly HostReport[]> {
    const reports = await Promise.all(
      this.#shards.map(({ thread }) => thread?.report().catch(() => undefined)),
    );
    return reports.filter((report) => report !== undefined);
  }

  lives(): readonly ShardLife[] {
    return this.#shards.map(({ index, thread, losses, lastLoss }) => ({
      shard: index,
      housed: thread !== undefined,
      losses,
      lastLoss,
    }));
  }

  /** Ends the threads; what is not answered by then is rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelSpare();
    await Promise.all([...this.#threads].map((thread) => thread.close()));
    for (const { calls } of this.#shards) calls.drop(stopping());
  }

  /** For tests: ends a shard's thread as a crash would. */
  async crash(index: number): Promise<void> {
    const shard = this.#shards[index];
    while (shard !== undefined && shard.thread === undefined) await this.#parts.clock.sleep(LOST_PAUSE);
    await shard?.thread?.terminate('It was told to.');
  }

  async #outcome(question: Question): Promise<StepOutcome> {
    const outcome = await this.#ask(question);
    if (outcome === null) throw new Fatal('internal', 'A thread answered a message without an outcome.');
    return outcome.accepted ? { ...outcome, durable: DURABLE } : outcome;
  }

  #ask(question: Question): Promise<PlainOutcome | null> {
    const shard = this.#shards[this.shardOf(question.address)];
    if (shard === undefined || this.#closed) return Promise.reject(stopping());
    const answer = shard.calls.add(this.#numbered(question));
    if (shard.calls.waiting === 1) setImmediate(() => this.#send(shard));
    return answer;
  }

  #numbered(question: Question): ShardCall {
    this.#seq += 1;
    return { ...question, seq: this.#seq } as ShardCall;
  }

  /** While the shard has no thread, calls wait for the next one. */
  #send({ thread, calls }: Shard): void {
    if (thread !== undefined && calls.waiting > 0) thread.take(calls.take());
  }

  #newThread(): ShardThread {
    const { parts, memory = MEMORY, setup } = this.#parts;
    const thread = new ShardThread({ parts, memory, setup, share: this.#share });
    this.#threads.add(thread);
    return thread;
  }

  /**
   * Gives a shard its thread, and another one when that fails.
   * @param vacated resolves when nothing more comes of the thread before
   */
  async #house(shard: Shard, thread: ShardThread, vacated: Promise<void>): Promise<void> {
    await vacated;
    try {
      await thread.loaded;
    } catch (error) {
      this.#replace(shard, thread, error instanceof Error ? error.message : String(error));
      return;
    }
    if (this.#closed) return;
    const { calls } = shard;
    shard.thread = thread;
    calls.begin();
    thread.begin(shard.index, {
      log: this.#parts.log,
      heard: ({ serial, steps }) => {
        for (const step of steps) {
          this.#announce(step);
          calls.stepped(step);
        }
        calls.heard(serial);
      },
      answered: (answers) => calls.answered(answers),
      lost: (why) => this.#replace(shard, thread, why),
    });
    this.#send(shard);
    this.#watch(thread);
    this.#makeSpare();
  }

  /** Whatever an observer makes of a step, it is stored, and its sender is answered. */
  #announce(step: Step): void {
    try {
      this.#parts.committed(step);
    } catch (error) {
      this.#parts.log.error('An observer of committed steps threw.', describeFailure(error));
    }
  }

  /** Loading is work; those who waited for the thread that was just housed come first. */
  #makeSpare(): void {
    this.#cancelSpare();
    this.#cancelSpare = this.#parts.clock.after(SPARE_PAUSE, () => {
      this.#spare ??= this.#newThread();
    });
  }

  /** The thread of the shard is gone. */
  #replace(shard: Shard, thread: ShardThread, why: string): void {
    if (this.#closed) return;
    const { log, clock, onLost, onReplaced } = this.#parts;
    const actor = thread.computing;
    this.#threads.delete(thread);
    shard.thread = undefined;
    shard.losses += 1;
    shard.lastLoss = { at: clock.now(), why, actor: actor ?? null };
    const blamed = actor !== undefined && this.#lossesByActor.thrown(actor, clock.elapsed()) === 'stop';
    log.error('A thread that hosts actors was lost and is replaced.', {
      Shard: shard.index,
      Error: why,
      Actor: actor,
      Losses: shard.losses,
      ActorStopped: blamed,
    });
    onReplaced?.();
    if (this.#losses.thrown(String(shard.index), clock.elapsed()) === 'stop') {
      shard.calls.drop(lost(why));
      onLost(`Shard ${shard.index} lost its thread again and again: ${why}`);
      return;
    }
    const next = this.#spare ?? this.#newThread();
    this.#spare = undefined;
    const vacated = thread.revoke().then(() => {
      shard.calls.rejectGuilty(actor, lost(why));
      if (blamed) this.#giveUp(shard, actor, why);
    });
    void this.#house(shard, next, vacated);
  }

  /** Before anything else is told to it, the next thread stops an actor that has cost too many. */
  #giveUp(shard: Shard, actor: string, why: string): void {
    const slash = actor.indexOf('/');
    const address = { kind: actor.slice(0, slash), id: actor.slice(slash + 1) };
    const error = `Its steps ended the threads they ran on: ${why}`;
    shard.calls.addFirst(this.#numbered({ call: 'giveUp', address, error })).catch((error: unknown) => {
      this.#parts.log.error('An actor could not be stopped.', { Actor: actor, ...describeFailure(error) });
    });
  }

  /** Replaces a thread that does not answer any more. */
  #watch(thread: ShardThread): void {
    const { clock, patience = PATIENCE } = this.#parts;
    watchHeartbeat({
      clock,
      patience,
      ask: () => thread.ping(),
      stuck: () => void thread.terminate(`It did not answer for ${patience} milliseconds.`),
    });
  }
}

function lost(why: string): Retryable {
  return new Retryable('shard.lost', `The thread of the actor was lost: ${why}`, LOST_PAUSE);
}

function stopping(): Retryable {
  return new Retryable('runtime.stopping', 'The runtime is stopping.');
}
