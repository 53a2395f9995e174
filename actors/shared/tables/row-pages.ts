/** Reads ranges of rows in pieces, and pages of filtered views with the exact total. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ActorStore, Row, RowQuery } from '@sealwright/runtime';
import { foldText } from './texts.ts';

/** Rows per read: one or two milliseconds of the thread. */
const PAGE_SIZE = 512;

/** The rows of a range in pieces of at least one row; other work of the thread comes in between. @param size most rows of a piece */
export async function* rowPieces(
  store: Pick<ActorStore, 'rows'>,
  range: Omit<RowQuery, 'limit' | 'offset'>,
  size: number = PAGE_SIZE,
): AsyncGenerator<readonly Row[], void> {
  for (let { after } = range; ; ) {
    const rows: readonly Row[] = await store.rows({ ...range, limit: size, ...(after && { after }) });
    if (rows.length > 0) yield rows;
    if (rows.length < size) return;
    after = rows.at(-1)?.key;
    await nextTurn();
  }
}

/** The value of one counter. */
export async function countOf(store: Pick<ActorStore, 'counters'>, counter: string): Promise<number> {
  return (await store.counters(counter))[counter] ?? 0;
}

export interface PageOfRows {
  readonly view: string;
  readonly prefix?: readonly (string | number)[];
  readonly newestFirst: boolean;
  readonly limit: number;
  /** Pages from 0. */
  readonly offset: number;
  /** The rows that count. @default all */
  readonly matches?: ((row: Row) => boolean) | undefined;
  /** Counter that holds the number of all rows; only used when all match. */
  readonly counter: string;
}

export async function pageOfRows(
  store: Pick<ActorStore, 'rows' | 'counters'>,
  { view, prefix = [], newestFirst, limit, offset, matches, counter }: PageOfRows,
): Promise<{ readonly rows: readonly Row[]; readonly totalCount: number }> {
  const range = { view, prefix, reverse: newestFirst };
  const first = offset * limit;
  if (matches === undefined) {
    const totalCount = await countOf(store, counter);
    if (first >= totalCount) return { rows: [], totalCount };
    return { rows: await store.rows({ ...range, offset: first, limit }), totalCount };
  }
  const rows: Row[] = [];
  let totalCount = 0;
  for await (const piece of rowPieces(store, range))
    for (const row of piece) {
      if (!matches(row)) continue;
      if (totalCount >= first && rows.length < limit) rows.push(row);
      totalCount += 1;
    }
  return { rows, totalCount };
}

/** A page that begins behind a position. */
export interface PageByPosition extends Omit<PageOfRows, 'offset'> {
  readonly position: 'start' | { readonly after: number; readonly totalCount: number };
}

/**
 * Reads one page of a view whose keys are the prefix, an increasing number, and an id.
 * @returns `next` where there is a further row
 */
export async function pageByPosition(
  store: Pick<ActorStore, 'rows' | 'counters'>,
  { position, limit, matches = () => true, ...range }: PageByPosition,
): Promise<{
  readonly rows: readonly Row[];
  readonly totalCount: number;
  readonly next?: { readonly after: number; readonly totalCount: number };
}> {
  const { view, prefix = [], newestFirst } = range;
  const cursor = position === 'start' ? undefined : position;
  const totalCount =
    cursor?.totalCount ?? (await pageOfRows(store, { ...range, matches, limit: 0, offset: 0 })).totalCount;
  // Ids of further rows with the same number lie between these two.
  const after = cursor && { after: [...prefix, cursor.after, newestFirst ? '' : '~'] };
  const rows: Row[] = [];
  for await (const piece of rowPieces(store, { view, prefix, reverse: newestFirst, ...after }))
    for (const row of piece) {
      if (!matches(row)) continue;
      const last = rows.at(-1);
      if (last !== undefined && rows.length === limit)
        return { rows, totalCount, next: { after: Number(last.key[prefix.length]), totalCount } };
      rows.push(row);
    }
  return { rows, totalCount };
}

/** Substring test of rows, without regard to case and accents; undefined without a search text. */
export function containing(
  q: string | undefined,
  textOf: (row: Row) => string,
): ((row: Row) => boolean) | undefined {
  const wanted = foldText(q?.trim() ?? '');
  if (wanted === '') return undefined;
  return (row) => foldText(textOf(row)).includes(wanted);
}
