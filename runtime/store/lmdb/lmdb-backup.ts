/**
 * Copies a store that may be in use: LMDB reads one snapshot of it, regardless of concurrent writes in this process or
 * another one.
 */
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { Fatal } from '../../model/failures.ts';
import { assertSound } from './lmdb-check.ts';
import { assertNoCopy, type Key } from './lmdb-tables.ts';

/**
 * Copies the store in one folder into another one, which is created; the copy opens like any store.
 * @throws {Fatal} `store.missing`, `store.copy-incomplete`, `store.damaged`
 */
export async function backupLmdbStore(folder: string, target: string): Promise<void> {
  if (!existsSync(join(folder, 'data.mdb')))
    throw new Fatal('store.missing', `There is no store in ${folder}.`);
  assertSound(folder);
  const root = open<string, Key>({
    ...{ path: folder, noSubdir: false, encoding: 'string', readOnly: true, maxDbs: 16 },
  });
  assertNoCopy(root, root.openDB<string, Key>({ name: 'meta', encoding: 'string' }), folder);
  try {
    mkdirSync(target, { mode: 0o750 });
    await root.backup(target, false);
    chmodSync(join(target, 'data.mdb'), 0o640);
  } finally {
    await root.close();
  }
}
