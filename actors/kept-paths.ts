/** Remembers, beyond the life of a cleared job, which content of an input path no watcher is to take again. */
import type { JobId } from '../machines/ids.ts';
import type { FileStamp } from '../machines/job-context.ts';
import { FORGOTTEN, type KeptPath, keptPathMachine } from '../machines/kept-path.ts';
import type { ActorDefinition, ActorSystem, ActorView, Row } from '../runtime/index.ts';
import type { PathRow } from './job-index.ts';

const KEPT_PATH = 'kept-path';

/** Beside the row of the path's newest job, so that one look finds both, the job first. */
function keptRows({ context }: ActorView): readonly Row[] {
  const { pathKey, jobId, size, mtimeMs } = context as KeptPath;
  const value: PathRow = { id: jobId, closed: true, size, mtimeMs };
  return [{ view: 'paths', key: [pathKey, 'kept'], value: { ...value } }];
}

export const keptPathDefinition: ActorDefinition = {
  kind: KEPT_PATH,
  machine: keptPathMachine,
  version: 1,
  rows: keptRows,
  ends: ({ state }) => state === FORGOTTEN,
};

/** True for the row that a cleared job left. */
export function isKept(row: Row): boolean {
  return row.key.length > 1;
}

/** Resolves when visible; a later content takes the place of an earlier one. */
export async function keepPath(
  system: ActorSystem,
  pathKey: string,
  jobId: JobId,
  { size, mtimeMs }: FileStamp,
): Promise<void> {
  const address = { kind: KEPT_PATH, id: pathKey };
  const made = await system.create(address, { pathKey, jobId, size, mtimeMs });
  if (!made.accepted) await system.tell(address, { type: 'KEEP', jobId, size, mtimeMs });
}

/** A new job has the path now. */
export async function forgetPath(system: ActorSystem, pathKey: string): Promise<void> {
  await system.tell({ kind: KEPT_PATH, id: pathKey }, { type: 'FORGET' });
}
