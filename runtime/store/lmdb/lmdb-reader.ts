import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { Fatal } from '../../model/failures.ts';
import type { StoreReader } from '../../model/ports.ts';
import { readActor, readActors, readJournal } from './lmdb-actors.ts';
import { assertSound } from './lmdb-check.ts';
import {
  assertNoCopy,
  type Key,
  type ReadTables,
  readCounters,
  readRows,
  type Table,
} from './lmdb-tables.ts';
import { assertListed, readEffects, readNames, readTimers } from './lmdb-work.ts';

/** @throws {Fatal} `store.missing`, `store.copy-incomplete`, `store.damaged` */
function openToRead(folder: string): RootDatabase<string, Key> {
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
  assertNoCopy(root, root.openDB<string, Key>({ name: 'meta', encoding: 'string' }), folder);
  return root;
}

/**
 * Copies the store in one folder, which may be in use, into another one, which is created; the copy opens like any
 * store. LMDB reads one snapshot, regardless of concurrent writes in this process or another one.
 * @throws {Fatal} `store.missing`, `store.copy-incomplete`, `store.damaged`
 */
export async function backupLmdbStore(folder: string, target: string): Promise<void> {
  const root = openToRead(folder);
  try {
    mkdirSync(target, { mode: 0o750 });
    await root.backup(target, false);
    chmodSync(join(target, 'data.mdb'), 0o640);
  } finally {
    await root.close();
  }
}

/**
 * Reads a store that a service may be writing to, without locking it.
 * @throws {Fatal} `store.missing`, `store.copy-incomplete`, `store.damaged`
 */
export function openLmdbReader(folder: string): StoreReader {
  const root = openToRead(folder);
  const table = (name: string, useVersions = false): Table =>
    root.openDB<string, Key>({ name, encoding: 'string', useVersions });
  const tables: ReadTables = {
    actors: table('actors', true),
    journal: table('journal'),
    // No store of a version before this table has an actor in it.
    packed: root.openDB<Buffer, number>({ name: 'packed', encoding: 'binary' }),
    rows: table('rows'),
    counters: table('counters'),
  };
  // Stores of the first versions do not have all of them.
  const work = () => ({
    effects: table('effects'),
    due: table('due'),
    partitions: table('lanes'),
    timers: table('timers'),
    names: table('names'),
  });
  return {
    load: async (actor) => readActor(tables, actor),
    effects: async (query) => {
      assertListed(work());
      return readEffects(work(), query).map((effect) => ({ ...effect, isLeased: false }));
    },
    timers: async (query) => readTimers(work(), query),
    names: async (query) => readNames(work(), query),
    actors: async (query) => readActors(tables, query),
    journal: async (actor, options = {}) => readJournal(tables, actor, options),
    rows: async (query) => readRows(tables, query),
    counters: async (prefix) => readCounters(tables, prefix),
    close: () => root.close(),
  };
}
