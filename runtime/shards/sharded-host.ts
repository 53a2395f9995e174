/**
 * Actors distributed over threads by the hash of their kind and id. This thread only forwards messages; it receives
 * every step from the writing thread of the store, before the step's sender is answered.
 *
 * A thread that ends, runs out of memory or stops answering is replaced by a spare that is ready to take over. A step
 * names the call that caused it. So once the store accepts nothing more from the lost thread, it is known which of the
 * calls sent to it were done: these are answered, the others are sent to the next thread. Only calls to the actor whose
 * step was being computed are rejected, as `shard.lost`: they were not done, and their senders retry them.
 *
 * An actor whose steps crash several threads is stopped, like one whose steps throw; a shard that still loses too many
 * threads ends the process.
 */

import type { ActorHost, HostReport, MessageDelivery, ShardStatus } from '../host/actor-host.ts';
import { addressKey, announce } from '../host/host.ts';
import { isInternal, mailboxFull, mailboxLimitOf } from '../host/mailboxes.ts';
import { type RestartLimit, Supervisor } from '../host/supervisor.ts';
import type { ActorDefinition, CommittedActor, SendOptions, StepOutcome } from '../model/definition.ts';
import { describeFailure, Fatal, Retryable } from '../model/failures.ts';
import type {
  ActorAddress,
  ActorEvent,
  ActorStore,
  Clock,
  EffectKey,
  Json,
  Log,
  Millis,
  Step,
} from '../model/ports.ts';
import { type Tracing, tracedStep } from '../model/tracing.ts';
import type { DeadLetterValue } from '../step/dead-letters.ts';
import { viewOf } from '../step/step.ts';
import { ShardCalls } from './shard-calls.ts';
import { ShardThread } from './shard-thread.ts';
import type { ShardCall, ShardSetup } from './wire.ts';

/**
 * Polls within the time limit. Counted rather than timed, so that a pause of the whole process reports no stuck thread.
 */
const PROBES_PER_TIMEOUT = 8;

/** Detects a thread whose event loop is blocked. */
interface Heartbeat {
  readonly clock: Pick<Clock, 'after'>;
  /** Time limit for an answer, milliseconds. A stuck thread is detected at most an eighth of it later. */
  readonly timeoutMs: Millis;
  /** Resolves while the thread is not stuck; rejects when it has ended. */
  readonly ping: () => Promise<unknown>;
  readonly onStuck: () => void;
}

/** Polls until the thread is stuck or has ended. Returns a function to call at any other sign of life. */
export function watchHeartbeat({ clock, timeoutMs, ping: ask, onStuck: stuck }: Heartbeat): () => void {
  let unanswered = 0;
  let isAsked = false;
  let cancel = (): void => {};
  const lives = (): void => {
    unanswered = 0;
  };
  const look = (): void => {
    if (unanswered >= PROBES_PER_TIMEOUT) {
      stuck();
      return;
    }
    if (!isAsked) {
      isAsked = true;
      ask().then(
        () => {
          isAsked = false;
          lives();
        },
        () => cancel(),
      );
    }
    unanswered += 1;
    cancel = clock.after(timeoutMs / PROBES_PER_TIMEOUT, look);
  };
  look();
  return lives;
}

/** Pause before senders retry messages that a lost thread did not answer, milliseconds. */
const RESTART_DELAY_MS = 50;
/**
 * Time without an answer after which a thread is stuck, milliseconds. A step takes microseconds; reading hundreds of
 * actors from a slow disk, or a machine with too many busy threads, may take a good part of a second.
 */
const HEARTBEAT_TIMEOUT_MS = 2000;
/** Pause between the assignment of a thread and the loading of the next spare, milliseconds. */
const SPARE_DELAY_MS = 250;
/** Heap limit of one thread, megabytes: its cache of actors and the memory of one step need a small part of it. */
const HEAP_MIB = 512;
/** Threads of one shard lost within a minute before the process gives up. */
const MAX_LOSSES: RestartLimit = { restarts: 10, within: 60_000 };
/** Threads that may be lost within a minute while steps of the same actor are computed. */
const MAX_LOSSES_BY_ACTOR: RestartLimit = { restarts: 2, within: 60_000 };

const NO_ACTOR = Promise.resolve();

/** Threads that host actors. */
export interface ShardOptions {
  /** Whole number, at least 2. */
  readonly count: number;
  /** URL of the module that exports, as `shardModule`, the definitions above and the partitions of the handlers. */
  readonly parts: string;
  /** Fault points to arm on each of the threads, as text. */
  readonly faults: string;
  /** Heap limit of one thread, megabytes. @default 512 */
  readonly memory?: number;
  /** Milliseconds without an answer after which a thread is stuck and replaced. @default 2000 */
  readonly heartbeatTimeoutMs?: number;
  /** Maximum number of lost threads of one shard. @default 10 within a minute */
  readonly losses?: RestartLimit;
  /** Called for each thread that is lost and replaced. */
  readonly onReplaced?: () => void;
  /** Called when a shard loses too many threads: the process must be restarted. */
  readonly onLost: (why: string) => void;
}

type Question = ShardCall extends infer Call ? (Call extends unknown ? Omit<Call, 'seq'> : never) : never;

/** A shard with its current thread. */
interface Shard {
  readonly index: number;
  thread: ShardThread | undefined;
  readonly calls: ShardCalls;
  /** True when calls are sent at the end of this turn. */
  isSending: boolean;
  losses: number;
  lastLoss: ShardStatus['lastLoss'];
}

export interface ShardedHostDependencies {
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly setup: ShardSetup;
  readonly definitions: ReadonlyMap<string, ActorDefinition>;
  readonly committed: (step: Step) => void;
  readonly tracing: Tracing | undefined;
}

export class ShardedHost implements ActorHost {
  readonly #share: NonNullable<ActorStore['shareWithThreads']>;
  readonly #shards: Shard[] = [];
  readonly #losses: Supervisor;
  readonly #lossesByActor = new Supervisor(MAX_LOSSES_BY_ACTOR);
  /** True once a thread has loaded the module: then it can be loaded, and a thread that fails is replaced. */
  #hasLoaded = false;
  /** All running threads, including those that still load. */
  readonly #threads = new Set<ShardThread>();
  #spare: ShardThread | undefined;
  #cancelSpare: () => void = () => {};
  #seq = 0;
  #closed = false;

  /** Starts the threads; messages wait for them. @throws {Fatal} `store.not-shared` */
  constructor(
    private readonly options: ShardOptions,
    private readonly parts: ShardedHostDependencies,
  ) {
    const { store } = parts;
    this.#losses = new Supervisor(options.losses ?? MAX_LOSSES);
    const { shareWithThreads: share } = store;
    if (share === undefined) {
      const { engine } = store.describe();
      throw new Fatal('store.not-shared', `Only one thread can use a store of the kind ${engine}.`);
    }
    this.#share = share.bind(store);
    for (let index = 0; index < options.count; index += 1) {
      const shard: Shard = {
        index,
        thread: undefined,
        calls: new ShardCalls(),
        isSending: false,
        losses: 0,
        lastLoss: null,
      };
      this.#shards.push(shard);
      void this.#assignShard(shard, this.#newThread(), NO_ACTOR);
    }
  }

  get awake(): number {
    return this.#shards.reduce((sum, { calls }) => sum + calls.size, 0);
  }

  /** Hashes kind and id with FNV-1a, which distributes ids that differ in their last characters only. */
  shardOf({ kind, id }: ActorAddress): number {
    let hash = 0x811c9dc5;
    for (const text of [kind, '/', id])
      for (let at = 0; at < text.length; at += 1)
        hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
    return hash % this.options.count;
  }

  create(address: ActorAddress, input: Json, delivery: MessageDelivery = {}): Promise<StepOutcome> {
    return tracedStep(this.parts.tracing, address, {
      event: 'CREATE',
      delivery,
      step: (traced) => this.#outcome({ call: 'create', address, input, delivery: traced }),
    });
  }

  send(address: ActorAddress, event: ActorEvent, options?: SendOptions): Promise<StepOutcome> {
    return this.deliver(address, event, options ?? {});
  }

  deliver(address: ActorAddress, event: ActorEvent, delivery: MessageDelivery): Promise<StepOutcome> {
    return tracedStep(this.parts.tracing, address, {
      event: event.type,
      delivery,
      step: (traced) => this.#outcome({ call: 'deliver', address, event, delivery: traced }),
    });
  }

  restart(address: ActorAddress): Promise<StepOutcome> {
    return this.#outcome({ call: 'restart', address });
  }

  end(address: ActorAddress): Promise<StepOutcome> {
    return this.#outcome({ call: 'end', address });
  }

  async settle(address: ActorAddress, effect: EffectKey, letter?: DeadLetterValue): Promise<void> {
    await this.#request({ call: 'settle', address, effect, letter });
  }

  async read(address: ActorAddress): Promise<CommittedActor | undefined> {
    const stored = await this.parts.store.load(address);
    return stored && { ...viewOf(stored), revision: stored.revision, stopped: stored.stopped !== null };
  }

  async reports(): Promise<readonly HostReport[]> {
    const reports = await Promise.all(
      this.#shards.map(({ thread }) => thread?.report().catch(() => undefined)),
    );
    return reports.filter((report) => report !== undefined);
  }

  shardStatus(): readonly ShardStatus[] {
    return this.#shards.map(({ index, thread, losses, lastLoss }) => ({
      shard: index,
      housed: thread !== undefined,
      losses,
      lastLoss,
    }));
  }

  /** Ends the threads; unanswered calls are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelSpare();
    await Promise.all([...this.#threads].map((thread) => thread.close()));
    for (const { calls } of this.#shards) calls.drop(stopping());
  }

  /** Ends a shard's thread as a crash does. For tests. */
  async crash(index: number): Promise<void> {
    const shard = this.#shards[index];
    while (shard !== undefined && shard.thread === undefined) await this.parts.clock.sleep(RESTART_DELAY_MS);
    await shard?.thread?.terminate('It was told to.');
  }

  async #outcome(question: Question): Promise<StepOutcome> {
    const outcome = await this.#request(question);
    if (outcome === null) throw new Fatal('internal', 'A thread answered a message without an outcome.');
    return outcome;
  }

  #request(question: Question): Promise<StepOutcome | null> {
    const shard = this.#shards[this.shardOf(question.address)];
    if (shard === undefined || this.#closed) return Promise.reject(stopping());
    const { address } = question;
    // Checked before the call crosses: a thread must not drown in what it refuses.
    if (!isInternal('delivery' in question ? question.delivery : undefined)) {
      const key = addressKey(address);
      const limit = mailboxLimitOf(this.parts.definitions, address.kind);
      // One is in progress beside those that wait.
      if (shard.calls.depth(key) > limit) return Promise.reject(mailboxFull(key, limit));
    }
    const answer = shard.calls.add(this.#numbered(question));
    this.#sendSoon(shard);
    return answer;
  }

  #numbered(question: Question): ShardCall {
    this.#seq += 1;
    return { ...question, seq: this.#seq } as ShardCall;
  }

  /** Sends the calls of one turn together. */
  #sendSoon(shard: Shard): void {
    if (shard.isSending || !shard.calls.hasNext) return;
    shard.isSending = true;
    setImmediate(() => {
      shard.isSending = false;
      this.#send(shard);
    });
  }

  /** While the shard has no thread, calls wait for the next one. */
  #send({ thread, calls }: Shard): void {
    if (thread === undefined) return;
    const texts = calls.dequeue();
    if (texts.length > 0) thread.send(texts);
  }

  #newThread(): ShardThread {
    const { parts, memory = HEAP_MIB } = this.options;
    const thread = new ShardThread({ parts, memory, setup: this.parts.setup, share: this.#share });
    this.#threads.add(thread);
    return thread;
  }

  /**
   * Assigns a thread to a shard, and another one when that fails.
   * @param vacated resolves when the previous thread sends nothing more
   */
  async #assignShard(shard: Shard, thread: ShardThread, vacated: Promise<void>): Promise<void> {
    await vacated;
    try {
      await thread.loaded;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (this.#hasLoaded) this.#replace(shard, thread, why);
      else this.#giveUp(shard, why, `The module for the threads cannot be loaded: ${why}`);
      return;
    }
    this.#hasLoaded = true;
    if (this.#closed) return;
    const { calls } = shard;
    shard.thread = thread;
    calls.start();
    const lives = this.#watch(thread);
    thread.assign(shard.index, {
      log: this.parts.log,
      onCommitted: ({ serial, steps }) => {
        lives();
        for (const step of steps) {
          announce(this.parts.committed, this.parts.log, step);
          calls.onStep(step);
        }
        calls.onCommitted(serial);
        this.#sendSoon(shard);
      },
      onAnswer: (answers) => {
        lives();
        calls.onAnswer(answers);
        this.#sendSoon(shard);
      },
      onExit: (why) => this.#replace(shard, thread, why),
    });
    this.#send(shard);
    this.#startSpare();
  }

  /** Loading takes processor time; calls waiting for the newly assigned thread come first. */
  #startSpare(): void {
    this.#cancelSpare();
    this.#cancelSpare = this.parts.clock.after(SPARE_DELAY_MS, () => {
      this.#spare ??= this.#newThread();
    });
  }

  /** Handles the end of the thread of a shard. */
  #replace(shard: Shard, thread: ShardThread, why: string): void {
    if (this.#closed) return;
    const { log, clock } = this.parts;
    const { onReplaced } = this.options;
    const actor = thread.computing;
    this.#threads.delete(thread);
    shard.thread = undefined;
    shard.losses += 1;
    shard.lastLoss = { at: clock.now(), why, actor: actor ?? null };
    const blamed =
      actor !== undefined && this.#lossesByActor.recordFailure(actor, clock.elapsed()) === 'stop';
    log.error('A thread that hosts actors was lost and is replaced.', {
      Shard: shard.index,
      Error: why,
      Actor: actor,
      Losses: shard.losses,
      ActorStopped: blamed,
    });
    onReplaced?.();
    if (this.#losses.recordFailure(String(shard.index), clock.elapsed()) === 'stop') {
      this.#giveUp(shard, why, `Shard ${shard.index} lost its thread again and again: ${why}`);
      return;
    }
    const next = this.#spare ?? this.#newThread();
    this.#spare = undefined;
    const vacated = thread.revoke().then(() => {
      shard.calls.rejectGuilty(actor, lost(why));
      if (blamed) this.#stopShard(shard, actor, why);
    });
    void this.#assignShard(shard, next, vacated);
  }

  #giveUp({ calls }: Shard, why: string, fault: string): void {
    if (this.#closed) return;
    calls.drop(lost(why));
    this.options.onLost(fault);
  }

  /** Before any other message, the next thread stops an actor that has crashed too many threads. */
  #stopShard(shard: Shard, actor: string, why: string): void {
    const slash = actor.indexOf('/');
    const address = { kind: actor.slice(0, slash), id: actor.slice(slash + 1) };
    const error = `Its steps ended the threads they ran on: ${why}`;
    shard.calls.addFirst(this.#numbered({ call: 'giveUp', address, error })).catch((error: unknown) => {
      this.parts.log.error('An actor could not be stopped.', {
        Actor: actor,
        ...describeFailure(error),
      });
    });
  }

  /** Replaces a thread that does not answer. */
  #watch(thread: ShardThread): () => void {
    const { clock } = this.parts;
    const { heartbeatTimeoutMs = HEARTBEAT_TIMEOUT_MS } = this.options;
    return watchHeartbeat({
      clock,
      timeoutMs: heartbeatTimeoutMs,
      ping: () => thread.ping(),
      onStuck: () => void thread.terminate(`It did not answer for ${heartbeatTimeoutMs} milliseconds.`),
    });
  }
}

function lost(why: string): Retryable {
  return new Retryable('shard.lost', `The thread of the actor was lost: ${why}`, RESTART_DELAY_MS);
}

function stopping(): Retryable {
  return new Retryable('runtime.stopping', 'The runtime is stopping.');
}
