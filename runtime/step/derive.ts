/**
 * What follows from an actor's state: its rows, names and counters, its place in the state index, its deadlines, and
 * their differences between two steps. Pure.
 *
 * The state index is counters and rows of the store that give the actors of each kind by machine version and state, so
 * that no reader scans all actors. A step states the move of its actor; the store may write it later, as long as
 * readers of these counters and rows see every move.
 *
 * XState names a deadline of a state (`after`) by its delay and the id of the state's node; an earlier machine may have
 * had other names, or none.
 * Source: docs/decisions/0159-deadlines-of-changed-machines.md.
 */

import type { AnyStateMachine } from 'xstate';
import { UNSEALED_VIEW } from '../history/checkpoint.ts';
import type { ActorDefinition, ActorView } from '../model/definition.ts';
import { Fatal } from '../model/failures.ts';
import type {
  ActorAddress,
  ActorEvent,
  Json,
  Millis,
  Row,
  StateIndexEntry,
  Step,
  StoredActor,
} from '../model/ports.ts';

/** Prefix of the names of the counters of the state index: `actors/<kind>/<version>/<state>`. */
export const STATE_INDEX_PREFIX = 'actors/';
/** View of all actors: `[kind, state, id]`. */
export const STATE_INDEX_VIEW = 'actors';
/** Stopped actors: counter `stopped/<kind>`; each also has a row `[kind, id]` in the view of this name. */
export const STOPPED_PREFIX = 'stopped/';
export const STOPPED_VIEW = 'stopped-actors';

/** Number of actors of one kind in one state, stored by one version of its machine. */
export interface StateCount {
  readonly kind: string;
  readonly version: number;
  readonly state: string;
  readonly count: number;
}

type Shape = Pick<StoredActor, 'version' | 'state'>;

export function stateIndexEntryOf({ version, state }: Shape): StateIndexEntry {
  return `${version}/${state}`;
}

export function stateCounterName(kind: string, place: StateIndexEntry): string {
  return `${STATE_INDEX_PREFIX}${kind}/${place}`;
}

/** Key of an actor's row in `STATE_INDEX_VIEW`; its value is null. */
export function stateIndexKey(kind: string, place: StateIndexEntry, id: string): readonly string[] {
  return [kind, stateIn(place), id];
}

/** True if both places have the same row. */
export function sameState(one: StateIndexEntry | null, other: StateIndexEntry | null): boolean {
  return one === other || (one !== null && other !== null && stateIn(one) === stateIn(other));
}

function stateIn(place: StateIndexEntry): string {
  return place.slice(place.indexOf('/') + 1);
}

/** Returns the move that a step of one actor makes in the state index; a missing actor has no place. */
export function stateMove(before: Shape | undefined, after: Shape | undefined): Step['moved'] {
  if (before?.state === after?.state && before?.version === after?.version) return null;
  return { from: before ? stateIndexEntryOf(before) : null, to: after ? stateIndexEntryOf(after) : null };
}

/** Reads the counters whose names begin with `STATE_INDEX_PREFIX`. */
export function parseStateCounter(counters: { readonly [name: string]: number }): readonly StateCount[] {
  const lines: StateCount[] = [];
  for (const [name, count] of Object.entries(counters)) {
    const [, kind, version, state] = /^actors\/([^/]+)\/(\d+)\/(.*)$/s.exec(name) ?? [];
    if (kind === undefined || state === undefined || count === 0) continue;
    lines.push({ kind, version: Number(version), state, count });
  }
  return lines;
}

const PREFIX = 'xstate.after.';
const NO_TIMERS: Step['timers'] = { arm: [], disarm: [] };

interface StateDeadline {
  /** Milliseconds, or the name of the delay. */
  readonly delay: number | string;
  /** True if the state cannot outlast it: a transition without a guard leaves the state. */
  readonly leaves: boolean;
}

/** Deadlines by name. */
type StateDeadlines = ReadonlyMap<string, StateDeadline>;

/** Old names and the current ones; undefined where the machine has none. */
export type RenamedDeadlines = ReadonlyMap<string, string | undefined>;

const known = new WeakMap<AnyStateMachine, Map<string, StateDeadlines>>();

/** Deadlines of a state and of those around it, the outermost first. */
export function deadlinesOf(machine: AnyStateMachine, state: string): StateDeadlines {
  const byState = known.get(machine) ?? new Map<string, StateDeadlines>();
  known.set(machine, byState);
  const deadlines = byState.get(state) ?? readDeadlines(machine, state);
  byState.set(state, deadlines);
  return deadlines;
}

function readDeadlines(machine: AnyStateMachine, state: string): StateDeadlines {
  const deadlines = new Map<string, StateDeadline>();
  let node: AnyStateMachine['root'] | undefined = machine.root;
  const path = state === '' ? [] : state.split('.');
  for (let depth = 0; node !== undefined; depth += 1) {
    for (const { eventType, delay, guard, target } of node.after) {
      const leaves = guard === undefined && target !== undefined;
      const before = deadlines.get(eventType)?.leaves ?? false;
      if (typeof delay === 'number' || typeof delay === 'string')
        deadlines.set(eventType, { delay, leaves: before || leaves });
    }
    node = node.states[path[depth] ?? ''] as typeof node | undefined;
  }
  return deadlines;
}

/**
 * Finds the current names of stored deadlines that the state does not have under their names: the one with the same
 * delay; or else, if one is left on both sides, that one.
 * @returns undefined if all names are current
 */
export function renamedDeadlines(
  machine: AnyStateMachine,
  { state, timers }: Pick<StoredActor, 'state' | 'timers'>,
): RenamedDeadlines | undefined {
  const deadlines = deadlinesOf(machine, state);
  const strays = Object.keys(timers).filter((name) => name.startsWith(PREFIX) && !deadlines.has(name));
  if (strays.length === 0) return undefined;
  const free = new Map([...deadlines].filter(([name]) => timers[name] === undefined));
  const renamed = new Map<string, string | undefined>();
  for (const stray of strays) {
    const [match] = [...free].find(([, { delay }]) => stray.startsWith(`${PREFIX}${delay}.`)) ?? [];
    if (match === undefined) continue;
    renamed.set(stray, match);
    free.delete(match);
  }
  const [last] = free.keys();
  const isOne = free.size === 1 && renamed.size === strays.length - 1;
  for (const stray of strays) if (!renamed.has(stray)) renamed.set(stray, isOne ? last : undefined);
  return renamed;
}

type Armed = Step['timers']['arm'][number];

/** Gives deadlines their current names; those without one go if the state goes. */
export function renameDeadlines(
  timers: Map<string, Millis>,
  renamed: RenamedDeadlines,
  isLeft: boolean,
): readonly Armed[] {
  const armed: Armed[] = [];
  for (const [old, name] of renamed) {
    const due = timers.get(old);
    if (due === undefined || (name === undefined && !isLeft)) continue;
    timers.delete(old);
    if (name === undefined) continue;
    timers.set(name, due);
    armed.push({ name, due, event: { type: name } });
  }
  return armed;
}

/**
 * Computes the deadlines of an actor that an earlier machine stored: each keeps its time; those that the state did not
 * have begin now. Throws `store.no-path` for a delay that is no number.
 */
export function currentDeadlines(
  machine: AnyStateMachine,
  { timers: before, ...actor }: Pick<StoredActor, 'address' | 'state' | 'context' | 'timers'>,
  now: Millis,
): {
  readonly timers: StoredActor['timers'];
  readonly changes: Step['timers'];
  /** Number of deadlines that begin now. */
  readonly begun: number;
} {
  const timers = new Map(Object.entries(before));
  const renamed = renamedDeadlines(machine, { state: actor.state, timers: before });
  const armed = renamed === undefined ? [] : [...renameDeadlines(timers, renamed, true)];
  const moved = armed.length;
  for (const [name, { delay, leaves }] of deadlinesOf(machine, actor.state)) {
    if (!leaves || timers.has(name)) continue;
    const due = now + delayOf(machine, delay, actor, now);
    timers.set(name, due);
    armed.push({ name, due, event: { type: name } });
  }
  return {
    timers: Object.fromEntries(timers),
    changes: timerChanges(before, timers, armed),
    begun: armed.length - moved,
  };
}

function delayOf(
  machine: AnyStateMachine,
  delay: number | string,
  { address, context }: Pick<StoredActor, 'address' | 'context'>,
  now: Millis,
): Millis {
  const found: unknown =
    typeof delay === 'number' ? delay : (machine.implementations.delays as Delays)[delay];
  const value = typeof found === 'function' ? found({ context, event: { type: 'MIGRATE', at: now } }) : found;
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  throw new Fatal(
    'store.no-path',
    `${address.kind}/${address.id}: the delay "${delay}" is ${String(value)}, not a number of milliseconds.`,
  );
}

interface Delays {
  readonly [name: string]:
    | number
    | ((given: { readonly context: Json; readonly event: ActorEvent }) => unknown)
    | undefined;
}

/** Returns a free name for a delayed event without an id: XState keeps several of one type. */
export function nameOf(event: ActorEvent, timers: ReadonlyMap<string, Millis>): string {
  let name = event.type;
  for (let count = 2; timers.has(name); count += 1) name = `${event.type} ${count}`;
  return name;
}

/** Differences of an actor's deadlines between two steps. Arms only deadlines that are valid at the end of the step; disarms those that moved or were removed. */
export function timerChanges(
  before: StoredActor['timers'],
  after: ReadonlyMap<string, Millis>,
  armed: Step['timers']['arm'],
): Step['timers'] {
  if (armed.length === 0 && Object.keys(before).length === 0) return NO_TIMERS;
  const last = new Map(armed.map((timer) => [timer.name, timer]));
  const arm = [...last.values()].filter((timer) => after.get(timer.name) === timer.due);
  const rearmed = new Set(arm.map((timer) => timer.name));
  const disarm = Object.entries(before)
    .filter(([name]) => !after.has(name) || rearmed.has(name))
    .map(([name, due]) => ({ name, due }));
  return { arm, disarm };
}

export interface DerivedRecords {
  readonly rows: readonly Row[];
  readonly names: readonly string[];
  readonly counters: { readonly [name: string]: number };
}

export type DerivedChanges = Pick<Step, 'rows' | 'names' | 'counters'>;

/** Rows, names and counters of an actor that does not exist. */
export const NO_DERIVED_RECORDS: DerivedRecords = { rows: [], names: [], counters: {} };

/** Rows, names and counters of an actor according to its definition. */
export function derive(definition: ActorDefinition, actor: ActorView): DerivedRecords {
  return {
    rows: definition.rows?.(actor) ?? NO_DERIVED_RECORDS.rows,
    names: definition.names?.(actor) ?? NO_DERIVED_RECORDS.names,
    counters: definition.counters?.(actor) ?? NO_DERIVED_RECORDS.counters,
  };
}

export function difference(
  before: DerivedRecords = NO_DERIVED_RECORDS,
  after: DerivedRecords,
): DerivedChanges {
  return {
    rows: rowChanges(before, after),
    names: nameChanges(before, after),
    counters: counterChanges(before, after),
  };
}

/**
 * Compares rows by position first and then by key: an actor has a handful of rows, mostly in the same order before and
 * after a step. Of two rows with the same key, the later one counts.
 */
function rowChanges(before: DerivedRecords, after: DerivedRecords): Step['rows'] {
  const put: Row[] = [];
  const remove: Omit<Row, 'value'>[] = [];
  for (const [at, row] of after.rows.entries()) {
    const old = find(before.rows, row, at);
    if (old === undefined || !sameJson(old.value, row.value)) put.push(row);
  }
  for (const [at, row] of before.rows.entries()) {
    if (find(after.rows, row, at) === undefined) remove.push({ view: row.view, key: row.key });
  }
  return { put, remove };
}

function find(rows: readonly Row[], wanted: Row, at: number): Row | undefined {
  const there = rows[at];
  if (there !== undefined && sameKey(there, wanted)) return there;
  return rows.find((row) => sameKey(row, wanted));
}

function sameKey(left: Row, right: Row): boolean {
  return (
    left.view === right.view &&
    left.key.length === right.key.length &&
    left.key.every((part, at) => part === right.key[at])
  );
}

/** True for equal JSON values; the order of members does not matter. */
function sameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every(
    (name) =>
      Object.hasOwn(right, name) &&
      sameJson((left as { [name: string]: unknown })[name], (right as { [name: string]: unknown })[name]),
  );
}

function nameChanges(before: DerivedRecords, after: DerivedRecords): Step['names'] {
  return {
    take: after.names.filter((name) => !before.names.includes(name)),
    release: before.names.filter((name) => !after.names.includes(name)),
  };
}

function counterChanges(before: DerivedRecords, after: DerivedRecords): Step['counters'] {
  const moved: { [name: string]: number } = Object.create(null);
  for (const name in after.counters) {
    const by = (after.counters[name] ?? 0) - (before.counters[name] ?? 0);
    if (by !== 0) moved[name] = by;
  }
  for (const name in before.counters) {
    const value = before.counters[name] ?? 0;
    if (!(name in after.counters) && value !== 0) moved[name] = -value;
  }
  return moved;
}

/** Records, for the next checkpoint of the history, that a chain ended. */
export function deletionRow({ kind, id }: ActorAddress, line: number, hash: string, revision: number): Row {
  // The hash distinguishes lives that ended at the same revision.
  return { view: UNSEALED_VIEW, key: [kind, id, revision, hash], value: { line, hash } };
}
