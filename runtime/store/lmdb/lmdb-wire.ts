/** Messages between the store and its writing thread. Plain data only. */
import type { MessagePort } from 'node:worker_threads';
import type { FaultAction } from '../../model/faults.ts';
import type { Committed, EffectKey, Millis, RestingActor, Row } from '../../model/ports.ts';
import type { LooseRange } from './lmdb-refill.ts';

/**
 * Maximum number of writes in one message. A transaction takes messages until it has as many writes, so it has less than
 * twice this number; that bounds its latency.
 */
export const GROUP_LIMIT = 512;

/** Makes ended actors small. */
export interface PackWrite {
  readonly type: 'pack';
  readonly actors: readonly RestingActor[];
  readonly node: string;
  readonly until: Row['key'];
}

/** Fills pages, and notes the transaction up to which that was done. */
export interface RefillWrite {
  readonly type: 'refill';
  readonly ranges: readonly LooseRange[];
  readonly until: number;
}

/** A write that is no step. */
export type MaintenanceWrite =
  /** Changes the due time of an effect. `error` null: it did not fail. */
  | {
      readonly type: 'defer-effect';
      readonly key: EffectKey;
      readonly until: Millis;
      readonly error: string | null;
    }
  /** Removes effects that are done. */
  | { readonly type: 'settle-effects'; readonly keys: readonly EffectKey[] }
  | PackWrite
  | RefillWrite
  /** Writes all pending changes of the state index. */
  | { readonly type: 'settle-state-index' };

/**
 * One write of a group. A step is the text of `stepText`, since one string is cheaper to transfer than the object tree;
 * the writing thread decodes it to a `PlannedStep`.
 */
export type Write = string | MaintenanceWrite;

export type ToWriter =
  | { readonly type: 'group'; readonly writes: readonly Write[]; readonly fault: FaultAction | undefined }
  /** Attaches another thread, which writes over this port. */
  | { readonly type: 'attach'; readonly thread: number; readonly port: MessagePort }
  /** Detaches that thread; its earlier writes are completed. Answered by `detached`. */
  | { readonly type: 'detach'; readonly thread: number }
  | { readonly type: 'close' };

/** Writes of an attached thread. */
export interface ForwardedGroup {
  /** Number of the attachment. */
  readonly thread: number;
  readonly serial: number;
  /** The written steps, as `stepText` encodes them. */
  readonly steps: readonly string[];
  readonly gone: readonly EffectKey[];
}

export type FromWriter =
  | {
      readonly type: 'done';
      /** Per write, in the order of all posted writes: the refusal of a step, null when it was written. */
      readonly refusals: readonly (Exclude<Committed, { ok: true }> | null)[];
      /** Effects that are no longer leased. */
      readonly gone: readonly EffectKey[];
      /** Counts the answers to one attached thread; see `foreign`. 0 for the thread that started the writer. */
      readonly serial: number;
    }
  /** To the thread that started the writer: writes of other threads, in store order. */
  | { readonly type: 'foreign'; readonly groups: readonly ForwardedGroup[] }
  /** To the same thread: the detached thread writes nothing more, and all its writes were reported. */
  | { readonly type: 'detached'; readonly thread: number }
  /** None of the next `writes` was written. */
  | { readonly type: 'failed'; readonly writes: number; readonly message: string; readonly full: boolean }
  | { readonly type: 'closed' };
