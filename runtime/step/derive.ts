/** Rows, names and counters of an actor, and their differences between two steps. Pure. */
import type { ActorDefinition, ActorView } from '../model/definition.ts';
import type { Row, Step } from '../model/ports.ts';

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
  // Without a prototype it is a hash table for V8, which else keeps a shape for each name that never comes again.
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
