/**
 * The databases inside one LMDB environment, their keys and values. Values are JSON text, except in `packed`, so that any
 * LMDB tool shows what is stored. `lanes` is the stored name of `partitions`.
 *
 * | database | key                            | value                                        |
 * |----------|--------------------------------|----------------------------------------------|
 * | actors   | kind, id                       | the actor; LMDB version = its revision       |
 * | packed   | number                         | an ended actor and its lines (`lmdb-packed.ts`) |
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
 * | meta     | `packed`, node                 | key of the last leaf whose actor was packed  |
 */

import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Database, open, type RootDatabase, TransactionFlags } from 'lmdb';
import { Fatal, wayBack } from '../../model/failures.ts';
import { AFTER_ALL_TEXT, fitsKey, parseEffectKey } from '../../model/keys.ts';
import type {
  ActorAddress,
  EffectKey,
  Millis,
  Revision,
  Row,
  RowQuery,
  Step,
  StoredEffect,
} from '../../model/ports.ts';
import { STORE_FORMAT } from '../../model/store-formats.ts';

/** Operations of a step; null = none of that kind. Lists of keys correspond to values in the lines below. */
export interface StepPlan {
  readonly actor: Key;
  readonly revision: Revision;
  readonly basedOn: Revision;
  readonly settles: EffectKey | null;
  readonly dropsEffects: boolean;
  readonly ends: boolean;
  /** Numbers of the lines. */
  readonly journal: readonly number[] | null;
  readonly effects: readonly (readonly [key: EffectKey, dueAt: Millis, partition?: string])[] | null;
  readonly arm: readonly PlannedTimer[] | null;
  readonly disarm: readonly PlannedTimer[] | null;
  readonly put: readonly Key[] | null;
  readonly remove: readonly Key[] | null;
  readonly take: readonly string[];
  readonly release: readonly string[];
  /** Names, each with its difference. */
  readonly counters: readonly (string | number)[];
  readonly moved: Step['moved'];
  readonly events: Step['events'] | null;
  readonly call: Step['call'] | null;
}

type PlannedTimer = readonly [name: string, due: Millis];

/** A plan as JSON: its members in their order. An array costs half of an object with names, to write and to read. */
type PlanMembers = readonly [
  actor: Key,
  revision: Revision,
  basedOn: Revision,
  settles: EffectKey | null,
  flags: number,
  journal: StepPlan['journal'],
  effects: StepPlan['effects'],
  arm: StepPlan['arm'],
  disarm: StepPlan['disarm'],
  put: StepPlan['put'],
  remove: StepPlan['remove'],
  take: StepPlan['take'],
  release: StepPlan['release'],
  counters: StepPlan['counters'],
  moved: Step['moved'],
  events: StepPlan['events'],
  call: StepPlan['call'],
];

const DROPS_EFFECTS = 1;
const ENDS = 2;

export interface PlannedStep {
  readonly type: 'step';
  readonly plan: StepPlan;
  /**
   * Order of the values: the actor, also at its end, for observers; then journal, effects, armed timers, rows put.
   */
  readonly values: readonly string[];
}

/**
 * Encodes a step for the writing thread as one text of several lines. The first line holds the operations and their
 * keys, the others are the values as they are stored, so that the writing thread neither parses nor encodes them. JSON
 * holds no line breaks, so nothing need be escaped.
 */
export function stepText(step: Step): string {
  const { actor, journal, effects, timers, rows, names, moved } = step;
  let values = JSON.stringify(actor);
  for (const line of journal) values += `\n${JSON.stringify(line)}`;
  for (const { effect, failures, lastError } of effects)
    values += `\n${JSON.stringify({ effect, failures, lastError } satisfies EffectValue)}`;
  for (const { event } of timers.arm) values += `\n${JSON.stringify(event)}`;
  let last: { readonly value: Row['value']; readonly text: string } | undefined;
  for (const { value } of rows.put) {
    // Several rows of an actor often have one value.
    if (last?.value !== value) last = { value, text: value === null ? 'null' : JSON.stringify(value) };
    values += `\n${last.text}`;
  }
  const counters: (string | number)[] = [];
  for (const name in step.counters) counters.push(name, step.counters[name] ?? 0);
  const plan: PlanMembers = [
    [actor.address.kind, actor.address.id],
    actor.revision,
    step.basedOn,
    step.settles,
    (step.dropsEffects ? DROPS_EFFECTS : 0) | (step.ends ? ENDS : 0),
    some(journal, ({ id }) => id),
    some(effects, ({ key, dueAt, partition }) =>
      partition === undefined ? [key, dueAt] : [key, dueAt, partition],
    ),
    some(timers.arm, plannedTimer),
    some(timers.disarm, plannedTimer),
    some(rows.put, rowKey),
    some(rows.remove, rowKey),
    names.take,
    names.release,
    counters,
    moved,
    step.events ?? null,
    step.call ?? null,
  ];
  return `${JSON.stringify(plan)}\n${values}`;
}

export function readStepText(text: string): PlannedStep {
  const [first = '', ...values] = text.split('\n');
  const members: PlanMembers = JSON.parse(first);
  const plan: StepPlan = {
    actor: members[0],
    revision: members[1],
    basedOn: members[2],
    settles: members[3],
    dropsEffects: (members[4] & DROPS_EFFECTS) !== 0,
    ends: (members[4] & ENDS) !== 0,
    journal: members[5],
    effects: members[6],
    arm: members[7],
    disarm: members[8],
    put: members[9],
    remove: members[10],
    take: members[11],
    release: members[12],
    counters: members[13],
    moved: members[14],
    events: members[15],
    call: members[16],
  };
  return { type: 'step', plan, values };
}

/** Decodes the step, for observers of writes of other threads. */
export function stepOfText(text: string): Step {
  const { plan, values } = readStepText(text);
  const [kind, id] = plan.actor.map(String);
  const address = { kind: kind ?? '', id: id ?? '' };
  let next = 0;
  const value = () => JSON.parse(values[next++] ?? 'null');
  const rowOf = ([view, ...key]: Key) => ({ view: String(view), key });
  return {
    actor: value(),
    basedOn: plan.basedOn,
    journal: (plan.journal ?? []).map(() => value()),
    effects: (plan.effects ?? []).map(([key, dueAt, partition]): StoredEffect => {
      const effect: EffectValue = value();
      return { key, actor: address, dueAt, ...effect, ...(partition !== undefined && { partition }) };
    }),
    settles: plan.settles,
    dropsEffects: plan.dropsEffects,
    timers: {
      arm: (plan.arm ?? []).map(([name, due]) => ({ name, due, event: value() })),
      disarm: (plan.disarm ?? []).map(([name, due]) => ({ name, due })),
    },
    rows: {
      put: (plan.put ?? []).map((key) => ({ ...rowOf(key), value: value() })),
      remove: (plan.remove ?? []).map(rowOf),
    },
    names: { take: plan.take, release: plan.release },
    counters: Object.fromEntries(countersOf(plan)),
    moved: plan.moved,
    ...(plan.ends && { ends: true }),
    ...(plan.events && { events: plan.events }),
    ...(plan.call !== null && { call: plan.call }),
  };
}

function rowKey({ view, key }: Step['rows']['remove'][number]): Key {
  return [view, ...key];
}

function plannedTimer({ name, due }: { readonly name: string; readonly due: Millis }): PlannedTimer {
  return [name, due];
}

export function countersOf({ counters }: Pick<StepPlan, 'counters'>): [name: string, by: number][] {
  const pairs: [string, number][] = [];
  for (let at = 0; at < counters.length; at += 2)
    pairs.push([String(counters[at]), Number(counters[at + 1])]);
  return pairs;
}

/** Null for an empty list. */
function some<From, To>(list: readonly From[], of: (one: From) => To): readonly To[] | null {
  return list.length === 0 ? null : list.map(of);
}

/** The tables that every view of a store reads. */
export type ReadTables = Pick<Tables, 'actors' | 'journal' | 'packed' | 'rows' | 'counters'>;

export function readRows({ rows }: ReadTables, query: RowQuery): Row[] {
  const first: Key = [query.view, ...(query.prefix ?? [])];
  const last: Key = [...first, AFTER_ALL_TEXT];
  const from = query.after && [query.view, ...query.after];
  if (!fitsKey(first) || (from !== undefined && !fitsKey(from))) return [];
  const range = rows.getRange({
    start: from ?? (query.reverse ? last : first),
    exclusiveStart: from !== undefined,
    end: query.reverse ? first : last,
    // Without this a row whose whole key is the prefix would be left out in descending order only.
    inclusiveEnd: query.reverse === true,
    reverse: query.reverse === true,
    offset: query.offset ?? 0,
    limit: query.limit,
  });
  const found: Row[] = [];
  for (const { key, value } of range)
    found.push({ view: query.view, key: partsOf(key).slice(1), value: parseStored(value) });
  return found;
}

export function readCounters({ counters }: ReadTables, prefix: string): { readonly [name: string]: number } {
  const found: [string, number][] = [];
  if (!fitsKey([prefix])) return {};
  for (const { key, value } of counters.getRange({ start: [prefix], end: [prefix + AFTER_ALL_TEXT] }))
    found.push([String(partsOf(key)[0]), Number(value)]);
  return Object.fromEntries(found);
}

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
  readonly packed: Database<Buffer, number>;
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

/**
 * Folder of the copy that is made before a store is upgraded: beside it, or in it where it is a disk of its own. What is
 * beside the volume of a container is read-only, or is lost with the container.
 */
export function upgradeCopyOf(folder: string): string {
  const own = resolve(folder);
  const parent = dirname(own);
  try {
    accessSync(parent, constants.W_OK);
    if (statSync(parent).dev === statSync(own).dev) return `${own}-before-upgrade`;
  } catch {}
  return join(own, 'before-upgrade');
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
    const copy = upgradeCopyOf(folder);
    throw new Fatal(
      'store.newer-format',
      `${folder} was written by a newer version (store format ${found}; this one reads up to ${STORE_FORMAT}).${wayBack(existsSync(copy) ? copy : undefined)}`,
    );
  }
  if (found === undefined) meta.putSync(['format'], String(STORE_FORMAT));
  // Slots of processes that died while reading; a full table would refuse every read.
  root.readerCheck();
  return {
    root,
    actors: table('actors', true),
    journal: table('journal'),
    packed: root.openDB<Buffer, number>({ name: 'packed', encoding: 'binary' }),
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
export function queueOf(
  tables: Pick<Tables, 'due' | 'partitions'>,
  place: EffectPosition,
  key: Key,
): { readonly table: Table; at: Key } {
  const at = dueKey(place.dueAt, key);
  return place.partition === undefined
    ? { table: tables.due, at }
    : { table: tables.partitions, at: [place.partition, ...at] };
}

/**
 * Parses a stored value. The check at the open looks at the pages, not at the values in them.
 * @param name of the entry, for the failure
 * @throws {Fatal} `store.damaged`
 */
export function parseStored<Value>(text: string, name = () => 'a value'): Value {
  try {
    return JSON.parse(text) as Value;
  } catch (error) {
    throw new Fatal(
      'store.damaged',
      `The store holds ${name()} that is no JSON (${String(error)}): its file was changed from outside. Stop the service, keep a copy of the folder, and restore the last backup (docs/operations.md).`,
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
    ...parseStored<EffectValue>(value, () => `effect ${index} of revision ${revision} of ${kind}/${id}`),
    ...(partition !== undefined && { partition }),
  };
}
