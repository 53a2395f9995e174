/** What passes between the store and its writing thread. Plain data only. */
import type { MessagePort } from 'node:worker_threads';
import type { FaultAction } from '../faults.ts';
import type { Committed, EffectKey, Millis } from '../ports.ts';

/** Steps in one transaction at most, so that nobody waits for a very large one. */
export const GROUP_LIMIT = 512;

/**
 * One write of a group: a step, as `stepText` makes it, since one string is cheaper to hand over than the tree it stands
 * for; a later time for an effect; or all that rows and counters of the census lack.
 */
export type Write =
  | string
  | { readonly key: EffectKey; readonly until: Millis; readonly error: string | null }
  | { readonly settle: 'census' };

export type ToWriter =
  | { readonly type: 'group'; readonly writes: readonly Write[]; readonly fault: FaultAction | undefined }
  /** Another thread writes too, over this port. */
  | { readonly type: 'attach'; readonly thread: number; readonly port: MessagePort }
  /** That thread is not to write any more; what it has sent is written. Answered by `detached`. */
  | { readonly type: 'detach'; readonly thread: number }
  | { readonly type: 'close' };

/** What an attached thread wrote. */
export interface ForeignGroup {
  /** As it was attached. */
  readonly thread: number;
  readonly serial: number;
  /** JSON of the steps that were written. */
  readonly steps: readonly string[];
  readonly gone: readonly EffectKey[];
}

export type FromWriter =
  | {
      readonly type: 'done';
      /** Per write, in the order of all that were posted: the refusal of a step, null when it was written. */
      readonly refusals: readonly (Exclude<Committed, { ok: true }> | null)[];
      /** Effects that are no longer leased. */
      readonly gone: readonly EffectKey[];
      /** Counts the answers to one attached thread; see `foreign`. 0 for the thread that started the writer. */
      readonly serial: number;
    }
  /** To the thread that started the writer: what others have written, in the order of the store. */
  | { readonly type: 'foreign'; readonly groups: readonly ForeignGroup[] }
  /** To the same: that thread writes nothing more, and all it wrote has been told. */
  | { readonly type: 'detached'; readonly thread: number }
  /** Of the next `writes` nothing was written. */
  | { readonly type: 'failed'; readonly writes: number; readonly message: string }
  | { readonly type: 'closed' };
