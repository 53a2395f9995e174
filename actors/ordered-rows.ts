/** Ranges of rows whose keys end in an order number, read in pieces, alone or merged. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ActorStore, Row } from '../runtime/index.ts';

/** Rows read at once: a millisecond or two of this thread's time. */
const PIECE = 512;
/** Rows skipped at once; what is skipped is not parsed. */
const HOP = 8192;

export interface OrderedRowsOptions {
  readonly view: string;
  /** All of the key but the order. */
  readonly prefix: readonly (string | number)[];
  readonly newestFirst: boolean;
  /** Only orders from this one on. */
  readonly from?: number;
  /** Only orders below this one. */
  readonly below?: number;
  /** Rows that will probably be enough: so many are read first, then more at once. @default as many as are ever read at once */
  readonly expected?: number;
}

/** The order number of a row. */
function orderOf(row: Row): number {
  return row.key.at(-1) as number;
}

/** One range. `head` is the next row once `fill` has been waited for; others get their turn between two pieces. */
export class OrderedRows {
  readonly #store: Pick<ActorStore, 'rows'>;
  readonly #options: OrderedRowsOptions;
  #piece: readonly Row[] = [];
  /** Rows to read next. */
  #size: number;
  #at = 0;
  #after: readonly (string | number)[] | undefined;
  #begun = false;
  #exhausted = false;

  constructor(store: Pick<ActorStore, 'rows'>, options: OrderedRowsOptions) {
    this.#store = store;
    this.#options = options;
    this.#size = Math.min(PIECE, Math.max(1, options.expected ?? PIECE));
    const { newestFirst, from, below, prefix } = options;
    // Orders are whole numbers, so what comes after the one before is what begins with it.
    if (newestFirst && below !== undefined) this.#after = [...prefix, below];
    if (!newestFirst && from !== undefined) this.#after = [...prefix, from - 1];
  }

  get head(): Row | undefined {
    return this.#piece[this.#at];
  }

  /** The order of `head`. */
  get order(): number | undefined {
    const { head } = this;
    return head && orderOf(head);
  }

  take(): Row | undefined {
    const row = this.head;
    this.#at += 1;
    return row;
  }

  /** Makes `head` the next row, reading on behind the last one where the piece at hand is used up. */
  async fill(): Promise<void> {
    if (this.#exhausted || this.head !== undefined) return;
    await this.#turn();
    const size = this.#size;
    this.#size = Math.min(PIECE, size * 4);
    const piece = await this.#read({ limit: size });
    const { newestFirst, from = -Infinity, below = Infinity } = this.#options;
    const inside = piece.filter((row) => (newestFirst ? orderOf(row) >= from : orderOf(row) < below));
    this.#piece = inside;
    this.#at = 0;
    this.#after = piece.at(-1)?.key ?? this.#after;
    this.#exhausted = piece.length < size || inside.length < piece.length;
  }

  /** Passes over so many rows without reading their values; fewer when there are no more. Only before `fill`. */
  async skip(count: number): Promise<number> {
    let skipped = 0;
    while (skipped < count) {
      await this.#turn();
      const hop = Math.min(HOP, count - skipped);
      const [last] = await this.#read({ offset: hop - 1, limit: 1 });
      if (last === undefined) break;
      this.#after = last.key;
      skipped += hop;
    }
    return skipped;
  }

  async #turn(): Promise<void> {
    if (this.#begun) await nextTurn();
    this.#begun = true;
  }

  #read(part: { readonly offset?: number; readonly limit: number }): Promise<readonly Row[]> {
    const { view, prefix, newestFirst } = this.#options;
    const after = this.#after && { after: this.#after };
    return this.#store.rows({ view, prefix, reverse: newestFirst, ...after, ...part });
  }
}

/** Several ranges of one direction as one. Each row is compared with the heads of all ranges that have rows left. */
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
    return first?.take();
  }

  /** Passes over so many rows; says how many there were. */
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

/** How many of the rows that are left match, in whatever order. */
export async function countRows(
  ranges: readonly OrderedRows[],
  matches: (row: Row) => boolean,
): Promise<number> {
  let count = 0;
  for (const range of ranges) {
    for (await range.fill(); range.head !== undefined; await range.fill()) {
      for (let row = range.take(); row !== undefined; row = range.take()) if (matches(row)) count += 1;
    }
  }
  return count;
}
