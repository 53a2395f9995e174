/** The interface of the place that hosts actors, and what it reports. */
import type { CommittedActor, SendOptions, StepOutcome } from '../model/definition.ts';
import type { ActorAddress, ActorEvent, EffectKey, Json, Millis } from '../model/ports.ts';
import type { KindTraffic } from './traffic.ts';

/** A message inside the runtime: the arguments of `send` and its cause. */
export interface MessageDelivery {
  readonly id?: string | undefined;
  /** The effect whose outcome the event is. Settled also when the actor does not accept the event. */
  readonly settles?: EffectKey | undefined;
  /** The deadline that fired. Removed also when the actor does not accept the event. */
  readonly timer?: { readonly name: string; readonly due: Millis } | undefined;
  /** See `Step.call`. */
  readonly call?: number | undefined;
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
  create(address: ActorAddress, input: Json): Promise<StepOutcome>;
  send(address: ActorAddress, event: ActorEvent, options?: SendOptions): Promise<StepOutcome>;
  // biome-ignore lint/suspicious/noExplicitAny: `ActorSystem.read` gives the context its type.
  read(address: ActorAddress): Promise<CommittedActor<any> | undefined>;
  /** Actors with a message in progress or waiting; on other threads: unanswered messages. */
  readonly awake: number;
  /** Sends a message, also for the runtime itself. */
  deliver(address: ActorAddress, event: ActorEvent, delivery: MessageDelivery): Promise<StepOutcome>;
  /** Settles an effect without a message to the actor, because the actor no longer exists or accepts none. */
  settle(address: ActorAddress, effect: EffectKey): Promise<void>;
  /** Restarts a stopped actor in its last state. `not-accepted` when it is not stopped. */
  restart(address: ActorAddress): Promise<StepOutcome>;
  /** Number of the thread that hosts an actor. */
  shardOf(address: ActorAddress): number;
  /** Returns one entry for each thread that answers. */
  reports(): Promise<readonly HostReport[]>;
  /** Returns one entry for each shard. */
  shardStatus(): readonly ShardStatus[];
}
