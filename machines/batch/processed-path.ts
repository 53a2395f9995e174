/**
 * The record of a cleared job whose input is still in its folder: the watcher does not enqueue that content again.
 *
 * | from | message | to        | effects |
 * |------|---------|-----------|---------|
 * | Kept | KEEP    | Kept      |         |
 * | Kept | FORGET  | Forgotten |         |
 *
 * Forgotten is not stored: the actor ends.
 *
 * Source: docs/batch-values.md §0 (12), §7.
 */
import type { JobId, Millis } from '../ids.ts';
import { recordMachine } from '../record.ts';
import type { FileStamp } from './job-context.ts';

export const REMOVED_STATE = 'Forgotten';

export interface ProcessedPath extends FileStamp {
  readonly pathKey: string;
  /** The job that was cleared. */
  readonly jobId: JobId;
}

export type ProcessedPathMessage = { readonly at: Millis } & (
  | ({ readonly type: 'KEEP'; readonly jobId: JobId } & FileStamp)
  | { readonly type: 'FORGET' }
);

export const processedPathMachine = recordMachine<ProcessedPath, ProcessedPathMessage>({
  id: 'kept-path',
  state: 'Kept',
  context: (input) => input,
  changes: {
    KEEP: (_, { jobId, size, mtimeMs, etag }) => ({
      context: { jobId, size, mtimeMs, ...(etag !== undefined && { etag }) },
    }),
  },
  end: { state: REMOVED_STATE, endedBy: ['FORGET'] },
});
