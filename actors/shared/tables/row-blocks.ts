/**
 * Rows of codes and texts by order number, in blocks: exact counts and any page of any combination of filters.
 *
 * A block does not change: rows that were changed or added since it was made are beside it, and become a new block when there
 * are many. So a list that takes turns finds each row as it was or as it is, and a copy is the blocks that there are.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Packed, pack, Unpacked } from './packed.ts';
import type { RecordMarks } from './shared-records.ts';
import {
  BLOCK_ROWS,
  eachMarked,
  mark,
  RecordBlock,
  recordArrays,
  type SearchInBytes,
  TextBlock,
  textArrays,
  WORDS,
} from './text-block.ts';
import { has } from './texts.ts';

/** Blocks tested between two turns of the event loop: about a millisecond. */
const BLOCKS_PER_TURN = 64;
/** Rows that may be beside a block. */
const MAX_CHANGED = 64;
/** A block of fewer rows becomes part of the one before, if they have room together. */
const FEW_ROWS = BLOCK_ROWS / 4;
/** Rows of a word that are tested one by one; if more pass, all of them without a branch. */
const FEW_BITS = 8;
/** Scans that yield before one that does not: rows that are removed all the time must not keep a list from ending. */
const MAX_ATTEMPTS = 4;
/** Estimated memory of a row beside a block, and of the objects of a block. */
const ROW_BYTES = 400;
const BLOCK_BYTES = 4_096;

/** By column: a text, or numbers of records. */
export type RowText = string | readonly number[];

export interface TableRow {
  readonly codes: readonly number[];
  readonly texts: readonly RowText[];
}

/** A test of a row. */
export type RowTest =
  /** Marks of the codes that match. */
  | { readonly codes: number; readonly chosen: Uint8Array }
  | { readonly texts: number; readonly search: SearchInBytes }
  | { readonly records: number; readonly found: RecordMarks }
  /** All but these order numbers, which ascend. */
  | { readonly without: readonly number[] };

export interface RowScan {
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

/** Number of columns of codes; for each column of texts, true if it is of records. */
export interface RowShape {
  readonly codes: number;
  readonly texts: readonly boolean[];
}

const NONE: readonly number[] = [];
/** Rows of a block that pass, and that pass one of the tests. */
const passing = new Int32Array(WORDS);
const passesOne = new Int32Array(WORDS);

export class RowBlocks {
  readonly #shape: RowShape;
  /** Ascending. The first one begins before all orders. */
  readonly #blocks: Block[] = [];
  #bytes = 0;
  /** Rows that were removed since the start. */
  #removals = 0;
  size = 0;

  constructor(shape: RowShape) {
    this.#shape = shape;
  }

  /** Memory that it takes. */
  get bytes(): number {
    return this.#bytes;
  }

  text(order: number, column: number): RowText | undefined {
    return this.#blocks[this.#before(order, true)]?.text(order, column);
  }

  /** Adds or replaces a row; undefined removes it. */
  set(order: number, row: TableRow | undefined): void {
    let at = this.#before(order, true);
    const known = this.#blocks[at];
    if (known === undefined || (at === this.#blocks.length - 1 && order > known.last)) {
      if (row === undefined) return;
      at += 1;
      this.#blocks.push(new Block(known === undefined ? -Infinity : order));
    }
    const block = this.#blocks[at];
    if (block === undefined) return;
    const had = block.has(order);
    if (had && row === undefined) this.#removals += 1;
    this.size += (row === undefined ? 0 : 1) - (had ? 1 : 0);
    this.#bytes -= block.bytes;
    block.set(order, row);
    this.#bytes += block.bytes;
    if (block.isWorn) this.#renew(at);
  }

  /** The blocks as they are now. */
  copy(): Iterable<Packed> {
    return this.#packed(this.#blocks.map((block) => block.copy));
  }

  *#packed(blocks: readonly Block[]): Generator<Packed> {
    for (const block of blocks)
      for (const { packed } of this.#made([...block.entries()], block)) yield packed;
  }

  /** Adds a block that was copied, behind all others. @returns the numbers of its records, by column of texts */
  restore(packed: Packed): readonly (Uint32Array | undefined)[] {
    const rows = new ClosedRows(packed, this.#shape);
    const first = this.#blocks.length === 0 ? -Infinity : (rows.orders[0] ?? Infinity);
    const block = new Block(first, rows);
    this.#blocks.push(block);
    this.size += rows.orders.length;
    this.#bytes += block.bytes;
    return rows.texts.map((column) => (column instanceof RecordBlock ? column.all : undefined));
  }

  /** The orders of one page, and the number of matches. */
  async page(scan: RowScan): Promise<OrderPage> {
    for (let attempt = 1; ; attempt += 1) {
      const removals = this.#removals;
      const found = await this.#scan(scan, attempt < MAX_ATTEMPTS);
      if (removals === this.#removals) return found;
      // A row that was removed in a turn of the event loop is none of the page: the next one takes its place.
      if (found.orders.every((order) => this.#blocks[this.#before(order, true)]?.has(order))) return found;
    }
  }

  async #scan(scan: RowScan, yields: boolean): Promise<OrderPage> {
    const { offset, limit, newestFirst, total } = scan;
    // Codes are tested fastest.
    const groups = [...scan.groups].sort((a, b) => costOf(a) - costOf(b));
    const orders: number[] = [];
    let matched = 0;
    let from = scan.from ?? -Infinity;
    let below = scan.below ?? Infinity;
    for (let looked = 1; from < below; looked += 1) {
      const at = newestFirst ? this.#before(below, false) : this.#before(from, true);
      const block = this.#blocks[at];
      if (block === undefined) break;
      const end = this.#blocks[at + 1]?.from ?? Infinity;
      const others = block.find(groups, from > block.from ? from : -Infinity, below < end ? below : Infinity);
      const count = countOf(passing) + others.length;
      if (matched + count > offset && orders.length < limit) {
        const found = block
          .ordersIn(passing)
          .concat(others)
          .sort((a, b) => a - b);
        if (newestFirst) found.reverse();
        const skip = Math.max(0, offset - matched);
        orders.push(...found.slice(skip, skip + limit - orders.length));
      }
      matched += count;
      if (total !== undefined && orders.length === limit) break;
      if (newestFirst) below = block.from;
      else from = end;
      if (yields && looked % BLOCKS_PER_TURN === 0) await nextTurn();
    }
    return { orders, totalCount: total ?? matched };
  }

  /** Number of the last block that begins before an order, or at it. */
  #before(order: number, orAt: boolean): number {
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const from = this.#blocks[middle]?.from ?? 0;
      if (from < order || (orAt && from === order)) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** Makes new blocks of one and of the rows beside it. */
  #renew(at: number): void {
    const block = this.#blocks[at];
    if (block === undefined) return;
    const before = this.#blocks[at - 1];
    const joins = block.size < FEW_ROWS && before !== undefined && before.size + block.size <= BLOCK_ROWS;
    const old = joins ? [before, block] : [block];
    const made = this.#made(
      old.flatMap((one) => [...one.entries()]),
      joins ? undefined : block,
    );
    const first = old[0]?.from ?? 0;
    const renewed = made.map((rows, number) => new Block(number === 0 ? first : (rows.orders[0] ?? 0), rows));
    for (const one of old) this.#bytes -= one.bytes;
    for (const one of renewed) this.#bytes += one.bytes;
    this.#blocks.splice(at - old.length + 1, old.length, ...renewed);
    if (this.#blocks[0] !== undefined) this.#blocks[0].from = -Infinity;
  }

  /** Rows of as few blocks as they need. @param known has their unchanged columns if all are its own */
  #made(entries: readonly Entry[], known?: Block): readonly ClosedRows[] {
    const sorted = [...entries].sort(([a], [b]) => a - b);
    const count = Math.ceil(sorted.length / BLOCK_ROWS);
    const made: ClosedRows[] = [];
    for (let number = 0; number < count; number += 1) {
      const [from, to] = [number, number + 1].map((one) => Math.round((sorted.length * one) / count));
      made.push(closedRows(sorted.slice(from, to), this.#shape, count === 1 ? known?.replaced : undefined));
    }
    return made;
  }
}

function costOf(tests: readonly RowTest[]): number {
  return tests.every((test) => 'codes' in test) ? 0 : 1;
}

function countOf(marks: Int32Array): number {
  let count = 0;
  for (let word = 0; word < WORDS; word += 1) count += bitsIn(marks[word] as number);
  return count;
}

function bitsIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555);
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}

/** A row beside a block, or one in it. */
type Entry = readonly [order: number, row: TableRow | { readonly rows: ClosedRows; readonly at: number }];

/** Rows that do not change. */
class ClosedRows {
  readonly packed: Packed;
  readonly orders: Float64Array;
  readonly codes: readonly Uint16Array[];
  readonly texts: readonly (TextBlock | RecordBlock)[];

  constructor(packed: Packed, { codes, texts }: RowShape) {
    const from = new Unpacked(packed);
    this.packed = packed;
    this.orders = from.next(Float64Array);
    this.codes = Array.from({ length: codes }, () => from.next(Uint16Array));
    this.texts = texts.map((isOfRecords) => (isOfRecords ? new RecordBlock(from) : new TextBlock(from)));
  }

  /** -1: it is not there. */
  find(order: number): number {
    const at = this.firstFrom(order);
    return this.orders[at] === order ? at : -1;
  }

  /** The first row of an order at or above this one. */
  firstFrom(order: number): number {
    if (order === Infinity) return this.orders.length;
    let low = 0;
    let high = order === -Infinity ? 0 : this.orders.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.orders[middle] as number) < order) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  text(at: number, column: number): RowText {
    const texts = this.texts[column];
    return texts instanceof TextBlock ? texts.text(at) : (texts?.numbers(at) ?? []);
  }

  /** Marks those of the passing rows that pass the test. */
  mark(test: RowTest, marks: Int32Array): void {
    if ('codes' in test) markChosen(this.codes[test.codes] ?? new Uint16Array(0), test.chosen, marks);
    else if ('without' in test) {
      const { without } = test;
      const others = new Int32Array(WORDS);
      const last = this.orders.at(-1) ?? -Infinity;
      for (
        let at = firstOf(without, this.orders[0] ?? Infinity);
        (without[at] ?? Infinity) <= last;
        at += 1
      ) {
        const row = this.find(without[at] ?? 0);
        if (row >= 0) mark(others, row);
      }
      for (let word = 0; word < WORDS; word += 1)
        marks[word] = (marks[word] as number) | ~(others[word] as number);
    } else if ('search' in test) {
      const texts = this.texts[test.texts];
      if (texts instanceof TextBlock) texts.search(test.search, marks, passing);
    } else {
      const records = this.texts[test.records];
      const found = test.found();
      if (records instanceof RecordBlock && found !== undefined) records.search(found, marks);
    }
  }
}

/** @param same rows in place of which these are, if they have the same orders */
function closedRows(
  entries: readonly Entry[],
  { codes, texts }: RowShape,
  same: ClosedRows | undefined,
): ClosedRows {
  const textOf = (row: Entry[1], column: number): RowText =>
    'rows' in row ? row.rows.text(row.at, column) : (row.texts[column] ?? '');
  const isSame = (column: number) =>
    entries.every(
      ([, row], at) => 'rows' in row || String(row.texts[column]) === String(same?.text(at, column)),
    );
  const arrays = texts.map((isOfRecords, column) => {
    const known = same?.texts[column];
    if (known !== undefined && isSame(column)) return known.arrays;
    const all = entries.map(([, row]) => textOf(row, column));
    return isOfRecords
      ? recordArrays(all.map((numbers) => (typeof numbers === 'string' ? [] : numbers)))
      : textArrays(all.map((text) => (typeof text === 'string' ? text : '')));
  });
  const codesOf = (column: number) =>
    Uint16Array.from(
      entries,
      ([, row]) => ('rows' in row ? row.rows.codes[column]?.[row.at] : row.codes[column]) ?? 0,
    );
  const packed = pack([
    Float64Array.from(entries, ([order]) => order),
    ...Array.from({ length: codes }, (_, column) => codesOf(column)),
    ...arrays.flat(),
  ]);
  return new ClosedRows(packed, { codes, texts });
}

class Block {
  /** No order of it is less. */
  from: number;
  readonly #rows: ClosedRows | undefined;
  /** Rows beside it, which replace its own; undefined = removed. */
  readonly #changed = new Map<number, TableRow | undefined>();
  /** Marks of its own rows that are replaced or removed. */
  readonly #gone = new Int32Array(WORDS);
  size: number;
  /** Memory that it takes. */
  bytes: number;

  constructor(from: number, rows?: ClosedRows) {
    this.from = from;
    this.#rows = rows;
    this.size = rows?.orders.length ?? 0;
    this.bytes = BLOCK_BYTES + (rows?.packed.bytes.length ?? 0);
  }

  /** As it is now. */
  get copy(): Block {
    const copy = new Block(this.from, this.#rows);
    for (const [order, row] of this.#changed) copy.set(order, row);
    return copy;
  }

  /** Later orders than this one are in another block. */
  get last(): number {
    return this.#rows === undefined ? Infinity : (this.#rows.orders.at(-1) ?? 0);
  }

  /** True if it is to become a new one. */
  get isWorn(): boolean {
    return this.#changed.size >= (this.#rows === undefined ? BLOCK_ROWS : MAX_CHANGED);
  }

  /** Its own rows, if those beside it replace some of them and nothing else. */
  get replaced(): ClosedRows | undefined {
    const isSame = this.size === this.#rows?.orders.length && countOf(this.#gone) === this.#changed.size;
    return isSame ? this.#rows : undefined;
  }

  has(order: number): boolean {
    return this.#changed.has(order) ? this.#changed.get(order) !== undefined : this.#find(order) >= 0;
  }

  text(order: number, column: number): RowText | undefined {
    const at = this.#changed.has(order) ? -1 : this.#find(order);
    return at < 0 ? this.#changed.get(order)?.texts[column] : this.#rows?.text(at, column);
  }

  #find(order: number): number {
    return this.#rows?.find(order) ?? -1;
  }

  set(order: number, row: TableRow | undefined): void {
    this.size += (row === undefined ? 0 : 1) - (this.has(order) ? 1 : 0);
    this.bytes += bytesOf(row) - bytesOf(this.#changed.get(order));
    const at = this.#find(order);
    if (at >= 0) mark(this.#gone, at);
    if (at < 0 && row === undefined) this.#changed.delete(order);
    else this.#changed.set(order, row);
  }

  *entries(): Generator<Entry> {
    const rows = this.#rows;
    for (let at = 0; rows !== undefined && at < rows.orders.length; at += 1)
      if ((((this.#gone[at >> 5] as number) >> (at & 31)) & 1) === 0)
        yield [rows.orders[at] ?? 0, { rows, at }];
    for (const [order, row] of this.#changed) if (row !== undefined) yield [order, row];
  }

  /** Sets `passing` to its own rows within bounds that pass. @returns the orders of those beside it */
  find(groups: RowScan['groups'], from: number, below: number): readonly number[] {
    const rows = this.#rows;
    markBetween(passing, rows?.firstFrom(from) ?? 0, rows?.firstFrom(below) ?? 0);
    if (this.#changed.size > 0)
      for (let word = 0; word < WORDS; word += 1)
        passing[word] = (passing[word] as number) & ~(this.#gone[word] as number);
    for (const tests of groups) {
      passesOne.fill(0);
      for (const test of tests) rows?.mark(test, passesOne);
      let any = 0;
      for (let word = 0; word < WORDS; word += 1)
        any |= passing[word] = (passing[word] as number) & (passesOne[word] as number);
      if (any === 0) break;
    }
    if (this.#changed.size === 0) return NONE;
    const others: number[] = [];
    for (const [order, row] of this.#changed)
      if (row !== undefined && order >= from && order < below)
        if (groups.every((tests) => tests.some((test) => passes(order, row, test)))) others.push(order);
    return others;
  }

  /** The orders of marked rows. */
  ordersIn(marks: Int32Array): number[] {
    const orders: number[] = [];
    eachMarked(marks, (at) => orders.push(this.#rows?.orders[at] ?? 0));
    return orders;
  }
}

function bytesOf(row: TableRow | undefined): number {
  return row === undefined ? 0 : row.texts.reduce((sum, { length }) => sum + 2 * length, ROW_BYTES);
}

function passes(order: number, row: TableRow, test: RowTest): boolean {
  if ('codes' in test) return test.chosen[row.codes[test.codes] ?? 0] === 1;
  if ('without' in test) return test.without[firstOf(test.without, order)] !== order;
  const text = row.texts['search' in test ? test.texts : test.records] ?? '';
  if (typeof text !== 'string') return 'found' in test && text.some((record) => test.found()?.[record] === 1);
  return 'search' in test && has(text, test.search);
}

/** Index of the first number that is not less. */
function firstOf(numbers: readonly number[], number: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Marks the rows of one number on, and below another one, and no others. */
function markBetween(marks: Int32Array, from: number, below: number): void {
  for (let word = 0; word < WORDS; word += 1) {
    const low = Math.max(0, from - 32 * word);
    const high = Math.min(32, below - 32 * word);
    marks[word] = low < high ? (-1 << low) & (-1 >>> (32 - high)) : 0;
  }
}

/** Marks the rows with a chosen code among those that pass. */
function markChosen(codes: Uint16Array, chosen: Uint8Array, marks: Int32Array): void {
  for (let word = 0; word < WORDS; word += 1) {
    const first = 32 * word;
    const among = passing[word] as number;
    let bits = 0;
    if (bitsIn(among) > FEW_BITS && first + 32 <= codes.length)
      for (let at = 0; at < 32; at += 1) bits |= (chosen[codes[first + at] as number] as number) << at;
    else
      for (let left = among; left !== 0; left &= left - 1) {
        const at = 31 - Math.clz32(left & -left);
        bits |= (chosen[codes[first + at] as number] as number) << at;
      }
    marks[word] = (marks[word] as number) | bits;
  }
}
