/** Rows, names and counters of an actor, and how they differ between two steps. Pure. */
import type { ActorDefinition, ActorView } from './definition.ts';
import type { Row, Step } from './ports.ts';

export interface DerivedFacts {
  readonly rows: ReadonlyMap<string, { readonly row: Row; readonly value: string }>;
  readonly names: readonly string[];
  readonly counters: { readonly [name: string]: number };
}

export type FactChanges = Pick<Step, 'rows' | 'names' | 'counters'>;

const NONE: DerivedFacts = { rows: new Map(), names: [], counters: {} };

/** What a definition says about an actor. Two rows with one key: the later one counts. */
export function derive(definition: ActorDefinition, actor: ActorView): DerivedFacts {
  const rows = new Map<string, { row: Row; value: string }>();
  for (const row of definition.rows?.(actor) ?? []) {
    rows.set(JSON.stringify([row.view, row.key]), { row, value: JSON.stringify(row.value) });
  }
  return { rows, names: definition.names?.(actor) ?? [], counters: definition.counters?.(actor) ?? {} };
}

export function difference(before: DerivedFacts = NONE, after: DerivedFacts): FactChanges {
  return {
    rows: rowChanges(before, after),
    names: nameChanges(before, after),
    counters: counterChanges(before, after),
  };
}

function rowChanges(before: DerivedFacts, after: DerivedFacts): Step['rows'] {
  const put: Row[] = [];
  const remove: Omit<Row, 'value'>[] = [];
  for (const [key, { row, value }] of after.rows) {
    if (before.rows.get(key)?.value !== value) put.push(row);
  }
  for (const [key, { row }] of before.rows) {
    if (!after.rows.has(key)) remove.push({ view: row.view, key: row.key });
  }
  return { put, remove };
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
