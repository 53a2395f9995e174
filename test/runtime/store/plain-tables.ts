/** Tables of a closed store for edits by hand: no actor is packed. */
import { unpack } from '#runtime/store/lmdb/lmdb-packed.js';
import { openTables, partsOf, type Tables, transact } from '#runtime/store/lmdb/lmdb-tables.js';

export type { Tables } from '#runtime/store/lmdb/lmdb-tables.js';

export function openPlainTables(folder: string): Tables {
  const tables = openTables(folder);
  const actors = [...tables.actors.getRange({ versions: true })];
  transact(tables, () => {
    for (const { key, version = 0 } of actors) unpack(tables, partsOf(key), Math.floor(version));
  });
  return tables;
}
