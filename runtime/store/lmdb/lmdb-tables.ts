/**
 * The databases inside one LMDB environment, their keys and values. Values are JSON text, so that any LMDB tool
 * shows what is stored. `lanes` is the stored name of `partitions`.
 *
 * | database | key                            | value                                        |
 * |----------|--------------------------------|----------------------------------------------|
 * | actors   | kind, id                       | the actor; LMDB version = its revision       |
 * | journal  | kind, id, line                 | one line                                     |
 * | rows     | view, …key                     | the row's value                              |
 * | effects  | kind, id, revision, index      | due time, and partition if it has one        |
 * | due      | due, kind, id, revision, index | the effect                                   |
 * | lanes    | partition, due, kind, id, revision, index | the effect, if it has a partition  |
 * | troubled | kind, id, revision, index      | as `effects`; of those that failed           |
 * | timers   | due, kind, id, name            | the event                                    |
 * | names    | name                           | kind and id of the holder                    |
 * | counters | name                           | the count                                    |
 * | meta     | `format`                       | version of this table                        |
 * | meta     | `unsettled`, number            | kind, id and outdated state index place of   |
 * |          |                                | actors whose rows and counters are not moved |
 * | meta     | `census`                       | present: the counters of the state index     |
 * |          |                                | (actors by kind, version, state) exist       |
 * | meta     | `copy`                         | present: target of an unfinished copy        |
 */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, open, type RootDatabase, TransactionFlags } from 'lmdb';
import { Fatal } from '../../model/failures.ts';
import { parseEffectKey } from '../../model/keys.ts';
import type { ActorAddress, Millis, StoredEffect } from '../../model/ports.ts';

/** Incremented whenever the table above changes in a way older builds would misread. */
export const STORE_FORMAT = 4;

/** Initial address space, bytes. LMDB maps more when the data outgrows it. */
const FIRST_MAP = 256 * 1024 * 1024;

/** Concurrent readers: all threads of this process and tools that read the store. LMDB's default is 126. */
const READERS = 256;

export type Key = (string | number)[];

/** Key in `meta` of the marker of an unfinished copy (`lmdb-copy.ts`). */
export const COPY_MARKER: Key = ['copy'];
export type Table = Database<string, Key>;

export interface Tables {
  readonly root: RootDatabase<string, Key>;
  readonly actors: Table;
  readonly journal: Table;
  readonly rows: Table;
  readonly effects: Table;
  readonly due: Table;
  readonly partitions: Table;
  readonly troubled: Table;
  readonly meta: Table;
  readonly timers: Table;
  readonly names: Table;
  readonly counters: Table;
}

/**
 * Creates LMDB's files readable by the owner only; existing files keep their mode. Existing files are not opened:
 * closing any descriptor of `lock.mdb` drops the locks that this process holds on it (POSIX fcntl), and another process
 * that opens the store would then treat the table of readers as stale and reset it.
 */
function makeFiles(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of ['data.mdb', 'lock.mdb']) {
    const file = join(folder, name);
    if (!existsSync(file)) closeSync(openSync(file, 'a', 0o640));
  }
}

/** Opens or creates the environment. Throws `store.newer-format`. */
export function openTables(folder: string): Tables {
  makeFiles(folder);
  const root = open<string, Key>({
    path: folder,
    noSubdir: false,
    encoding: 'string',
    mapSize: FIRST_MAP,
    maxDbs: 16,
    maxReaders: READERS,
    // With it, lmdb-js would make a step visible before it is durable and would not report a failed sync. No upstream
    // issue found about the latter; seen in lmdb 3.5.6.
    overlappingSync: false,
  });
  const table = (name: string, useVersions = false): Table =>
    root.openDB<string, Key>({ name, encoding: 'string', useVersions });
  const meta = table('meta');
  const found = meta.get(['format']);
  if (found !== undefined && Number(found) > STORE_FORMAT) {
    void root.close();
    throw new Fatal(
      'store.newer-format',
      `${folder} was written by a newer version (store format ${found}; this one reads up to ${STORE_FORMAT}).`,
    );
  }
  if (found === undefined) meta.putSync(['format'], String(STORE_FORMAT));
  // Slots of processes that died while reading; a full table would refuse every read.
  root.readerCheck();
  return {
    root,
    actors: table('actors', true),
    journal: table('journal'),
    rows: table('rows'),
    effects: table('effects'),
    due: table('due'),
    partitions: table('lanes'),
    troubled: table('troubled'),
    meta,
    timers: table('timers'),
    names: table('names'),
    counters: table('counters'),
  };
}

/** Throws `store.copy-incomplete` for the target of a copy that is not finished. Closes the environment then. */
export function assertNoCopy(root: RootDatabase<string, Key>, meta: Table, folder: string): void {
  if (!meta.doesExist(COPY_MARKER)) return;
  void root.close();
  throw new Fatal(
    'store.copy-incomplete',
    `${folder} is the target of a copy that is not finished. Repeat "sealwright store copy", which goes on with it, or remove the folder.`,
  );
}

/** Runs one transaction: committed and synced to the disk when it returns, without effect when it throws. */
export function transact(tables: Tables, work: () => void): void {
  tables.root.transactionSync(work, TransactionFlags.ABORTABLE | TransactionFlags.SYNCHRONOUS_COMMIT);
}

export function actorKey(actor: ActorAddress): Key {
  return [actor.kind, actor.id];
}

export function effectKey(key: string): Key {
  return [...parseEffectKey(key)];
}

/** lmdb-js returns a key of one part as that part alone. */
export function partsOf(key: Key | string | number): Key {
  return Array.isArray(key) ? key : [key];
}

function dueKey(dueAt: Millis, key: Key): Key {
  return [dueAt, ...key];
}

/** Position of a waiting effect: its value in `effects`. */
export interface EffectPosition {
  readonly dueAt: Millis;
  readonly partition: string | undefined;
}

export function positionText({ dueAt, partition }: EffectPosition): string {
  return partition === undefined ? String(dueAt) : `${dueAt} ${partition}`;
}

export function readPosition(text: string): EffectPosition {
  const end = text.indexOf(' ');
  if (end < 0) return { dueAt: Number(text), partition: undefined };
  return { dueAt: Number(text.slice(0, end)), partition: text.slice(end + 1) };
}

/** Returns the database that holds a waiting effect, and its key there. */
export function queueOf(tables: Tables, place: EffectPosition, key: Key): { readonly table: Table; at: Key } {
  const at = dueKey(place.dueAt, key);
  return place.partition === undefined
    ? { table: tables.due, at }
    : { table: tables.partitions, at: [place.partition, ...at] };
}

/**
 * Parses a stored value. The check at the open looks at the pages, not at the values in them.
 * @throws {Fatal} `store.damaged`
 */
export function parseStored<Value>(text: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch (error) {
    throw new Fatal(
      'store.damaged',
      `The store holds a value that is no JSON (${String(error)}): its file was changed from outside. Stop the service, keep a copy of the folder, and restore the last backup (docs/operations.md).`,
    );
  }
}

/** An effect without the members in its key. */
export type EffectValue = Pick<StoredEffect, 'effect' | 'failures' | 'lastError'>;

/** @param key as in `due`; without the partition, which is passed separately */
export function readEffect(key: Key, value: string, partition?: string): StoredEffect {
  const [dueAt, kind, id, revision, index] = key;
  return {
    key: `${kind}/${id}/${revision}/${index}`,
    actor: { kind: String(kind), id: String(id) },
    dueAt: Number(dueAt),
    ...parseStored<EffectValue>(value),
    ...(partition !== undefined && { partition }),
  };
}
