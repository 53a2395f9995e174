/** Looks into a store that a service may be writing to, without claiming it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { Fatal } from '../failures.ts';
import type { ActorAddress, ActorStore, JournalLine, Row, RowQuery, StoredActor } from '../ports.ts';
import { AFTER_ALL_TEXT } from './keys.ts';
import { actorKey, type Key, partsOf, type Table } from './lmdb-tables.ts';

/** What can be asked of a store by somebody who only looks. */
export type StoreReader = Pick<ActorStore, 'load' | 'journal' | 'rows' | 'counters'> & {
  close(): Promise<void>;
};

/** @throws {Fatal} `store.missing` */
export function openLmdbReader(folder: string): StoreReader {
  if (!existsSync(join(folder, 'data.mdb')))
    throw new Fatal('store.missing', `There is no store in ${folder}.`);
  const root = open<string, Key>({
    path: folder,
    noSubdir: false,
    encoding: 'string',
    readOnly: true,
    maxDbs: 16,
  });
  const table = (name: string, useVersions = false): Table =>
    root.openDB<string, Key>({ name, encoding: 'string', useVersions });
  const [actors, journal, rows, counters] = [
    table('actors', true),
    table('journal'),
    table('rows'),
    table('counters'),
  ];
  return {
    async load(actor: ActorAddress): Promise<StoredActor | undefined> {
      const value = actors.get(actorKey(actor));
      return value === undefined ? undefined : (JSON.parse(value) as StoredActor);
    },
    async journal(actor, options = {}): Promise<readonly JournalLine[]> {
      const own = actorKey(actor);
      const lines: JournalLine[] = [];
      const range = { start: [...own, (options.after ?? 0) + 1], end: [...own, AFTER_ALL_TEXT] };
      const limit = options.limit ?? Number.POSITIVE_INFINITY;
      for (const { value } of journal.getRange(range)) {
        if (lines.length >= limit) break;
        lines.push(JSON.parse(value) as JournalLine);
      }
      return lines;
    },
    async rows(query: RowQuery): Promise<readonly Row[]> {
      const first: Key = [query.view, ...(query.prefix ?? [])];
      const last: Key = [...first, AFTER_ALL_TEXT];
      const from = query.after && [query.view, ...query.after];
      const found: Row[] = [];
      const range = rows.getRange({
        start: from ?? (query.reverse ? last : first),
        exclusiveStart: from !== undefined,
        end: query.reverse ? first : last,
        inclusiveEnd: query.reverse === true,
        reverse: query.reverse === true,
        offset: query.offset ?? 0,
        limit: query.limit,
      });
      for (const { key, value } of range)
        found.push({ view: query.view, key: partsOf(key).slice(1), value: JSON.parse(value) });
      return found;
    },
    async counters(prefix) {
      const found: [string, number][] = [];
      for (const { key, value } of counters.getRange({ start: [prefix], end: [prefix + AFTER_ALL_TEXT] }))
        found.push([String(partsOf(key)[0]), Number(value)]);
      return Object.fromEntries(found);
    },
    close: () => root.close(),
  };
}
