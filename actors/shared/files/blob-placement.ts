/**
 * Puts a finished file of the portal under the name of its content. Pool threads use it on files they have just
 * written; `Blobs` confirms what they placed.
 */
import { mkdirSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errno, statIfPresent } from './directories.ts';
import type { DiskSync } from './disk-sync.ts';

/**
 * Modification time of every blob. It never changes, because a reader that signs a file takes a changed modification time
 * for a changed file. The access time holds the time of the last placement; reading can only make it later.
 */
export const BLOB_MODIFICATION_TIME = 0;

/** @param folder of all blobs @param sha256 lower-case hex */
export function blobPath(folder: string, sha256: string): string {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new TypeError('A blob is named by 64 hex digits.');
  return join(folder, sha256.slice(0, 2), sha256);
}

/** Of the folders of the portal's files. */
export const BLOB_FOLDER_MODE = 0o750;

/** Folders of blobs whose own entries are durable, as far as this thread knows. */
const durableFolders = new Set<string>();

export interface BlobPlacement {
  /** Of all blobs. */
  readonly folder: string;
  readonly sha256: string;
  readonly length: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly disk: DiskSync;
  /** Resolves when the data of the file is durable. @default it is synced now */
  readonly synced?: Promise<void>;
}

/**
 * Moves a file to its place, or removes it when its content is there already; resolves when it is durable.
 * @param path on the same file system; its bytes need not be durable yet
 */
export async function placeBlob(
  path: string,
  { folder, sha256, length, at, disk, synced }: BlobPlacement,
): Promise<void> {
  const target = blobPath(folder, sha256);
  const stats = statIfPresent(target);
  // A file of another length is damage; the new one heals it.
  if (stats !== undefined && Number(stats.size) === length && refreshed(target, at))
    rmSync(path, { force: true });
  else {
    await (synced ?? disk.file(path));
    await makeBlobFolder(dirname(target), disk);
    utimesSync(path, at / 1000, BLOB_MODIFICATION_TIME);
    renameSync(path, target);
  }
  // Also for an existing file: its writer may not have synced it yet.
  await disk.directory(dirname(target));
}

/** Makes the folder of a blob where it is missing; resolves when its entry is durable, also where another thread has just made it. */
async function makeBlobFolder(folder: string, disk: DiskSync): Promise<void> {
  if (durableFolders.has(folder)) return;
  try {
    mkdirSync(folder, { mode: BLOB_FOLDER_MODE });
  } catch (error) {
    if (errno(error) !== 'EEXIST') throw error;
  }
  await disk.directory(dirname(folder));
  durableFolders.add(folder);
}

/** False when the file is no longer there. */
function refreshed(path: string, at: number): boolean {
  try {
    utimesSync(path, at / 1000, BLOB_MODIFICATION_TIME);
    return true;
  } catch (error) {
    if (errno(error) === 'ENOENT') return false;
    throw error;
  }
}
