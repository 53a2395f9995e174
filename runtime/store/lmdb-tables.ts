/**
 * The databases inside one LMDB environment, their keys and values. Values are JSON text, so that any LMDB tool
 * shows what is stored.
 *
 * | database | key                            | value                                        |
 * |----------|--------------------------------|----------------------------------------------|
 * | actors   | kind, id                       | the actor; LMDB version = its revision       |
 * | journal  | kind, id, line                 | one line                                     |
 * | rows     | view, …key                     | the row's value                              |
 * | effects  | kind, id, revision, index      | when it is due, and its lane if it has one   |
 * | due      | due, kind, id, revision, index | the effect                                   |
 * | lanes    | lane, due, kind, id, revision, index | the effect, of those that have a lane   |
 * | troubled | kind, id, revision, index      | as `effects`; of those that failed           |
 * | timers   | due, kind, id, name            | the event                                    |
 * | names    | name                           | who holds it                                 |
 * | counters | name                           | the count                                    |
 * | meta     | `format`                       | version of this table                        |
 * | meta     | `unsettled`, number            | whose place in the census rows and counters  |
 * |          |                                | do not know yet, and which they have         |
 * | meta     | `census`                       | present: counters say how many actors of     |
 * |          |                                | each kind, version and state there are       |
 */
import { type Database, open, type RootDatabase, TransactionFlags } from 'lmdb';
import { Fatal } from '../failures.ts';
import type { ActorAddress, Millis, StoredEffect } from '../ports.ts';
import { parseEffectKey } from './keys.ts';

/** Raised whenever the table above changes in a way older builds would misread. */
export const STORE_FORMAT = 3;

/** Address space set aside at first, bytes. LMDB maps more when the data outgrows it. */
const FIRST_MAP = 256 * 1024 * 1024;

/** Readers at once, of all threads of this process and of tools that look at the store. LMDB's default is 126. */
const READERS = 256;

export type Key = (string | number)[];
export type Table = Database<string, Key>;

export interface Tables {
  readonly root: RootDatabase<string, Key>;
  readonly actors: Table;
  readonly journal: Table;
  readonly rows: Table;
  readonly effects: Table;
  readonly due: Table;
  readonly lanes: Table;
  readonly troubled: Table;
  readonly meta: Table;
  readonly timers: Table;
  readonly names: Table;
  readonly counters: Table;
}

/** Opens or makes the environment. Throws `store.newer-format`. */
export function openTables(folder: string): Tables {
  const root = open<string, Key>({
    path: folder,
    noSubdir: false,
    encoding: 'string',
    mapSize: FIRST_MAP,
    maxDbs: 16,
    maxReaders: READERS,
    // With it, lmdb-js would make a step visible before it is safe and tell a failed sync to nobody.
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
    lanes: table('lanes'),
    troubled: table('troubled'),
    meta,
    timers: table('timers'),
    names: table('names'),
    counters: table('counters'),
  };
}

/** One transaction: committed and synced to the disk when it returns, or nothing of it done when it throws. */
export function transact(tables: Tables, work: () => void): void {
  tables.root.transactionSync(work, TransactionFlags.ABORTABLE | TransactionFlags.SYNCHRONOUS_COMMIT);
}

export function actorKey(actor: ActorAddress): Key {
  return [actor.kind, actor.id];
}

export function effectKey(key: string): Key {
  return [...parseEffectKey(key)];
}

/** lmdb-js gives a key of one part back as that part alone. */
export function partsOf(key: Key | string | number): Key {
  return Array.isArray(key) ? key : [key];
}

export function dueKey(dueAt: Millis, key: Key): Key {
  return [dueAt, ...key];
}

/** Where an effect waits: what `effects` says of it. */
export interface EffectPlace {
  readonly dueAt: Millis;
  readonly lane: string | undefined;
}

export function placeText({ dueAt, lane }: EffectPlace): string {
  return lane === undefined ? String(dueAt) : `${dueAt} ${lane}`;
}

export function readPlace(text: string): EffectPlace {
  const end = text.indexOf(' ');
  if (end < 0) return { dueAt: Number(text), lane: undefined };
  return { dueAt: Number(text.slice(0, end)), lane: text.slice(end + 1) };
}

/** The database an effect waits in, and its key there. */
export function queueOf(tables: Tables, place: EffectPlace, key: Key): { readonly table: Table; at: Key } {
  const at = dueKey(place.dueAt, key);
  return place.lane === undefined
    ? { table: tables.due, at }
    : { table: tables.lanes, at: [place.lane, ...at] };
}

/** An effect without what its key says. */
export type EffectValue = Pick<StoredEffect, 'effect' | 'failures' | 'lastError'>;

/** @param key as in `due`; the lane in front of it is given apart */
export function readEffect(key: Key, value: string, lane?: string): StoredEffect {
  const [dueAt, kind, id, revision, index] = key;
  return {
    key: `${kind}/${id}/${revision}/${index}`,
    actor: { kind: String(kind), id: String(id) },
    dueAt: Number(dueAt),
    ...(JSON.parse(value) as EffectValue),
    ...(lane !== undefined && { lane }),
  };
}
