/** Ranges of rows whose keys end in an order number, read in batches, singly or merged. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ActorStore, Row } from '@sealwright/runtime';

/** Rows per read: one or two milliseconds of the thread. */
const PAGE_SIZE = 512;
/** Rows per skip; skipped rows are not parsed. */
const SKIP_SIZE = 8192;

export interface OrderedRowsOptions {
  readonly view: string;
  /** The key without the order number. */
  readonly prefix: readonly (string | number)[];
  readonly newestFirst: boolean;
  /** Lower bound of order numbers, inclusive. */
  readonly from?: number;
  /** Upper bound of order numbers, exclusive. */
  readonly below?: number;
  /** Maximum number of rows of a read. @default 512 */
  readonly most?: number;
  /** Estimated number of rows needed; size of the first read, which then grows. @default the maximum */
  readonly expected?: number;
}

/** The order number of a row. */
function orderOf(row: Row): number {
  return row.key.at(-1) as number;
}

/** One range. `head` is the next row after `fill`; yields to other work between two batches. */
export class OrderedRows {
  readonly #store: Pick<ActorStore, 'rows'>;
  readonly #options: OrderedRowsOptions;
  readonly #most: number;
  #page: readonly Row[] = [];
  /** Size of the next read. */
  #size: number;
  #at = 0;
  #after: readonly (string | number)[] | undefined;
  #isStarted = false;
  #exhausted = false;

  constructor(store: Pick<ActorStore, 'rows'>, options: OrderedRowsOptions) {
    this.#store = store;
    this.#options = options;
    this.#most = options.most ?? PAGE_SIZE;
    this.#size = Math.min(this.#most, Math.max(1, options.expected ?? PAGE_SIZE));
    const { newestFirst, from, below, prefix } = options;
    // Orders are whole numbers, so what comes after the one before is what begins with it.
    if (newestFirst && below !== undefined) this.#after = [...prefix, below];
    if (!newestFirst && from !== undefined) this.#after = [...prefix, from - 1];
  }

  get head(): Row | undefined {
    return this.#page[this.#at];
  }

  /** The order of `head`. */
  get order(): number | undefined {
    const { head } = this;
    return head && orderOf(head);
  }

  next(): Row | undefined {
    const row = this.head;
    this.#at += 1;
    return row;
  }

  /** Sets `head` to the next row; reads the next batch when the current one is used up. */
  async fill(): Promise<void> {
    if (this.#exhausted || this.head !== undefined) return;
    await this.#turn();
    const size = this.#size;
    this.#size = Math.min(this.#most, size * 4);
    const piece = await this.#read({ limit: size });
    const { newestFirst, from = -Infinity, below = Infinity } = this.#options;
    const inside = piece.filter((row) => (newestFirst ? orderOf(row) >= from : orderOf(row) < below));
    this.#page = inside;
    this.#at = 0;
    this.#after = piece.at(-1)?.key ?? this.#after;
    this.#exhausted = piece.length < size || inside.length < piece.length;
  }

  /** Skips rows without reading their values; returns the number skipped. Only before `fill`. */
  async skip(count: number): Promise<number> {
    let skipped = 0;
    while (skipped < count) {
      await this.#turn();
      const hop = Math.min(SKIP_SIZE, count - skipped);
      const [last] = await this.#read({ offset: hop - 1, limit: 1 });
      if (last === undefined) break;
      this.#after = last.key;
      skipped += hop;
    }
    return skipped;
  }

  async #turn(): Promise<void> {
    if (this.#isStarted) await nextTurn();
    this.#isStarted = true;
  }

  #read(part: { readonly offset?: number; readonly limit: number }): Promise<readonly Row[]> {
    const { view, prefix, newestFirst } = this.#options;
    const after = this.#after && { after: this.#after };
    return this.#store.rows({ view, prefix, reverse: newestFirst, ...after, ...part });
  }
}

/** Merges ranges of one direction by order number. */
export class MergedRows {
  #ranges: readonly OrderedRows[];
  readonly #newestFirst: boolean;

  /** `newestFirst`: the direction of all of them. */
  constructor(ranges: readonly OrderedRows[], newestFirst: boolean) {
    this.#ranges = ranges;
    this.#newestFirst = newestFirst;
  }

  /** The next row of all ranges. */
  async next(): Promise<Row | undefined> {
    let first: OrderedRows | undefined;
    let ended = false;
    for (const range of this.#ranges) {
      if (range.head === undefined) await range.fill();
      if (range.order === undefined) ended = true;
      else if (first?.order === undefined || this.#before(range.order, first.order)) first = range;
    }
    if (ended) this.#ranges = this.#ranges.filter((range) => range.head !== undefined);
    return first?.next();
  }

  /** Skips rows; returns the number skipped. */
  async skip(count: number): Promise<number> {
    const [only] = this.#ranges;
    if (this.#ranges.length === 1 && only) return only.skip(count);
    let skipped = 0;
    while (skipped < count && (await this.next()) !== undefined) skipped += 1;
    return skipped;
  }

  #before(order: number, other: number): boolean {
    return this.#newestFirst ? order > other : order < other;
  }
}

/** Counts the remaining rows that match. */
export async function countRows(
  ranges: readonly OrderedRows[],
  matches: (row: Row) => boolean,
): Promise<number> {
  let count = 0;
  for (const range of ranges) {
    for (await range.fill(); range.head !== undefined; await range.fill()) {
      for (let row = range.next(); row !== undefined; row = range.next()) if (matches(row)) count += 1;
    }
  }
  return count;
}
