/** Rows of ranges whose keys have a number behind the prefix (an order number, a time), in pieces, singly or merged. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ActorStore, Row, RowQuery } from '@sealwright/runtime';

/** Rows of a read at most: one or two milliseconds of the thread. */
const PIECE_ROWS = 512;
/** The next read is so many times as large, up to the most. */
const GROWTH = 4;

export type RowStore = Pick<ActorStore, 'rows'>;

export interface RowRange {
  readonly view: string;
  /** The key without the number and what follows it. @default none */
  readonly prefix?: Row['key'];
}

/** Bounds of the numbers. */
export interface NumberBounds {
  /** Inclusive. */
  readonly from?: number | undefined;
  /** Exclusive. */
  readonly below?: number | undefined;
}

interface PieceOptions extends NumberBounds {
  /** @default oldest first */
  readonly newestFirst?: boolean | undefined;
  /** Key behind which they begin, in place of a bound. */
  readonly after?: Row['key'] | undefined;
  /** Rows of a read at most. @default 512 */
  readonly most?: number;
  /** Rows of the first read; the following ones grow. @default the most */
  readonly first?: number;
}

/** The number behind the prefix. */
export function numberOf({ key }: Pick<Row, 'key'>, { prefix = [] }: Pick<RowRange, 'prefix'>): number {
  return Number(key[prefix.length]);
}

/** Pieces of at least one row; other work of the thread comes in between. */
export async function* rowPieces(
  store: RowStore,
  { view, prefix = [] }: RowRange,
  options: PieceOptions = {},
): AsyncGenerator<readonly Row[], void> {
  const { newestFirst = false, from, below, most = PIECE_ROWS, first = most } = options;
  const range: Omit<RowQuery, 'limit'> = { view, prefix, reverse: newestFirst };
  // Without bounds the part behind the prefix need not be a number.
  const isInside = newestFirst
    ? (row: Row) => from === undefined || numberOf(row, { prefix }) >= from
    : (row: Row) => below === undefined || numberOf(row, { prefix }) < below;
  // Numbers are whole, and other parts of keys may follow them.
  const start = newestFirst ? below : from === undefined ? undefined : from - 0.5;
  let after = options.after ?? (start === undefined ? undefined : [...prefix, start]);
  for (let limit = Math.min(first, most); ; limit = Math.min(most, limit * GROWTH)) {
    const rows: readonly Row[] = await store.rows({ ...range, limit, ...(after && { after }) });
    const last = rows.at(-1);
    const isWhole = last === undefined || isInside(last);
    const inside = isWhole ? rows : rows.filter(isInside);
    if (inside.length > 0) yield inside;
    if (rows.length < limit || !isWhole) return;
    after = last?.key;
    await nextTurn();
  }
}

/** Pieces of several ranges, merged by the number; rows of one number in the order of the ranges. */
export async function* mergedPieces(
  store: RowStore,
  ranges: readonly RowRange[],
  options: PieceOptions = {},
): AsyncGenerator<readonly Row[], void> {
  const [only] = ranges;
  if (only !== undefined && ranges.length === 1) return yield* rowPieces(store, only, options);
  let heads = ranges.map((range) => ({
    range,
    pieces: rowPieces(store, range, options),
    rows: [] as readonly Row[],
    at: 0,
  }));
  for (;;) {
    for (const head of heads) {
      if (head.at < head.rows.length) continue;
      const { value } = await head.pieces.next();
      head.rows = value ?? [];
      head.at = 0;
    }
    heads = heads.filter(({ rows }) => rows.length > 0);
    if (heads.length === 0) return;
    const merged = mergedUntilOneIsUsed(heads, options.newestFirst === true);
    yield merged;
    if (merged.length === PIECE_ROWS) await nextTurn();
  }
}

interface Head {
  readonly range: RowRange;
  readonly rows: readonly Row[];
  /** The next row. */
  at: number;
}

/** Takes rows of the heads until one of them has no more, or a piece is full. */
function mergedUntilOneIsUsed(heads: readonly Head[], newestFirst: boolean): readonly Row[] {
  const merged: Row[] = [];
  while (merged.length < PIECE_ROWS) {
    let next: Head | undefined;
    let least = Infinity;
    for (const head of heads) {
      const row = head.rows[head.at];
      if (row === undefined) return merged;
      const number = newestFirst ? -numberOf(row, head.range) : numberOf(row, head.range);
      if (number >= least) continue;
      least = number;
      next = head;
    }
    const row = next?.rows[next.at];
    if (next === undefined || row === undefined) break;
    merged.push(row);
    next.at += 1;
  }
  return merged;
}

/** Single rows of several ranges, merged by the number. */
export async function* mergedRows(
  store: RowStore,
  ranges: readonly RowRange[],
  options: PieceOptions = {},
): AsyncGenerator<Row, void> {
  for await (const rows of mergedPieces(store, ranges, options)) yield* rows;
}

/** The value of one counter. */
export async function countOf(store: Pick<ActorStore, 'counters'>, counter: string): Promise<number> {
  return (await store.counters(counter))[counter] ?? 0;
}
