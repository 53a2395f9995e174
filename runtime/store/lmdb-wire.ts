/** What passes between the store and its writing thread. Plain data only. */
import type { MessagePort } from 'node:worker_threads';
import type { FaultAction } from '../faults.ts';
import type { Committed, EffectKey, Millis } from '../ports.ts';

/** One write of a group: a step, or a later time for an effect. */
export type Write =
  | { readonly type: 'step'; readonly step: string }
  | { readonly type: 'defer'; readonly key: EffectKey; readonly until: Millis; readonly error: string };

export type ToWriter =
  /** Steps travel as JSON text: one string is cheaper to hand over than the tree it stands for. */
  | { readonly type: 'group'; readonly writes: readonly Write[]; readonly fault: FaultAction | undefined }
  /** Another thread writes too, over this port. */
  | { readonly type: 'attach'; readonly thread: number; readonly port: MessagePort }
  | { readonly type: 'close' };

export type FromWriter =
  | {
      readonly type: 'done';
      /** Per write, in order: the refusal of a step, null when it was written. */
      readonly refusals: readonly (Exclude<Committed, { ok: true }> | null)[];
      /** Effects that are no longer leased. */
      readonly gone: readonly EffectKey[];
      /** Counts the groups of one attached thread; see `foreign`. 0 for the thread that started the writer. */
      readonly serial: number;
    }
  /** To the thread that started the writer: what another thread has written, in the order of the store. */
  | {
      readonly type: 'foreign';
      /** As it was attached. */
      readonly thread: number;
      readonly serial: number;
      /** JSON of the steps that were written. */
      readonly steps: readonly string[];
      readonly gone: readonly EffectKey[];
    }
  /** To the same: that thread writes nothing more, and all it wrote has been told. */
  | { readonly type: 'detached'; readonly thread: number }
  /** Nothing of the group was written. */
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'closed' };
