/** Rows, names and counters of an actor, and how they differ between two steps. Pure. */
import type { ActorDefinition, ActorView } from './definition.ts';
import type { Row, Step } from './ports.ts';

export interface DerivedFacts {
  readonly rows: readonly Row[];
  readonly names: readonly string[];
  readonly counters: { readonly [name: string]: number };
}

export type FactChanges = Pick<Step, 'rows' | 'names' | 'counters'>;

/** Of an actor that does not exist. */
export const NO_FACTS: DerivedFacts = { rows: [], names: [], counters: {} };

/** What a definition says about an actor. */
export function derive(definition: ActorDefinition, actor: ActorView): DerivedFacts {
  return {
    rows: definition.rows?.(actor) ?? NO_FACTS.rows,
    names: definition.names?.(actor) ?? NO_FACTS.names,
    counters: definition.counters?.(actor) ?? NO_FACTS.counters,
  };
}

export function difference(before: DerivedFacts = NO_FACTS, after: DerivedFacts): FactChanges {
  return {
    rows: rowChanges(before, after),
    names: nameChanges(before, after),
    counters: counterChanges(before, after),
  };
}

/**
 * An actor has a handful of rows, mostly the same ones in the same order before and after, so they are looked for
 * in place first and then one by one. Two rows of one key: the later one counts.
 */
function rowChanges(before: DerivedFacts, after: DerivedFacts): Step['rows'] {
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

/** Equal as JSON; members of objects in any order. */
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

function nameChanges(before: DerivedFacts, after: DerivedFacts): Step['names'] {
  return {
    take: after.names.filter((name) => !before.names.includes(name)),
    release: before.names.filter((name) => !after.names.includes(name)),
  };
}

function counterChanges(before: DerivedFacts, after: DerivedFacts): Step['counters'] {
  const moved: { [name: string]: number } = {};
  for (const [name, value] of Object.entries(after.counters)) {
    const by = value - (before.counters[name] ?? 0);
    if (by !== 0) moved[name] = by;
  }
  for (const [name, value] of Object.entries(before.counters)) {
    if (!(name in after.counters) && value !== 0) moved[name] = -value;
  }
  return moved;
}
