/**
 * What is left of a cleared job whose input still lies where it was: the watcher does not take that content again.
 *
 * | from | event  | to        | effects |
 * |------|--------|-----------|---------|
 * | Kept | KEEP   | Kept      |         |
 * | Kept | FORGET | Forgotten |         |
 *
 * Forgotten is no state that is kept: the actor ends.
 *
 * Source: Batch Signing Service API, "What the service does" 12; batch-gaps §7, "Not re-enqueued by the watcher".
 */
import { assign, setup } from 'xstate';
import type { JobId, Millis } from './ids.ts';
import type { FileStamp } from './job-context.ts';

export const FORGOTTEN = 'Forgotten';

export interface KeptPath extends FileStamp {
  readonly pathKey: string;
  /** The job that was cleared. */
  readonly jobId: JobId;
}

export type KeptPathEvent = { readonly at: Millis } & (
  | { readonly type: 'KEEP'; readonly jobId: JobId; readonly size: number; readonly mtimeMs: number }
  | { readonly type: 'FORGET' }
);

export const keptPathMachine = setup({
  types: { context: {} as KeptPath, input: {} as KeptPath, events: {} as KeptPathEvent },
}).createMachine({
  id: 'kept-path',
  context: ({ input }) => input,
  initial: 'Kept',
  states: {
    Kept: {
      on: {
        KEEP: {
          actions: assign(({ event: { jobId, size, mtimeMs } }) => ({ jobId, size, mtimeMs })),
        },
        FORGET: FORGOTTEN,
      },
    },
    [FORGOTTEN]: {},
  },
});
