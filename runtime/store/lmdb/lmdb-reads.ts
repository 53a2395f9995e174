/** Reads shared by all views of a store on disk: the service's own and the read-only one. */

import { AFTER_ALL_TEXT, fitsKey } from '../../model/keys.ts';
import type { ActorAddress, ActorStore, JournalLine, Row, RowQuery, StoredActor } from '../../model/ports.ts';
import { actorKey, type Key, parseStored, partsOf, type Tables } from './lmdb-tables.ts';

/** The tables that are read here. */
export type ReadTables = Pick<Tables, 'actors' | 'journal' | 'rows' | 'counters'>;

export function readActor({ actors }: Pick<Tables, 'actors'>, actor: ActorAddress): StoredActor | undefined {
  const key = actorKey(actor);
  const value = fitsKey(key) ? actors.get(key) : undefined;
  return value === undefined ? undefined : parseStored(value);
}

export function readActors(
  { actors }: ReadTables,
  { kind, after, limit }: Parameters<ActorStore['actors']>[0],
): StoredActor[] {
  const start = after === undefined ? [kind] : [kind, after];
  if (!fitsKey(start)) return [];
  return valuesOf(
    actors.getRange({
      start,
      exclusiveStart: after !== undefined,
      end: [kind, AFTER_ALL_TEXT],
      limit,
    }),
  );
}

export function readJournal(
  { journal }: ReadTables,
  actor: ActorAddress,
  { after = 0, limit }: NonNullable<Parameters<ActorStore['journal']>[1]>,
): JournalLine[] {
  const own = actorKey(actor);
  if (!fitsKey(own)) return [];
  const range = { start: [...own, after + 1], end: [...own, AFTER_ALL_TEXT] };
  return valuesOf(journal.getRange(limit === undefined ? range : { ...range, limit }));
}

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

/** Parses the values of a range. */
export function valuesOf<T>(range: Iterable<{ value: string }>): T[] {
  const values: T[] = [];
  for (const { value } of range) values.push(parseStored(value));
  return values;
}
