/**
 * A page of a list. One of two drivers makes it, chosen in `pageOf`: the rows of the store (`stored-rows.ts`), or a table in
 * memory of the fields that a list filters by (`../tables/`). Totals are exact. Source: docs/decisions/0410-one-port-for-lists.md.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Row } from '@sealwright/runtime';
import type { ListPosition, Page } from '../../../contracts/portal/lists.ts';
import {
  mergedPieces,
  mergedRows,
  type NumberBounds,
  numberOf,
  type RowRange,
  type RowStore,
} from './stored-rows.ts';

/** Rows that are read rather than that a table is used: within 2 ms. */
export const FEW = 1_000;

/** Rows that one read skips: less than two milliseconds. */
const MAX_SKIPPED = 8_192;

export interface List<Item> {
  /** Rows of a list are merged by the number behind the prefix; the prefixes are of one length. */
  readonly ranges: readonly RowRange[];
  /** @default all rows */
  readonly fits?: ((row: Row) => boolean) | undefined;
  /** Number of matches of the whole list, where counters tell it. */
  readonly total?: number | undefined;
  /** Number of rows of the ranges, where it is known. */
  readonly size?: number | undefined;
  readonly itemOf: (row: Row) => Item;
  /** Finds the same in a table; undefined while it is incomplete. @default there is none */
  readonly table?: ((part: TablePart) => Promise<FoundPart<Item> | undefined>) | undefined;
}

export interface ListPart extends NumberBounds {
  readonly newestFirst: boolean;
  readonly limit: number;
  /** Items before the page; of no effect with a position. */
  readonly offset: number;
  /** Place at which the page begins; the answer then says where the next one does. */
  readonly position?: 'start' | ListPosition | undefined;
}

export interface TablePart extends NumberBounds {
  readonly newestFirst: boolean;
  readonly limit: number;
  readonly offset: number;
  /** Number of matches where it is known. */
  readonly total: number | undefined;
}

export interface FoundPart<Item> {
  readonly found: readonly { readonly item: Item; readonly number: number }[];
  readonly totalCount: number;
}

export async function pageOf<Item>(store: RowStore, list: List<Item>, part: ListPart): Promise<Page<Item>> {
  const { ranges, fits, total, table } = list;
  return foundPage(part, total, async (wanted) => {
    const isPlain = fits === undefined && total !== undefined && !isBounded(wanted);
    const isNear = isPlain && (wanted.offset + wanted.limit) * ranges.length <= FEW;
    const rows = () => (isPlain ? plainPage(store, list, wanted, total) : testedPage(store, list, wanted));
    if (table === undefined || isNear || !(await isLong(store, list))) return rows();
    return (await table(wanted)) ?? rows();
  });
}

/** The page of what `find` finds. @param counted number of matches of the whole list, where it is known */
export async function foundPage<Item>(
  part: ListPart,
  counted: number | undefined,
  find: (part: TablePart) => Promise<FoundPart<Item>>,
): Promise<Page<Item>> {
  const { position, newestFirst, limit } = part;
  const total = typeof position === 'object' ? position.totalCount : counted;
  const offset = position === undefined ? part.offset : 0;
  if (total !== undefined && offset >= total) return { items: [], totalCount: total };
  // A list by position looks for one more: whether there is a further page.
  const most = position === undefined ? limit : limit + 1;
  const { found, totalCount } = await find({ ...boundsOf(part), newestFirst, limit: most, offset, total });
  const items = found.slice(0, limit).map(({ item }) => item);
  const after = found[limit - 1]?.number ?? 0;
  return { items, totalCount, ...(found.length > limit && { next: { after, totalCount } }) };
}

/** Bounds of the numbers, of which the position is one. */
function boundsOf({ from = -Infinity, below = Infinity, newestFirst, position }: ListPart): NumberBounds {
  const after = typeof position === 'object' ? position.after : undefined;
  const least = newestFirst || after === undefined ? from : Math.max(from, after + 1);
  const end = !newestFirst || after === undefined ? below : Math.min(below, after);
  return { ...(least > -Infinity && { from: least }), ...(end < Infinity && { below: end }) };
}

function isBounded({ from, below }: NumberBounds): boolean {
  return from !== undefined || below !== undefined;
}

/** True if the ranges have more than a few rows. */
export async function isLong(store: RowStore, { ranges, size }: Pick<List<never>, 'ranges' | 'size'>) {
  if (size !== undefined) return size >= FEW;
  const offset = Math.floor(FEW / ranges.length);
  for (const range of ranges) if ((await store.rows({ ...range, offset, limit: 1 })).length > 0) return true;
  return false;
}

/** Of all rows, whose number is known, from the nearer end. */
async function plainPage<Item>(
  store: RowStore,
  { ranges, itemOf }: List<Item>,
  { newestFirst, offset, limit }: TablePart,
  total: number,
): Promise<FoundPart<Item>> {
  const [only = { view: '' }] = ranges;
  const count = Math.min(limit, total - offset);
  const behind = total - offset - count;
  // Where it costs little the rows are counted from the asked end: they stay right while others are added at the far one.
  const isForward = offset <= Math.max(behind, MAX_SKIPPED);
  const skipped = isForward ? offset : behind;
  const part = { newestFirst: isForward === newestFirst, skipped, limit: isForward ? limit : count };
  const rows =
    ranges.length === 1
      ? await rowsBehind(store, only, part)
      : await mergedBehind(store, isForward ? ranges : ranges.toReversed(), part);
  if (!isForward) rows.reverse();
  return {
    found: rows.map((row) => ({ item: itemOf(row), number: numberOf(row, only) })),
    totalCount: total,
  };
}

interface RowsBehind {
  readonly newestFirst: boolean;
  readonly skipped: number;
  readonly limit: number;
}

/** Skips rows without reading them, some in a turn of the event loop. */
async function rowsBehind(
  store: RowStore,
  { view, prefix = [] }: RowRange,
  { newestFirst, skipped, limit }: RowsBehind,
): Promise<Row[]> {
  const range = { view, prefix, reverse: newestFirst };
  let after: Row['key'] | undefined;
  let left = skipped;
  for (; left > MAX_SKIPPED; left -= MAX_SKIPPED) {
    const [last] = await store.rows({ ...range, offset: MAX_SKIPPED - 1, limit: 1, ...(after && { after }) });
    if (last === undefined) return [];
    after = last.key;
    await nextTurn();
  }
  return [...(await store.rows({ ...range, offset: left, limit, ...(after && { after }) }))];
}

/** Reads the skipped rows too: how many of them are of which range is not known before. */
async function mergedBehind(
  store: RowStore,
  ranges: readonly RowRange[],
  { newestFirst, skipped, limit }: RowsBehind,
): Promise<Row[]> {
  const found: Row[] = [];
  let passed = 0;
  for await (const row of mergedRows(store, ranges, { newestFirst, first: skipped + limit })) {
    if (passed >= skipped) found.push(row);
    passed += 1;
    if (found.length === limit) break;
  }
  return found;
}

/** Reads the rows before the page too, and all others where their number is not known. */
async function testedPage<Item>(
  store: RowStore,
  { ranges, fits, itemOf }: List<Item>,
  { offset, limit, total, ...options }: TablePart,
): Promise<FoundPart<Item>> {
  const [range = { prefix: [] }] = ranges;
  const found: { item: Item; number: number }[] = [];
  let matched = 0;
  const first = Math.max(1, limit);
  for await (const rows of mergedPieces(store, ranges, { ...options, first })) {
    for (const row of rows) {
      if (fits?.(row) === false) continue;
      if (matched >= offset && found.length < limit)
        found.push({ item: itemOf(row), number: numberOf(row, range) });
      matched += 1;
    }
    if (total !== undefined && found.length === limit) break;
  }
  return { found, totalCount: total ?? matched };
}
