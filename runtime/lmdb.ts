/** Stores on LMDB: one process, files on a local disk. */

export { openLmdbStore } from './store/lmdb/lmdb.ts';
export { assertSound, noteBackup } from './store/lmdb/lmdb-check.ts';
export { openLmdbCopy } from './store/lmdb/lmdb-copy.ts';
export { backupLmdbStore, openLmdbReader } from './store/lmdb/lmdb-reader.ts';
export { folderOwner } from './store/lmdb/owner.ts';
