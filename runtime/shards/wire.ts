/**
 * The wire between the main thread and the threads that host actors. Plain data; failures cross as data too, because
 * an error loses its members on the way. Calls and answers go in batches, one per turn of an event loop.
 */
import type { MessagePort } from 'node:worker_threads';
import type { ActorDefinition, ActorView, StepOutcome } from '../definition.ts';
import type { Delivery, HostReport } from '../host.ts';
import type { ActorAddress, ActorEvent, EffectKey, Json, LogProperties, SharedStore } from '../ports.ts';
import type { RestartLimit } from '../supervisor.ts';

/** What a module for the threads exports as `shardParts`: what cannot be sent to them. */
export interface ShardParts {
  readonly definitions: readonly ActorDefinition[];
  /** The lane of each effect whose handler has lanes: the same function as that handler's. */
  readonly lanes: { readonly [effect: string]: (effect: { readonly [field: string]: Json }) => string };
}

export interface ShardSetup {
  /** Names of all effects somebody does. */
  readonly effects: readonly string[];
  readonly cached: number;
  readonly restarts: RestartLimit;
  /** Fault points to arm, as text. */
  readonly faults: string;
}

export type ShardCall = { readonly seq: number } & (
  | { readonly call: 'create'; readonly address: ActorAddress; readonly input: Json }
  | {
      readonly call: 'deliver';
      readonly address: ActorAddress;
      readonly event: ActorEvent;
      readonly delivery: Delivery;
    }
  | { readonly call: 'settle'; readonly address: ActorAddress; readonly effect: EffectKey }
  | { readonly call: 'restart'; readonly address: ActorAddress }
  | { readonly call: 'giveUp'; readonly address: ActorAddress; readonly error: string }
);

/** A `StepOutcome` without its promise: a thread answers once the step is durable. */
export type PlainOutcome =
  | { readonly accepted: true; readonly actor: ActorView; readonly revision: number }
  | Extract<StepOutcome, { accepted: false }>;

export interface PlainFailure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly retryAfter: number | undefined;
}

export type ShardAnswer = {
  readonly seq: number;
  /** The main thread is to have heard of all groups of steps up to this one before it passes the answer on. */
  readonly serial: number;
} /** Null where there is none, and where it is known from the step, which is heard of before. */ & (
  | { readonly ok: true; readonly outcome: PlainOutcome | null }
  | { readonly ok: false; readonly failure: PlainFailure }
);

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** What the main thread may ask of such a thread. */
export interface ShardApi {
  /** Makes it the home of one shard's actors; to be called once. */
  begin(shard: number): void;
  /**
   * Resolves, once there are any, with the answers that are ready, of these calls or of others; the rest come by
   * themselves (`FromShard`), each as soon as it is known.
   */
  take(calls: readonly ShardCall[]): Promise<readonly ShardAnswer[]>;
  report(): Promise<HostReport>;
  /** Answers once everything its actors need is there, and while the thread is not stuck. */
  ping(): true;
}

/** What such a thread tells unasked. */
export type FromShard =
  | { readonly type: 'answers'; readonly answers: readonly ShardAnswer[] }
  | {
      readonly type: 'log';
      readonly level: LogLevel;
      readonly text: string;
      readonly properties: LogProperties | undefined;
    };

/** Given to a thread when it starts. */
export interface ShardThreadData {
  readonly port: MessagePort;
  /** URL of the module with the `shardParts`. */
  readonly parts: string;
  /** Of the `WorkMark`. */
  readonly mark: SharedArrayBuffer;
  readonly store: SharedStore;
  readonly setup: ShardSetup;
}
