/**
 * Rows of codes and texts by order number, in blocks: exact counts and any page of any combination of filters.
 *
 * A block does not change: rows that were changed or added since it was made are beside it, and become a new block when there
 * are many. So a list that takes turns finds each row as it was or as it is.
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
  | { readonly without: readonly number[] }
  /** All but these texts. */
  | { readonly texts: number; readonly others: ReadonlySet<string> };

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
  /** Beside them, where several rows may have one number. */
  readonly ids?: readonly string[];
  readonly totalCount: number;
}

/** Number of columns of codes; for each column of texts, true if it is of records. */
export interface RowShape {
  readonly codes: number;
  readonly texts: readonly boolean[];
  /** Column of texts by which rows of one order number are sorted and told apart. @default each has its own number */
  readonly ids?: number | undefined;
}

/** Place of a row. */
interface Place {
  readonly order: number;
  /** Empty where each row has its own number, and before all rows of a number. */
  readonly id: string;
}

const START: Place = { order: -Infinity, id: '' };
const END: Place = { order: Infinity, id: '' };

function isBefore(one: Place, other: Place): boolean {
  return one.order < other.order || (one.order === other.order && one.id < other.id);
}

const NONE: readonly Place[] = [];
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

  /** @param id where several rows may have one number */
  text(order: number, column: number, id = ''): RowText | undefined {
    const place = { order, id };
    return this.#blocks[this.#blockOf(place)]?.text(place, column);
  }

  /** Adds or replaces a row; undefined removes it. @param id where several rows may have one number */
  set(order: number, row: TableRow | undefined, id = ''): void {
    const place = { order, id };
    let at = this.#blockOf(place);
    const known = this.#blocks[at];
    if (known === undefined || (at === this.#blocks.length - 1 && isBefore(known.last, place))) {
      if (row === undefined) return;
      at += 1;
      this.#blocks.push(new Block(known === undefined ? START : place));
    }
    const block = this.#blocks[at];
    if (block === undefined) return;
    const had = block.has(place);
    if (had && row === undefined) this.#removals += 1;
    this.size += (row === undefined ? 0 : 1) - (had ? 1 : 0);
    this.#bytes -= block.bytes;
    block.set(place, row);
    this.#bytes += block.bytes;
    if (block.isWorn) this.#renew(at);
  }

  /** The orders of one page, and the number of matches. */
  async page(scan: RowScan): Promise<OrderPage> {
    for (let attempt = 1; ; attempt += 1) {
      const removals = this.#removals;
      const found = await this.#scan(scan, attempt < MAX_ATTEMPTS);
      if (removals === this.#removals) return found;
      // A row that was removed in a turn of the event loop is none of the page: the next one takes its place.
      const isThere = (place: Place) => this.#blocks[this.#blockOf(place)]?.has(place) === true;
      if (found.orders.every((order, at) => isThere({ order, id: found.ids?.[at] ?? '' }))) return found;
    }
  }

  async #scan(scan: RowScan, yields: boolean): Promise<OrderPage> {
    const { offset, limit, newestFirst, total } = scan;
    // Codes are tested fastest.
    const groups = [...scan.groups].sort((a, b) => costOf(a) - costOf(b));
    const perTurn = groups.some((tests) => costOf(tests) > 1) ? BLOCKS_PER_TURN / 16 : BLOCKS_PER_TURN;
    const places: Place[] = [];
    let matched = 0;
    let from: Place = { order: scan.from ?? -Infinity, id: '' };
    let below: Place = { order: scan.below ?? Infinity, id: '' };
    for (let looked = 1; isBefore(from, below); looked += 1) {
      const at = newestFirst ? this.#blockBefore(below) : this.#blockOf(from);
      const block = this.#blocks[at];
      if (block === undefined) break;
      const end = this.#blocks[at + 1]?.from ?? END;
      const bounds = {
        from: isBefore(block.from, from) ? from : START,
        below: isBefore(below, end) ? below : END,
      };
      const others = block.find(groups, bounds);
      const count = countOf(passing) + others.length;
      if (matched + count > offset && places.length < limit) {
        const found = block
          .placesIn(passing)
          .concat(others)
          .sort((one, other) => (isBefore(one, other) ? -1 : 1));
        if (newestFirst) found.reverse();
        const skip = Math.max(0, offset - matched);
        places.push(...found.slice(skip, skip + limit - places.length));
      }
      matched += count;
      if (total !== undefined && places.length === limit) break;
      if (newestFirst) below = block.from;
      else from = end;
      if (yields && looked % perTurn === 0) await nextTurn();
    }
    return {
      orders: places.map(({ order }) => order),
      ...(this.#shape.ids !== undefined && { ids: places.map(({ id }) => id) }),
      totalCount: total ?? matched,
    };
  }

  /** Number of the last block that begins before a place, or at it. */
  #blockOf(place: Place): number {
    return this.#firstBlock(({ from }) => isBefore(place, from)) - 1;
  }

  /** Number of the last block that begins before a place. */
  #blockBefore(place: Place): number {
    return this.#firstBlock(({ from }) => !isBefore(from, place)) - 1;
  }

  /** Number of the first block that is behind. */
  #firstBlock(isBehind: (block: Block) => boolean): number {
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBehind(this.#blocks[middle] as Block)) high = middle;
      else low = middle + 1;
    }
    return low;
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
    const first = old[0]?.from ?? START;
    const renewed = made.map((rows, number) => new Block(number === 0 ? first : rows.placeOf(0), rows));
    for (const one of old) this.#bytes -= one.bytes;
    for (const one of renewed) this.#bytes += one.bytes;
    this.#blocks.splice(at - old.length + 1, old.length, ...renewed);
    if (this.#blocks[0] !== undefined) this.#blocks[0].from = START;
  }

  /** Rows of as few blocks as they need. @param known has their unchanged columns if all are its own */
  #made(entries: readonly Entry[], known?: Block): readonly ClosedRows[] {
    const sorted = [...entries].sort(([one], [other]) => (isBefore(one, other) ? -1 : 1));
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
  if (tests.some((test) => 'others' in test)) return 2;
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
type Entry = readonly [place: Place, row: TableRow | { readonly rows: ClosedRows; readonly at: number }];

/** Rows that do not change. */
class ClosedRows {
  readonly packed: Packed;
  readonly #ids: number | undefined;
  readonly orders: Float64Array;
  readonly codes: readonly Uint16Array[];
  readonly texts: readonly (TextBlock | RecordBlock)[];

  constructor(packed: Packed, { codes, texts, ids }: RowShape) {
    const from = new Unpacked(packed);
    this.packed = packed;
    this.#ids = ids;
    this.orders = from.next(Float64Array);
    this.codes = Array.from({ length: codes }, () => from.next(Uint16Array));
    this.texts = texts.map((isOfRecords) => (isOfRecords ? new RecordBlock(from) : new TextBlock(from)));
  }

  placeOf(at: number): Place {
    return { order: this.orders[at] ?? Infinity, id: this.#idOf(at) };
  }

  #idOf(at: number): string {
    return this.#ids === undefined ? '' : String(this.text(at, this.#ids));
  }

  /** -1: it is not there. */
  find(place: Place): number {
    const at = this.firstFrom(place);
    return this.orders[at] === place.order && this.#idOf(at) === place.id ? at : -1;
  }

  /** The first row at a place or behind it. */
  firstFrom({ order, id }: Place): number {
    if (order === Infinity) return this.orders.length;
    let low = 0;
    let high = order === -Infinity ? 0 : this.orders.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const its = this.orders[middle] as number;
      if (its < order || (its === order && this.#idOf(middle) < id)) low = middle + 1;
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
        const row = this.find({ order: without[at] ?? 0, id: '' });
        if (row >= 0) mark(others, row);
      }
      for (let word = 0; word < WORDS; word += 1)
        marks[word] = (marks[word] as number) | ~(others[word] as number);
    } else if ('search' in test) {
      const texts = this.texts[test.texts];
      if (texts instanceof TextBlock) texts.search(test.search, marks, passing);
    } else if ('others' in test) {
      eachMarked(passing, (at) => {
        if (!test.others.has(String(this.text(at, test.texts)))) mark(marks, at);
      });
    } else {
      const records = this.texts[test.records];
      const found = test.found();
      if (records instanceof RecordBlock && found !== undefined) records.search(found, marks);
    }
  }
}

/** @param same rows in place of which these are, if they have the same orders */
function closedRows(entries: readonly Entry[], shape: RowShape, same: ClosedRows | undefined): ClosedRows {
  const { codes, texts } = shape;
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
    Float64Array.from(entries, ([{ order }]) => order),
    ...Array.from({ length: codes }, (_, column) => codesOf(column)),
    ...arrays.flat(),
  ]);
  return new ClosedRows(packed, shape);
}

/** A row beside a block; without it, none has its place. */
interface Change {
  readonly place: Place;
  readonly row: TableRow | undefined;
}

class Block {
  /** No row of it is before this place. */
  from: Place;
  readonly #rows: ClosedRows | undefined;
  /** Rows beside it, which replace its own, by their places. */
  readonly #changed = new Map<number | string, Change>();
  /** Marks of its own rows that are replaced or removed. */
  readonly #gone = new Int32Array(WORDS);
  size: number;
  /** Memory that it takes. */
  bytes: number;

  constructor(from: Place, rows?: ClosedRows) {
    this.from = from;
    this.#rows = rows;
    this.size = rows?.orders.length ?? 0;
    this.bytes = BLOCK_BYTES + (rows?.packed.bytes.length ?? 0);
  }

  /** Later places than this one are in another block. */
  get last(): Place {
    return this.#rows === undefined ? END : this.#rows.placeOf(this.#rows.orders.length - 1);
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

  has(place: Place): boolean {
    const change = this.#changed.get(keyOf(place));
    return change === undefined ? this.#find(place) >= 0 : change.row !== undefined;
  }

  text(place: Place, column: number): RowText | undefined {
    const change = this.#changed.get(keyOf(place));
    if (change !== undefined) return change.row?.texts[column];
    const at = this.#find(place);
    return at < 0 ? undefined : this.#rows?.text(at, column);
  }

  #find(place: Place): number {
    return this.#rows?.find(place) ?? -1;
  }

  set(place: Place, row: TableRow | undefined): void {
    const key = keyOf(place);
    this.size += (row === undefined ? 0 : 1) - (this.has(place) ? 1 : 0);
    this.bytes += bytesOf(row) - bytesOf(this.#changed.get(key)?.row);
    const at = this.#find(place);
    if (at >= 0) mark(this.#gone, at);
    if (at < 0 && row === undefined) this.#changed.delete(key);
    else this.#changed.set(key, { place, row });
  }

  *entries(): Generator<Entry> {
    const rows = this.#rows;
    for (let at = 0; rows !== undefined && at < rows.orders.length; at += 1)
      if ((((this.#gone[at >> 5] as number) >> (at & 31)) & 1) === 0) yield [rows.placeOf(at), { rows, at }];
    for (const { place, row } of this.#changed.values()) if (row !== undefined) yield [place, row];
  }

  /** Sets `passing` to its own rows within bounds that pass. @returns the places of those beside it */
  find(
    groups: RowScan['groups'],
    { from, below }: { readonly from: Place; readonly below: Place },
  ): readonly Place[] {
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
    const others: Place[] = [];
    for (const { place, row } of this.#changed.values())
      if (row !== undefined && !isBefore(place, from) && isBefore(place, below))
        if (groups.every((tests) => tests.some((test) => passes(place.order, row, test)))) others.push(place);
    return others;
  }

  /** The places of marked rows. */
  placesIn(marks: Int32Array): Place[] {
    const places: Place[] = [];
    eachMarked(marks, (at) => places.push(this.#rows?.placeOf(at) ?? END));
    return places;
  }
}

function keyOf({ order, id }: Place): number | string {
  return id === '' ? order : `${order}/${id}`;
}

function bytesOf(row: TableRow | undefined): number {
  return row === undefined ? 0 : row.texts.reduce((sum, { length }) => sum + 2 * length, ROW_BYTES);
}

function passes(order: number, row: TableRow, test: RowTest): boolean {
  if ('codes' in test) return test.chosen[row.codes[test.codes] ?? 0] === 1;
  if ('without' in test) return test.without[firstOf(test.without, order)] !== order;
  if ('others' in test) return !test.others.has(String(row.texts[test.texts]));
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
