/**
 * Table in memory of coded values by order number: exact counts and any page of any combination of filters at some
 * nanoseconds per row. A row takes 9 bytes, 2 per column of codes and 4 per column of entries.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Bytes, KeptFile } from './kept-file.ts';
import { ASK, type Found, NO_ENTRY } from './text-column.ts';

/** Rows tested together, and between two turns of the event loop: about a millisecond. */
const ROWS_PER_BLOCK = 16_384;
const BLOCKS_PER_TURN = 4;
/** Removed rows are dropped when there are as many, and more than a quarter of all. */
const MIN_DROPPED = 1024;
/** Scans that yield before one that does not: rows that move all the time must not keep a list from ending. */
const MAX_ATTEMPTS = 4;
/** Rows copied between two turns of the event loop. */
const ROWS_COPIED = 65_536;
/** Rows for which a restored table has room, for each one in it. */
const SPARE = 1.25;
/** Largest code of a column. */
const MAX_CODE = 0xffff;

/** Numbers texts in order of appearance. */
export class Codes {
  readonly #byText = new Map<string | null, number>();

  /** @throws RangeError beyond 65,536 texts */
  codeOf(text: string | null): number {
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    const code = this.#byText.size;
    if (code > MAX_CODE) throw new RangeError(`A column has at most ${MAX_CODE + 1} different values.`);
    this.#byText.set(text, code);
    return code;
  }

  /** In the order of their codes. */
  get texts(): readonly (string | null)[] {
    return [...this.#byText.keys()];
  }

  restore(texts: readonly (string | null)[]): void {
    for (const text of texts) this.codeOf(text);
  }

  /** Marks the codes of the texts that match. */
  select(matches: (text: string | null) => boolean): Uint8Array {
    const chosen = new Uint8Array(MAX_CODE + 1);
    for (const [text, code] of this.#byText) if (matches(text)) chosen[code] = 1;
    return chosen;
  }
}

/** A test of a row. */
export type RowTest =
  /** Marks of the codes that match. */
  | { readonly codes: number; readonly chosen: Uint8Array }
  | { readonly entries: number; readonly found: Found }
  | { readonly without: ReadonlySet<number> };

export interface ColumnScan {
  /** Lower bound of order numbers, inclusive. */
  readonly from?: number | undefined;
  /** Upper bound, exclusive. */
  readonly below?: number | undefined;
  /** A row passes one test of each group. */
  readonly groups: readonly (readonly RowTest[])[];
  readonly newestFirst: boolean;
  readonly offset: number;
  readonly limit: number;
  /** The number of matches where it is known: the scan ends with the page. */
  readonly total?: number | undefined;
}

export interface OrderPage {
  /** Order numbers. */
  readonly orders: readonly number[];
  readonly totalCount: number;
}

/** Rows of a block: 1 = passes. */
const passed = new Uint8Array(ROWS_PER_BLOCK);
const passedOne = new Uint8Array(ROWS_PER_BLOCK);

export class OrderedColumns {
  #orders = new Float64Array(1024);
  #codes: Uint16Array[];
  #entries: Uint32Array[];
  #isRemoved = new Uint8Array(1024);
  #length = 0;
  #removed = 0;
  /** Incremented when rows move: a scan that yields begins again. */
  #moves = 0;
  /** The first row that has moved since a copy began. */
  #firstMoved = Number.POSITIVE_INFINITY;

  constructor(codes: number, entries: number) {
    this.#codes = Array.from({ length: codes }, () => new Uint16Array(1024));
    this.#entries = Array.from({ length: entries }, () => new Uint32Array(1024));
  }

  get size(): number {
    return this.#length - this.#removed;
  }

  /** The largest order number. */
  get last(): number {
    return this.#orders[this.#length - 1] ?? -Infinity;
  }

  /** Memory that it takes. */
  get bytes(): number {
    return this.#arrays().reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** The entry of a row in one of the columns of entries. */
  entryOf(order: number, column: number): number {
    const row = this.#rowOf(order);
    return row === undefined ? NO_ENTRY : (this.#entries[column]?.[row] ?? NO_ENTRY);
  }

  setEntry(order: number, column: number, entry: number): void {
    const row = this.#rowOf(order);
    const values = this.#entries[column];
    if (row !== undefined && values !== undefined) values[row] = entry;
  }

  /**
   * Copies all rows in turns: rows as of some moment between the call and the answer, together with what `others` answers
   * in the same turn as the last ones. Undefined where rows move all the time.
   */
  async copy<Others>(others: () => Others): Promise<readonly [readonly Bytes[], Others] | undefined> {
    let copies: readonly Bytes[] = [];
    let done = 0;
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; ) {
      this.#firstMoved = Number.POSITIVE_INFINITY;
      while (done < this.#length) {
        const end = Math.min(done + ROWS_COPIED, this.#length);
        const arrays = this.#arrays();
        // More rows may have been added.
        if ((copies[0]?.length ?? 0) < end)
          copies = arrays.map((array, at) => enlarged(copies[at], array, Math.ceil(this.#length * SPARE)));
        for (const [at, array] of arrays.entries()) copies[at]?.set(array.subarray(done, end), done);
        done = end;
        if (done < this.#length) await nextTurn();
      }
      if (this.#firstMoved >= done) return [copies.map((array) => array.subarray(0, this.#length)), others()];
      done = this.#firstMoved;
      attempt += 1;
    }
    return undefined;
  }

  /** Reads rows that were copied. */
  async restore(length: number, file: KeptFile): Promise<void> {
    const room = Math.max(1024, Math.ceil(length * SPARE));
    this.#orders = new Float64Array(room);
    this.#isRemoved = new Uint8Array(room);
    this.#codes = this.#codes.map(() => new Uint16Array(room));
    this.#entries = this.#entries.map(() => new Uint32Array(room));
    for (const array of this.#arrays()) await file.read(array.subarray(0, length));
    this.#length = length;
    this.#removed = this.#isRemoved.subarray(0, length).reduce((sum, one) => sum + one, 0);
  }

  /** Order and entry of each row that is there, in a column of entries. */
  async eachEntry(column: number, use: (order: number, entry: number) => void): Promise<void> {
    const entries = this.#entries[column];
    for (let row = 0; row < this.#length; row += 1) {
      if (row % ROWS_COPIED === 0) await nextTurn();
      const entry = entries?.[row] ?? NO_ENTRY;
      if (entry !== NO_ENTRY && this.#isRemoved[row] === 0) use(this.#orders[row] ?? 0, entry);
    }
  }

  /** Adds or replaces a row. */
  set(order: number, codes: readonly number[], entries: readonly number[]): void {
    const row = this.#lowerBound(order);
    if (row === this.#length || this.#orders[row] !== order) this.#insert(row, order);
    else if (this.#isRemoved[row] === 1) this.#removed -= 1;
    this.#isRemoved[row] = 0;
    for (const [index, column] of this.#codes.entries()) column[row] = codes[index] ?? 0;
    for (const [index, column] of this.#entries.entries()) column[row] = entries[index] ?? NO_ENTRY;
  }

  delete(order: number): void {
    const row = this.#rowOf(order);
    if (row === undefined) return;
    this.#isRemoved[row] = 1;
    this.#removed += 1;
    if (this.#removed >= MIN_DROPPED && this.#removed * 4 >= this.#length) this.#drop();
  }

  /** The orders of one page, and the number of matches. */
  async page(scan: ColumnScan): Promise<OrderPage> {
    for (let attempt = 1; ; attempt += 1) {
      const moves = this.#moves;
      const yields = attempt < MAX_ATTEMPTS;
      const found = await this.#scan(scan, yields, () => this.#moves === moves);
      // A row that was removed in a turn of the event loop is none of the page: the next one takes its place.
      if (found?.orders.every((order) => this.#rowOf(order) !== undefined)) return found;
    }
  }

  async #scan(scan: ColumnScan, yields: boolean, isWhole: () => boolean): Promise<OrderPage | undefined> {
    const { from = 0, below = Infinity, offset, limit, newestFirst, total, groups } = scan;
    const orders: number[] = [];
    let matched = 0;
    const [first, end] = [this.#lowerBound(from), this.#lowerBound(below)];
    const blocks = Math.ceil((end - first) / ROWS_PER_BLOCK);
    for (let block = 0; block < blocks; block += 1) {
      if (yields && block > 0 && block % BLOCKS_PER_TURN === 0) {
        await nextTurn();
        if (!isWhole()) return undefined;
      }
      const skipped = block * ROWS_PER_BLOCK;
      const start = newestFirst ? Math.max(first, end - skipped - ROWS_PER_BLOCK) : first + skipped;
      const length = Math.min(ROWS_PER_BLOCK, end - first - skipped);
      const passing = this.#test(groups, start, length);
      if (matched + passing > offset && orders.length < limit)
        this.#take(orders, { start, length, newestFirst, limit, skip: Math.max(0, offset - matched) });
      matched += passing;
      if (total !== undefined && orders.length === limit) break;
    }
    return { orders, totalCount: total ?? matched };
  }

  /** Sets `passed`. @returns how many rows pass */
  #test(groups: ColumnScan['groups'], start: number, length: number): number {
    const removed = this.#isRemoved;
    for (let at = 0; at < length; at += 1) passed[at] = 1 - (removed[start + at] ?? 0);
    for (const tests of groups) {
      passedOne.fill(0);
      for (const test of tests) this.#testOne(test, start, length);
      for (let at = 0; at < length; at += 1) passed[at] = (passed[at] ?? 0) & (passedOne[at] ?? 0);
    }
    let count = 0;
    for (let at = 0; at < length; at += 1) count += passed[at] ?? 0;
    return count;
  }

  /** Sets `passedOne` where a row passes. */
  #testOne(test: RowTest, start: number, length: number): void {
    if ('codes' in test) {
      const column = this.#codes[test.codes] ?? new Uint16Array(0);
      const { chosen } = test;
      for (let at = 0; at < length; at += 1)
        passedOne[at] = (passedOne[at] ?? 0) | (chosen[column[start + at] ?? 0] ?? 0);
    } else if ('entries' in test) {
      const column = this.#entries[test.entries] ?? new Uint32Array(0);
      const { marks, ask } = test.found;
      for (let at = 0; at < length; at += 1) {
        const entry = column[start + at] ?? NO_ENTRY;
        if (entry === NO_ENTRY) continue;
        const mark = entry < marks.length ? marks[entry] : ASK;
        if (mark === 1 || (mark === ASK && ask(entry))) passedOne[at] = 1;
      }
    } else {
      const { without } = test;
      for (let at = 0; at < length; at += 1)
        if (!without.has(this.#orders[start + at] ?? 0)) passedOne[at] = 1;
    }
  }

  /** Adds the orders of rows that pass. */
  #take(
    orders: number[],
    part: Pick<ColumnScan, 'newestFirst' | 'limit'> & {
      readonly start: number;
      readonly length: number;
      readonly skip: number;
    },
  ): void {
    const { start, length, newestFirst, limit } = part;
    let { skip } = part;
    for (let step = 0; step < length && orders.length < limit; step += 1) {
      const at = newestFirst ? length - 1 - step : step;
      if (passed[at] !== 1) continue;
      if (skip > 0) skip -= 1;
      else orders.push(this.#orders[start + at] ?? 0);
    }
  }

  #rowOf(order: number): number | undefined {
    const row = this.#lowerBound(order);
    const isThere = row < this.#length && this.#orders[row] === order && this.#isRemoved[row] === 0;
    return isThere ? row : undefined;
  }

  /** The first row of an order at or above this one. */
  #lowerBound(order: number): number {
    const last = this.#orders[this.#length - 1];
    if (last === undefined || this.#length === 0 || order > last) return this.#length;
    let [low, high] = [0, this.#length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#orders[middle] ?? 0) < order) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #insert(row: number, order: number): void {
    if (this.#length === this.#orders.length) {
      const length = this.#length * 2;
      this.#orders = grown(this.#orders, new Float64Array(length));
      this.#isRemoved = grown(this.#isRemoved, new Uint8Array(length));
      this.#codes = this.#codes.map((column) => grown(column, new Uint16Array(length)));
      this.#entries = this.#entries.map((column) => grown(column, new Uint32Array(length)));
      this.#moves += 1;
    }
    if (row < this.#length) {
      for (const array of this.#arrays()) array.copyWithin(row + 1, row, this.#length);
      this.#moves += 1;
      this.#firstMoved = Math.min(this.#firstMoved, row);
    }
    this.#orders[row] = order;
    this.#length += 1;
  }

  #drop(): void {
    let kept = 0;
    const arrays = this.#arrays();
    for (let row = 0; row < this.#length; row += 1) {
      if (this.#isRemoved[row] === 1) continue;
      for (const array of arrays) array[kept] = array[row] ?? 0;
      kept += 1;
    }
    this.#isRemoved.fill(0);
    this.#length = kept;
    this.#removed = 0;
    this.#moves += 1;
    this.#firstMoved = 0;
  }

  #arrays(): readonly (Float64Array | Uint16Array | Uint32Array | Uint8Array)[] {
    return [this.#orders, this.#isRemoved, ...this.#codes, ...this.#entries];
  }
}

function enlarged(from: Bytes | undefined, like: Bytes, length: number): Bytes {
  const bytes = new (like.constructor as new (length: number) => Bytes)(length);
  if (from !== undefined) bytes.set(from);
  return bytes;
}

function grown<Values extends Float64Array | Uint16Array | Uint32Array | Uint8Array>(
  from: Values,
  to: Values,
): Values {
  to.set(from);
  return to;
}
