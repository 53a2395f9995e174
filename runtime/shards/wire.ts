/**
 * Messages between the main thread and the threads that host actors. Plain data; failures are encoded too, because an
 * error loses its members between threads. Calls and answers are sent in batches, one per turn of an event loop.
 */
import type { HostReport, MessageDelivery } from '../host/actor-host.ts';
import type { RestartLimit } from '../host/supervisor.ts';
import type { ActorDefinition, StepOutcome } from '../model/definition.ts';
import {
  describeFailure,
  Fatal,
  isRetryable,
  Retryable,
  retryAfterOf,
  retryableOf,
} from '../model/failures.ts';
import type {
  ActorAddress,
  ActorEvent,
  EffectKey,
  Json,
  LogProperties,
  SharedStore,
} from '../model/ports.ts';
import type { DeadLetterValue } from '../step/dead-letters.ts';

/** Bytes of kind, slash and id: texts in keys have at most 400 bytes each. */
const MAX_LENGTH = 1024;

/**
 * Records the actor whose step a thread is computing, in memory that outlives the thread: it identifies the actor whose
 * step never ends or exhausts the memory.
 */
export class ComputingMark {
  /** Memory to pass to the thread. */
  readonly memory: SharedArrayBuffer;
  readonly #length: Int32Array;
  readonly #text: Buffer;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(4 + MAX_LENGTH)) {
    this.memory = memory;
    this.#length = new Int32Array(memory, 0, 1);
    this.#text = Buffer.from(memory, 4, MAX_LENGTH);
  }

  /** The key of the actor; undefined while no step is computed. */
  get actor(): string | undefined {
    const length = Atomics.load(this.#length, 0);
    return length === 0 ? undefined : this.#text.toString('utf8', 0, length);
  }

  set actor(key: string | undefined) {
    Atomics.store(this.#length, 0, key === undefined ? 0 : this.#text.write(key));
  }
}

/** Encodes failures between threads. */
export function plainFailure(error: unknown): PlainFailure {
  return {
    ...describeFailure(error),
    retryable: retryableOf(error),
    retryAfter: isRetryable(error) ? retryAfterOf(error) : undefined,
  };
}

export function failureOf({ code, message, retryable, retryAfter }: PlainFailure): Error {
  if (retryable === true) return new Retryable(code, message, retryAfter);
  if (retryable === false) return new Fatal(code, message);
  return Object.assign(new Error(message), { code });
}

/** The `shardModule` that a module for the threads exports: values that cannot be sent to them. */
export interface ShardModule {
  readonly definitions: readonly ActorDefinition[];
}

export interface ShardSetup {
  /** Names of all effects with a handler. */
  readonly effects: readonly string[];
  readonly cached: number;
  readonly restarts: RestartLimit;
  /** Fault points to arm, as text. */
  readonly faults: string;
}

export type ShardCall = { readonly seq: number } & (
  | {
      readonly call: 'create';
      readonly address: ActorAddress;
      readonly input: Json;
      readonly delivery: MessageDelivery;
    }
  | {
      readonly call: 'deliver';
      readonly address: ActorAddress;
      readonly event: ActorEvent;
      readonly delivery: MessageDelivery;
    }
  | {
      readonly call: 'settle';
      readonly address: ActorAddress;
      readonly effect: EffectKey;
      readonly letter: DeadLetterValue | undefined;
    }
  | { readonly call: 'restart'; readonly address: ActorAddress }
  | { readonly call: 'end'; readonly address: ActorAddress }
  | { readonly call: 'giveUp'; readonly address: ActorAddress; readonly error: string }
);

export interface PlainFailure {
  readonly code: string;
  readonly message: string;
  /** Undefined: a plain error. */
  readonly retryable: boolean | undefined;
  readonly retryAfter: number | undefined;
}

/** Answer to a call that has no step. The step of an accepted message contains its outcome, and arrives from the store. */
export type ShardAnswer = {
  readonly seq: number;
  /** The main thread must receive all groups of steps up to this one before it forwards the answer. */
  readonly serial: number;
} /** Null if there is none. */ & (
  | { readonly ok: true; readonly outcome: StepOutcome | null }
  | { readonly ok: false; readonly failure: PlainFailure }
);

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/**
 * Messages of the main thread to a shard thread: the shard whose actors it hosts, sent once and first; then lists of
 * calls as JSON, since one text is cheaper to transfer than the object tree (docs/performance.md, "Several threads").
 */
export type ToShard = { readonly shard: number } | string;

/** Requests of the main thread to a shard thread that are answered one by one. */
export interface ShardApi {
  report(): Promise<HostReport>;
  /** Resolves once the thread has loaded everything its actors need, and while it is not stuck. */
  ping(): true;
}

/** Messages of a shard thread without a request. */
export type FromShard =
  | { readonly type: 'answers'; readonly answers: readonly ShardAnswer[] }
  | {
      readonly type: 'log';
      readonly level: LogLevel;
      readonly text: string;
      readonly properties: LogProperties | undefined;
    };

/** Parameters of a new shard thread. */
export interface ShardThreadData {
  /** A `MessagePort`; see `SharedStore.port`. */
  readonly port: object;
  /** URL of the module with the `shardModule`. */
  readonly parts: string;
  /** Memory of the `ComputingMark`. */
  readonly mark: SharedArrayBuffer;
  readonly store: SharedStore;
  readonly setup: ShardSetup;
}
