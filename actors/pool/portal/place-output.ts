/** Puts the output of a task into its place among the files of the portal. */

import { closeSync, fsyncSync, openSync } from 'node:fs';
import type { BlobRef } from '../../../machines/portal/portal-types.ts';
import { placeBlob } from '../../shared/files/blob-placement.ts';
import type { PlacedOutput } from '../portal-tasks.ts';
import type { PortalTaskContext } from './portal-task-context.ts';

/** Syncs a file to disk. */
export function syncFile(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Resolves when it is durable under the name of its content. `synced`: result of `beginSync`. */
export function placeOutput(
  { output, blobs: folder }: PlacedOutput,
  { sha256, length }: BlobRef,
  { clock, disk }: PortalTaskContext,
  synced?: Promise<void>,
): Promise<void> {
  return placeBlob(output, { folder, sha256, length, at: clock.now(), disk, ...(synced && { synced }) });
}

/** Begins to sync a complete file, so that the disk writes while this thread checks the file. */
export function beginSync({ output }: PlacedOutput, { disk }: PortalTaskContext): Promise<void> {
  const synced = disk.file(output);
  // A failed check ends the task before `placeOutput` reports a failed sync.
  synced.catch(() => {});
  return synced;
}
