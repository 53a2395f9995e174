/** Reads a store that a service may be writing to, without locking it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { Fatal } from '../../model/failures.ts';
import type { StoreReader } from '../../model/ports.ts';
import { assertSound } from './lmdb-check.ts';
import { type ReadTables, readActor, readActors, readCounters, readJournal, readRows } from './lmdb-reads.ts';
import { assertNoCopy, type Key, type Table } from './lmdb-tables.ts';

/** @throws {Fatal} `store.missing`, `store.copy-incomplete`, `store.damaged` */
export function openLmdbReader(folder: string): StoreReader {
  if (!existsSync(join(folder, 'data.mdb')))
    throw new Fatal('store.missing', `There is no store in ${folder}.`);
  assertSound(folder);
  const root = open<string, Key>({
    path: folder,
    noSubdir: false,
    encoding: 'string',
    readOnly: true,
    maxDbs: 16,
  });
  const table = (name: string, useVersions = false): Table =>
    root.openDB<string, Key>({ name, encoding: 'string', useVersions });
  assertNoCopy(root, table('meta'), folder);
  const tables: ReadTables = {
    actors: table('actors', true),
    journal: table('journal'),
    rows: table('rows'),
    counters: table('counters'),
  };
  return {
    load: async (actor) => readActor(tables, actor),
    actors: async (query) => readActors(tables, query),
    journal: async (actor, options = {}) => readJournal(tables, actor, options),
    rows: async (query) => readRows(tables, query),
    counters: async (prefix) => readCounters(tables, prefix),
    close: () => root.close(),
  };
}
