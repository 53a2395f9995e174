/**
 * Texts that do not change, found by any part. An index says for each two bytes in a row which texts have them: the answer
 * for a pattern of two bytes, and few texts to look at for a longer one.
 */

import type { Bytes, Unpacked } from './packed.ts';
import { fits, type TextSearch } from './texts.ts';

/** Texts of a block. */
export const BLOCK_ROWS = 1024;
/** Words of 32 bits for marks of the texts of a block. */
export const WORDS = BLOCK_ROWS / 32;
/** So many texts with the same two bytes are marked in as many pieces of 16 bits; numbers of fewer texts take less. */
const MARKS = BLOCK_ROWS / 16;
const PAIRS = 1 << 16;
/** Ends each text. */
const END = 0;

export interface SearchInBytes extends TextSearch {
  readonly bytes: Uint8Array;
}

export function inBytes(search: TextSearch): SearchInBytes {
  return { ...search, bytes: Buffer.from(search.pattern) };
}

/** While a block is searched: texts that may have the pattern, and texts with two of its bytes. */
const candidates = new Int32Array(WORDS);
const some = new Int32Array(WORDS);
const ALL = new Int32Array(WORDS).fill(-1);
/** Places of the hit before, from the start of its text and from the last place in it: often the next one is there too. */
let fromStart = 0;
let fromLast = 0;
/** While a block is made, by pair: the text that had it last, the number of texts, and the end of what is known of them. */
const lastText = new Int32Array(PAIRS);
const counts = new Uint16Array(PAIRS);
const ends = new Uint32Array(PAIRS);

export class TextBlock {
  readonly #joined: Uint8Array;
  readonly #text: Buffer;
  /** Offset of each text, and of the end. */
  readonly #starts: Uint16Array | Uint32Array;
  /** Two bytes each, ascending. */
  readonly #pairs: Uint16Array;
  /** End of the texts of each of them in `#found`. */
  readonly #ends: Uint32Array;
  readonly #found: Uint16Array;

  constructor(from: Unpacked) {
    this.#joined = from.next(Uint8Array);
    this.#starts = from.next<Uint16Array | Uint32Array>(startsKind(this.#joined.length));
    this.#pairs = from.next(Uint16Array);
    this.#ends = from.next(Uint32Array);
    this.#found = from.next(Uint16Array);
    this.#text = Buffer.from(this.#joined.buffer, this.#joined.byteOffset, this.#joined.length);
  }

  get arrays(): readonly Bytes[] {
    return [this.#joined, this.#starts, this.#pairs, this.#ends, this.#found];
  }

  text(at: number): string {
    const { [at]: start = 0, [at + 1]: end = 0 } = this.#starts;
    return end - start < 2 ? '' : this.#text.toString('utf8', start, end - 1);
  }

  /** Marks the texts in which it is found. @param among others are not looked at */
  search(search: SearchInBytes, marks: Int32Array, among = ALL): void {
    const { bytes, fields, isWhole } = search;
    const [first = END, second] = bytes;
    if (second === undefined) this.#anyWith(first);
    else if (!this.#allWith(bytes)) return;
    const isExact = bytes.length <= 2 && fields === undefined && isWhole !== true;
    for (let word = 0; word < WORDS; word += 1) {
      let left = (candidates[word] as number) & (among[word] as number) & ~(marks[word] as number);
      if (isExact) marks[word] = (marks[word] as number) | left;
      else
        for (; left !== 0; left &= left - 1) {
          const bit = 31 - Math.clz32(left & -left);
          if (this.#has(32 * word + bit, search)) marks[word] = (marks[word] as number) | (1 << bit);
        }
    }
  }

  /** Sets `candidates` to the texts with a byte. */
  #anyWith(byte: number): void {
    candidates.fill(0);
    if (byte === END) return;
    for (let at = this.#firstPair(byte << 8); (this.#pairs[at] ?? PAIRS) >> 8 === byte; at += 1)
      this.#add(at, candidates);
  }

  /** Sets `candidates` to the texts with all of the pattern's pairs. @returns false if there is none */
  #allWith(pattern: Uint8Array): boolean {
    candidates.fill(-1);
    for (let place = 1; place < pattern.length; place += 1) {
      const pair = ((pattern[place - 1] as number) << 8) | (pattern[place] as number);
      const at = this.#firstPair(pair);
      if (this.#pairs[at] !== pair) return false;
      some.fill(0);
      this.#add(at, some);
      for (let word = 0; word < WORDS; word += 1)
        candidates[word] = (candidates[word] as number) & (some[word] as number);
    }
    return true;
  }

  /** Marks the texts of a pair. @param at number of the pair */
  #add(at: number, marks: Int32Array): void {
    const found = this.#found;
    const start = at === 0 ? 0 : (this.#ends[at - 1] as number);
    const end = this.#ends[at] as number;
    if (end - start === MARKS)
      for (let word = 0, place = start; word < WORDS; word += 1, place += 2)
        marks[word] =
          (marks[word] as number) | (found[place] as number) | ((found[place + 1] as number) << 16);
    else for (let place = start; place < end; place += 1) mark(marks, found[place] as number);
  }

  /** Number of the first pair that is not before this one. */
  #firstPair(pair: number): number {
    let low = 0;
    let high = this.#pairs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#pairs[middle] as number) < pair) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #has(at: number, search: SearchInBytes): boolean {
    const joined = this.#joined;
    const { bytes } = search;
    const first = bytes[0];
    const start = this.#starts[at] as number;
    const last = (this.#starts[at + 1] as number) - 1 - bytes.length;
    if (this.#isHit(start + fromStart, start, last, search)) return true;
    if (this.#isHit(last - fromLast, start, last, search)) return true;
    for (let hit = start; hit <= last; hit += 1) {
      if (joined[hit] !== first || !this.#isHit(hit, start, last, search)) continue;
      fromStart = hit - start;
      fromLast = last - hit;
      return true;
    }
    return false;
  }

  #isHit(hit: number, start: number, last: number, search: SearchInBytes): boolean {
    if (hit < start || hit > last) return false;
    const joined = this.#joined;
    const { bytes, fields, isWhole } = search;
    for (let at = 0; at < bytes.length; at += 1) if (joined[hit + at] !== bytes[at]) return false;
    if (fields === undefined && isWhole !== true) return true;
    return fits((place) => joined[place] ?? END, start, { hit, length: bytes.length, search });
  }
}

function startsKind(length: number): Uint16ArrayConstructor | Uint32ArrayConstructor {
  return length < PAIRS ? Uint16Array : Uint32Array;
}

export function mark(marks: Int32Array, at: number): void {
  marks[at >> 5] = (marks[at >> 5] as number) | (1 << (at & 31));
}

/** Calls `use` for each marked text, ascending. */
export function eachMarked(marks: Int32Array, use: (at: number) => void): void {
  for (let word = 0; word < WORDS; word += 1)
    for (let left = marks[word] as number; left !== 0; left &= left - 1)
      use(32 * word + 31 - Math.clz32(left & -left));
}

/** Arrays of a block. @param texts at most `BLOCK_ROWS`; their bytes are above 0 */
export function textArrays(texts: readonly string[]): readonly Bytes[] {
  if (texts.every((text) => text === '')) return [0, 0, 0, 0, 0].map(() => new Uint8Array(0));
  const joined = Buffer.from(`${texts.join('\0')}\0`);
  const starts = new (startsKind(joined.length))(texts.length + 1);
  for (let at = 0; at < texts.length; at += 1) starts[at + 1] = joined.indexOf(END, starts[at]) + 1;
  const pairs = pairsOf(joined);
  const pairEnds = new Uint32Array(pairs.length);
  let length = 0;
  for (const [at, pair] of pairs.entries()) {
    ends[pair] = length;
    length += Math.min(counts[pair] ?? 0, MARKS);
    pairEnds[at] = length;
    lastText[pair] = -1;
  }
  const found = new Uint16Array(length);
  eachPair(joined, (pair, text) => {
    const end = ends[pair] as number;
    if ((counts[pair] as number) >= MARKS)
      found[end + (text >> 4)] = (found[end + (text >> 4)] as number) | (1 << (text & 15));
    else {
      found[end] = text;
      ends[pair] = end + 1;
    }
  });
  return [joined, starts, pairs, pairEnds, found];
}

/** The pairs in joined texts, ascending. Sets `counts`. */
function pairsOf(joined: Uint8Array): Uint16Array {
  lastText.fill(-1);
  const pairs: number[] = [];
  eachPair(joined, (pair) => {
    if (lastText[pair] === -1) pairs.push(pair);
    counts[pair] = lastText[pair] === -1 ? 1 : (counts[pair] as number) + 1;
  });
  return Uint16Array.from(pairs).sort();
}

/** Calls `use` once for each text that has a pair. Its last byte and the end are one too. */
function eachPair(joined: Uint8Array, use: (pair: number, text: number) => void): void {
  let text = 0;
  for (let at = 0, before = END; at < joined.length; at += 1) {
    const byte = joined[at] as number;
    const pair = (before << 8) | byte;
    if (before !== END && lastText[pair] !== text) {
      use(pair, text);
      lastText[pair] = text;
    }
    if (byte === END) text += 1;
    before = byte;
  }
}

/** Numbers of records that rows of a block have, in order. */
export class RecordBlock {
  readonly #numbers: Uint32Array;
  /** The row of each. */
  readonly #rows: Uint16Array;

  constructor(from: Unpacked) {
    this.#numbers = from.next(Uint32Array);
    this.#rows = from.next(Uint16Array);
  }

  get arrays(): readonly Bytes[] {
    return [this.#numbers, this.#rows];
  }

  get all(): Uint32Array {
    return this.#numbers;
  }

  numbers(row: number): readonly number[] {
    let low = 0;
    let high = this.#rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#rows[middle] as number) < row) low = middle + 1;
      else high = middle;
    }
    const numbers: number[] = [];
    for (; this.#rows[low] === row; low += 1) numbers.push(this.#numbers[low] as number);
    return numbers;
  }

  /** Marks the rows with a record that is marked. */
  search(records: Uint8Array, marks: Int32Array): void {
    const numbers = this.#numbers;
    const rows = this.#rows;
    for (let at = 0; at < numbers.length; at += 1)
      if (records[numbers[at] as number] === 1) mark(marks, rows[at] as number);
  }
}

/** Arrays of a block of records. */
export function recordArrays(rows: readonly (readonly number[])[]): readonly Bytes[] {
  return [
    Uint32Array.from(rows.flat()),
    Uint16Array.from(rows.flatMap((numbers, row) => numbers.map(() => row))),
  ];
}
