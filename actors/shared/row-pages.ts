/** Reads one page of a filtered view with the exact total. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ActorStore, Row } from '@sealwright/runtime';

/** Rows per read: one or two milliseconds of the thread. */
const PAGE_SIZE = 512;

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
    const totalCount = (await store.counters(counter))[counter] ?? 0;
    if (first >= totalCount) return { rows: [], totalCount };
    return { rows: await store.rows({ ...range, offset: first, limit }), totalCount };
  }
  const rows: Row[] = [];
  let totalCount = 0;
  let after: Row['key'] | undefined;
  for (;;) {
    const piece = await store.rows({ ...range, limit: PAGE_SIZE, ...(after && { after }) });
    for (const row of piece) {
      if (!matches(row)) continue;
      if (totalCount >= first && rows.length < limit) rows.push(row);
      totalCount += 1;
    }
    after = piece.at(-1)?.key;
    if (piece.length < PAGE_SIZE) return { rows, totalCount };
    await nextTurn();
  }
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
  let after: Row['key'] | undefined = cursor && [...prefix, cursor.after, newestFirst ? '' : '~'];
  const rows: Row[] = [];
  for (;;) {
    const piece: readonly Row[] = await store.rows({
      ...{ view, prefix, reverse: newestFirst, limit: PAGE_SIZE },
      ...(after && { after }),
    });
    for (const row of piece) {
      if (!matches(row)) continue;
      const last = rows.at(-1);
      if (last !== undefined && rows.length === limit)
        return { rows, totalCount, next: { after: Number(last.key[prefix.length]), totalCount } };
      rows.push(row);
    }
    after = piece.at(-1)?.key;
    if (piece.length < PAGE_SIZE) return { rows, totalCount };
    await nextTurn();
  }
}

/** Case-insensitive substring test of rows; undefined without a search text. */
export function containing(
  q: string | undefined,
  textOf: (row: Row) => string,
): ((row: Row) => boolean) | undefined {
  const wanted = q?.normalize('NFC').toLowerCase();
  if (!wanted) return undefined;
  return (row) => textOf(row).normalize('NFC').toLowerCase().includes(wanted);
}
