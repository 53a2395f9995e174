/** Stores on LMDB: one process, files on a local disk. */
import { join } from 'node:path';
import { Fatal } from './model/failures.ts';
import type { StoreSource } from './model/ports.ts';
import { type LmdbOptions, openLmdbStore } from './store/lmdb/lmdb.ts';

export { assertSound, noteBackup } from './store/lmdb/lmdb-check.ts';
export { openLmdbCopy } from './store/lmdb/lmdb-copy.ts';
export { backupLmdbStore, openLmdbReader } from './store/lmdb/lmdb-reader.ts';
export { folderOwner } from './store/lmdb/owner.ts';
export { openLmdbStore };

/**
 * Stores actors in a folder, which is created if missing, holds no other files and is used by one process at a time.
 * Throws `runtime.options`. Opening throws `store.locked`, `store.newer-format`, `store.damaged`, `store.full`, `store.unwritable`.
 */
export function lmdb(folder: string, options: Pick<LmdbOptions, 'onLost'> = {}): StoreSource {
  if (typeof folder !== 'string' || folder === '')
    throw new Fatal('runtime.options', '`folder` is no path of a folder.');
  return {
    open: ({ faults }) => openLmdbStore({ folder, ...options, ...(faults && { faults }) }),
    crashJournal: join(folder, 'effects-in-progress.json'),
  };
}
