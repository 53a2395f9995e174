/** Records the content of an input path that watchers keep ignoring after its job is cleared. */

import { type ActorView, type Calls, defineActor, type Row } from '@sealwright/runtime';
import type { FileStamp } from '../../../machines/batch/job-context.ts';
import {
  type ProcessedPath,
  processedPathMachine,
  REMOVED_STATE,
} from '../../../machines/batch/processed-path.ts';
import type { JobId } from '../../../machines/ids.ts';
import { PATH_ROW } from '../job-records/job-index.ts';

/** Placed next to the row of the path's newest job, so that one read finds both, the job first. */
function processedPathRows({ context }: ActorView<ProcessedPath>): readonly Row[] {
  const { pathKey, jobId, size, mtimeMs, etag } = context;
  const stamp = { size, mtimeMs, ...(etag !== undefined && { etag }) };
  const value = PATH_ROW.write({ id: jobId, closed: true, ...stamp });
  return [{ view: 'paths', key: [pathKey, 'kept'], value }];
}

export const PROCESSED_PATH = defineActor('kept-path', {
  machine: processedPathMachine,
  version: 1,
  rows: processedPathRows,
  ends: ({ state }) => state === REMOVED_STATE,
});

/** True for the record of a cleared job. */
export function isProcessedPath(row: Row): boolean {
  return row.key.length > 1;
}

/** Resolves when visible; replaces an earlier record of the path. */
export async function recordProcessedPath(
  actors: Calls,
  pathKey: string,
  jobId: JobId,
  { size, mtimeMs, etag }: FileStamp,
): Promise<void> {
  const content = { jobId, size, mtimeMs, ...(etag !== undefined && { etag }) };
  const made = await actors.create(PROCESSED_PATH, pathKey, { pathKey, ...content });
  if (!made.accepted) await actors.send(PROCESSED_PATH, pathKey, { type: 'KEEP', ...content });
}

/** Removes the record: a new job owns the path. */
export async function removeProcessedPath(actors: Calls, pathKey: string): Promise<void> {
  await actors.send(PROCESSED_PATH, pathKey, { type: 'FORGET' });
}
