/** Records the content of an input path that watchers keep ignoring after its job is cleared. */

import { type ActorSystem, type ActorView, actorKind, defineActor, type Row } from '@sealwright/runtime';
import type { FileStamp } from '../../../machines/batch/job-context.ts';
import {
  type ProcessedPath,
  processedPathMachine,
  REMOVED_STATE,
} from '../../../machines/batch/processed-path.ts';
import type { JobId } from '../../../machines/ids.ts';
import { PATH_ROW } from '../job-records/job-index.ts';

const PROCESSED_PATH = actorKind<typeof processedPathMachine>('kept-path');

/** Placed next to the row of the path's newest job, so that one read finds both, the job first. */
function processedPathRows({ context }: ActorView<ProcessedPath>): readonly Row[] {
  const { pathKey, jobId, size, mtimeMs, etag } = context;
  const stamp = { size, mtimeMs, ...(etag !== undefined && { etag }) };
  const value = PATH_ROW.write({ id: jobId, closed: true, ...stamp });
  return [{ view: 'paths', key: [pathKey, 'kept'], value }];
}

export const processedPathDefinition = defineActor(PROCESSED_PATH, {
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
  system: ActorSystem,
  pathKey: string,
  jobId: JobId,
  { size, mtimeMs, etag }: FileStamp,
): Promise<void> {
  const address = { kind: PROCESSED_PATH, id: pathKey };
  const content = { jobId, size, mtimeMs, ...(etag !== undefined && { etag }) };
  const made = await system.create(address, { pathKey, ...content });
  if (!made.accepted) await system.send(address, { type: 'KEEP', ...content });
}

/** Removes the record: a new job owns the path. */
export async function removeProcessedPath(system: ActorSystem, pathKey: string): Promise<void> {
  await system.send({ kind: PROCESSED_PATH, id: pathKey }, { type: 'FORGET' });
}
