/** The interface of the place that hosts actors, and what it reports. */

import { performance } from 'node:perf_hooks';
import type { CommittedActor, SendOptions, StepOutcome } from '../model/definition.ts';
import type { ActorAddress, ActorEvent, EffectKey, Json, Millis, Row } from '../model/ports.ts';
import type { TraceContext } from '../model/tracing.ts';
import type { DeadLetterValue } from '../step/dead-letters.ts';

/** Shortest time that is measured: readers within it receive the same share. */
const MIN_WINDOW_MS = 1000;

/** Measures how busy the event loop of the current thread is. */
export class LoopUtilisation {
  #begin = performance.eventLoopUtilization();
  #last: number | undefined;

  /** Share of the time since the read before, 0 to 1; at first since the creation of this object. */
  read(): number {
    const current = performance.eventLoopUtilization();
    const { idle, active } = performance.eventLoopUtilization(current, this.#begin);
    const window = idle + active;
    if (this.#last !== undefined && window < MIN_WINDOW_MS) return this.#last;
    this.#last = window > 0 ? Math.min(1, Math.max(0, active / window)) : 0;
    this.#begin = current;
    return this.#last;
  }
}

/** Seconds that count as recent. */
const WINDOW = 60;

/**
 * Counts the messages of the actors of each kind since the start of the process, and their recent rate. Recording a
 * message costs two increments.
 */
export interface KindTraffic {
  /** Messages that led to a step. */
  readonly accepted: number;
  /** Messages that the machine did not accept, or that were duplicates. */
  readonly refused: number;
  /** Steps that threw; each left its actor in its last committed state. */
  readonly restarts: number;
  /** Messages per second over the last minute, or since the start if that is less. */
  readonly perSecond: number;
  /** Error of the last step that threw; null when none did. */
  readonly lastError: { readonly actor: string; readonly message: string } | null;
}

interface Tally {
  accepted: number;
  refused: number;
  restarts: number;
  lastError: KindTraffic['lastError'];
  /** Messages of each of the last seconds, and the second of each entry. */
  readonly counts: Int32Array;
  readonly seconds: Float64Array;
}

export class Traffic {
  readonly #elapsed: () => number;
  readonly #started: number;
  readonly #kinds = new Map<string, Tally>();

  /** @param elapsed monotonic milliseconds */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
    this.#started = elapsed();
  }

  recordMessage(kind: string, accepted: boolean): void {
    const tally = this.#tally(kind);
    if (accepted) tally.accepted += 1;
    else tally.refused += 1;
    const second = Math.floor(this.#elapsed() / 1000);
    const slot = second % WINDOW;
    if (tally.seconds[slot] !== second) {
      tally.seconds[slot] = second;
      tally.counts[slot] = 0;
    }
    tally.counts[slot] = (tally.counts[slot] ?? 0) + 1;
  }

  recordFailure(kind: string, actor: string, message: string): void {
    const tally = this.#tally(kind);
    tally.restarts += 1;
    tally.lastError = { actor, message };
  }

  /** Returns the traffic by kind, without idle kinds. */
  reports(): { readonly [kind: string]: KindTraffic } {
    return Object.fromEntries([...this.#kinds].map(([kind, tally]) => [kind, this.#report(tally)]));
  }

  #report(tally: Tally): KindTraffic {
    const now = this.#elapsed();
    const second = Math.floor(now / 1000);
    let recent = 0;
    for (const [slot, at] of tally.seconds.entries())
      if (at > second - WINDOW && at <= second) recent += tally.counts[slot] ?? 0;
    const span = Math.min(WINDOW, Math.max(1, (now - this.#started) / 1000));
    const { accepted, refused, restarts, lastError } = tally;
    return { accepted, refused, restarts, lastError, perSecond: recent / span };
  }

  #tally(kind: string): Tally {
    let tally = this.#kinds.get(kind);
    if (tally === undefined) {
      tally = {
        accepted: 0,
        refused: 0,
        restarts: 0,
        lastError: null,
        counts: new Int32Array(WINDOW),
        seconds: new Float64Array(WINDOW).fill(-1),
      };
      this.#kinds.set(kind, tally);
    }
    return tally;
  }
}

/** A message inside the runtime: the arguments of `send` and its cause. */
export interface MessageDelivery {
  readonly id?: string | undefined;
  /** The effect whose outcome the event is. Settled also when the actor does not accept the event. */
  readonly settles?: EffectKey | undefined;
  /** The deadline that fired. Removed also when the actor does not accept the event. */
  readonly timer?: { readonly name: string; readonly due: Millis } | undefined;
  /** See `Step.call`. */
  readonly call?: number | undefined;
  /** True: an event that the actor does not accept is kept as a dead letter. */
  readonly keeps?: true | undefined;
  /** True: an event that the actor does not accept settles no effect; its delivery is repeated later. */
  readonly waits?: true | undefined;
  /** Key of the dead letter that the event is from: the step that takes the event removes it. */
  readonly letter?: Row['key'] | undefined;
  /** The trace that the step continues. */
  readonly trace?: TraceContext | undefined;
}

/** Activity of one thread that hosts actors. */
export interface HostReport {
  readonly shard: number;
  /** `main`, or the number of the worker thread. */
  readonly thread: string;
  /** Actors with a message in progress or waiting: kind and id, and the number of messages. */
  readonly mailboxes: readonly (readonly [actor: string, depth: number])[];
  readonly traffic: { readonly [kind: string]: KindTraffic };
  /** Commit latency of steps, milliseconds. */
  readonly commit: { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number };
  /** Share of time in which the event loop of the thread was busy, 0 to 1. */
  readonly utilisation: number;
  /** Delay of the thread's timers; missing for the main thread. */
  readonly eventLoopDelay?: { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number };
}

/** State of the threads of one shard. */
export interface ShardStatus {
  readonly shard: number;
  /** False while its thread is being replaced; messages wait meanwhile. */
  readonly housed: boolean;
  /** Threads lost since the process began. */
  readonly losses: number;
  /** `actor`: kind and id of the one whose step was being computed; null when none was. */
  readonly lastLoss: { readonly at: Millis; readonly why: string; readonly actor: string | null } | null;
}

/** The place that hosts actors: this thread, or others. Addresses are untyped here; `ActorSystem` has the types. */
export interface ActorHost {
  create(address: ActorAddress, input: Json, delivery?: MessageDelivery): Promise<StepOutcome>;
  send(address: ActorAddress, event: ActorEvent, options?: SendOptions): Promise<StepOutcome>;
  // biome-ignore lint/suspicious/noExplicitAny: `ActorSystem.read` gives the context its type.
  read(address: ActorAddress): Promise<CommittedActor<any> | undefined>;
  /** Actors with a message in progress or waiting; on other threads: unanswered messages. */
  readonly awake: number;
  /** Sends a message, also for the runtime itself. */
  deliver(address: ActorAddress, event: ActorEvent, delivery: MessageDelivery): Promise<StepOutcome>;
  /** Settles an effect without a message to the actor, because the actor no longer exists or accepts none. */
  settle(address: ActorAddress, effect: EffectKey, letter?: DeadLetterValue): Promise<void>;
  /** Restarts a stopped actor in its last state. `not-accepted` when it is not stopped. */
  restart(address: ActorAddress): Promise<StepOutcome>;
  /** Ends an actor in any state, as `ActorDefinition.ends` does. */
  end(address: ActorAddress): Promise<StepOutcome>;
  /** Refuses messages from the call on; resolves once every step is committed and observed. */
  close(): Promise<void>;
  /** Number of the thread that hosts an actor. */
  shardOf(address: ActorAddress): number;
  /** Returns one entry for each thread that answers. */
  reports(): Promise<readonly HostReport[]>;
  /** Returns one entry for each shard. */
  shardStatus(): readonly ShardStatus[];
}
