/**
 * Texts in memory that are searched for a part: joined into long rows of bytes (`byte-search.ts`).
 *
 * A text is an entry, which never changes: a changed text is a new entry. An entry has records, and a record has fields.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { searchBytes } from './byte-search.ts';
import type { Bytes, KeptFile } from './kept-file.ts';

/** Entries of a segment, and bytes: what is copied to be searched stays in the processor. */
const SEGMENT_SIZE = 1024;
const SEGMENT_LENGTH = 1 << 18;
/** Bytes of the bits that say which segments are not searched. */
const THREES = 4096;
/** Bytes searched between two turns of the event loop: about a millisecond. */
const LENGTH_PER_TURN = 1 << 22;
/** Ends an entry. */
const END = 0;
/** Begins a record other than the first; the fields 1, 2 … behind it begin with the codes that follow. */
const RECORD = 1;
const MAX_SEPARATOR = 8;
/** Segments written and read together. */
const SEGMENTS_TOGETHER = 8;

/** Results that are kept for the next page of the same list, and segments that may be filled meanwhile. */
const RESULTS_KEPT = 4;
const SEGMENTS_LATER = 16;

/** Mark of an entry that is tested when it is asked for. */
export const ASK = 2;
/** No entry: the text is empty. */
export const NO_ENTRY = 0xffff_ffff;

export interface TextSearch {
  /** Fields and records may be separated in it: `fieldsOf`. */
  readonly pattern: string;
  /** Numbers of the fields in which it may begin. @default any */
  readonly fields?: readonly number[];
  /** True: it must begin and end where a field does. @default false */
  readonly isWhole?: boolean;
}

/** True for a text of other characters than those of ASCII that can be seen. */
export function isBeyondAscii(text: string): boolean {
  return /[^ -~]/.test(text);
}

/** Normalizes a text: case-folded, one Unicode encoding of accents. */
export function foldText(text: string): string {
  return (isBeyondAscii(text) ? text.normalize('NFC') : text).toLowerCase();
}

/** The text of an entry. */
export function recordsOf(records: readonly (readonly string[])[]): string {
  return records.map(fieldsOf).join(String.fromCharCode(RECORD));
}

/** The text of a record. @param fields at most 8 */
export function fieldsOf(fields: readonly string[]): string {
  let text = '';
  for (const [index, field] of fields.entries())
    text += (index === 0 ? '' : String.fromCharCode(RECORD + index)) + withoutSeparators(field);
  return text;
}

/** The fields of an entry of one record. */
export function splitFields(text: string): readonly string[] {
  return withoutSeparators(text, '\0').split('\0');
}

function withoutSeparators(text: string, instead = ' '): string {
  if (!isNowhere(text)) return text;
  return [...text].map((one) => (isSeparator(one) ? instead : one)).join('');
}

/** True for a text that no field contains. */
export function isNowhere(text: string): boolean {
  return isBeyondAscii(text) && [...text].some(isSeparator);
}

function isSeparator(one: string): boolean {
  return one.charCodeAt(0) <= MAX_SEPARATOR;
}

/** Result of a search. */
export interface Found {
  /** By entry: 0 = not found, 1 = found, `ASK`. */
  readonly marks: Uint8Array;
  /** Of an entry that is marked so, or of one behind the marks. */
  readonly ask: (entry: number) => boolean;
}

export class TextColumn {
  /** Undefined: free. The last one is being filled. */
  #segments: (Segment | undefined)[] = [];
  #filling = -1;
  readonly #free: number[] = [];
  readonly #moved: (order: number, entry: number) => void;
  /** Searches whose result is in use: no number is given again. */
  #inUse = 0;
  /** Results by search; as those in use. */
  readonly #kept = new Map<string, Found>();
  /** Of segments that are full. */
  #bytes = 0;
  /** Incremented when entries get other numbers. */
  moves = 0;
  /** Number of segments when the first of them was found. */
  #keptSince = 0;

  /** @param moved told when an entry gets another number */
  constructor(moved: (order: number, entry: number) => void) {
    this.#moved = moved;
  }

  /** @returns the number of the entry; `NO_ENTRY` for an empty text */
  add(order: number, text: string): number {
    if (text === '') return NO_ENTRY;
    let segment = this.#segments[this.#filling];
    if (segment === undefined || segment.isFull) {
      const full = this.#filling;
      segment?.seal();
      this.#bytes += segment?.bytes ?? 0;
      if (this.#segments.length - this.#keptSince > SEGMENTS_LATER || this.#free.length > SEGMENTS_LATER)
        this.#kept.clear();
      const free = this.#inUse === 0 && this.#kept.size === 0 ? this.#free.pop() : undefined;
      this.#filling = free ?? this.#segments.length;
      segment = new Segment();
      this.#segments[this.#filling] = segment;
      // Most of it may have been removed while it was filled.
      this.#shrink(full);
    }
    return this.#filling * SEGMENT_SIZE + segment.add(order, text);
  }

  /** Memory that it takes. */
  get bytes(): number {
    return this.#bytes + (this.#segments[this.#filling]?.bytes ?? 0);
  }

  /** The text of an entry. */
  text(entry: number): string {
    if (entry === NO_ENTRY) return '';
    return this.#segments[Math.floor(entry / SEGMENT_SIZE)]?.text(entry % SEGMENT_SIZE) ?? '';
  }

  /** Removes an entry. Segments of which little is left are given up. */
  remove(entry: number): void {
    if (entry === NO_ENTRY) return;
    const number = Math.floor(entry / SEGMENT_SIZE);
    this.#segments[number]?.remove(entry % SEGMENT_SIZE);
    if (number !== this.#filling) this.#shrink(number);
  }

  #shrink(number: number): void {
    const segment = this.#segments[number];
    if (segment === undefined || segment.left > segment.length / 2) return;
    this.#segments[number] = undefined;
    this.moves += 1;
    this.#bytes -= segment.bytes;
    this.#free.push(number);
    for (const [order, text] of segment.entries()) this.#moved(order, this.add(order, text));
  }

  /** The texts as they are now. */
  get copy(): readonly TextSegment[] {
    return this.#segments.map((segment) => segment?.copy ?? NO_SEGMENT);
  }

  /** Reads texts that were written by `writeTexts`; `restored` has to follow for each entry that is in use. */
  async restore(sizes: TextSizes, file: KeptFile): Promise<void> {
    for (let first = 0; first < sizes.length; first += SEGMENTS_TOGETHER) {
      const some = sizes.slice(first, first + SEGMENTS_TOGETHER);
      const bytes = new Uint8Array(some.reduce((sum, size) => sum + bytesOf(size), 0));
      await file.read(bytes);
      let at = 0;
      for (const size of some) {
        this.#segments.push(size[0] === 0 ? undefined : Segment.restored(size, bytes, at));
        at += bytesOf(size);
        this.#bytes += this.#segments.at(-1)?.bytes ?? 0;
      }
    }
  }

  restored(order: number, entry: number): void {
    const segment = this.#segments[Math.floor(entry / SEGMENT_SIZE)];
    if (segment === undefined || entry % SEGMENT_SIZE >= segment.length)
      throw new RangeError(`There is no entry ${entry}.`);
    segment.take(order, entry % SEGMENT_SIZE);
  }

  /** Begins to use results of searches. */
  hold(): void {
    this.#inUse += 1;
  }

  release(): void {
    this.#inUse -= 1;
  }

  /** Entries that one of the searches finds, between `hold` and `release`. Later ones are tested when they are asked for. */
  async search(searches: readonly TextSearch[]): Promise<Found> {
    const key = JSON.stringify(searches);
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const found = await this.#search(searches);
    for (const oldest of this.#kept.keys()) if (this.#kept.size >= RESULTS_KEPT) this.#kept.delete(oldest);
    if (this.#kept.size === 0) this.#keptSince = this.#segments.length;
    this.#kept.set(key, found);
    return found;
  }

  async #search(searches: readonly TextSearch[]): Promise<Found> {
    const inBytes = searches.map((search) => ({ ...search, bytes: Buffer.from(search.pattern) }));
    const known = this.#segments.length;
    const marks = new Uint8Array(known * SEGMENT_SIZE);
    const filled = this.#segments[this.#filling]?.length ?? SEGMENT_SIZE;
    // More may be added to the one that is being filled.
    if (known > 0) marks.fill(ASK, this.#filling * SEGMENT_SIZE + filled, (this.#filling + 1) * SEGMENT_SIZE);
    let length = 0;
    for (let number = 0; number < known; number += 1) {
      const segment = this.#segments[number];
      if (segment === undefined) continue;
      const first = number * SEGMENT_SIZE;
      length += segment.search(inBytes, (entry) => {
        marks[first + entry] = 1;
      });
      if (length < LENGTH_PER_TURN) continue;
      length = 0;
      await nextTurn();
    }
    const ask = (entry: number): boolean => {
      const text = this.text(entry);
      return searches.some((search) => has(text, search));
    };
    return { marks, ask };
  }
}

/** Entries and bytes of each segment; no entries: there is none. */
export type TextSizes = readonly (readonly [entries: number, bytes: number])[];

/** The content of a segment, which does not change. */
export interface TextSegment {
  readonly starts: Uint32Array;
  readonly threes: Uint8Array;
  readonly joined: Uint8Array;
}

const NO_SEGMENT: TextSegment = {
  starts: new Uint32Array(0),
  threes: new Uint8Array(0),
  joined: new Uint8Array(0),
};

/** Writes texts. @returns what has to be known to read them */
export async function writeTexts(
  segments: readonly TextSegment[],
  add: (bytes: Bytes) => Promise<void>,
): Promise<TextSizes> {
  for (let first = 0; first < segments.length; first += SEGMENTS_TOGETHER) {
    const some = segments.slice(first, first + SEGMENTS_TOGETHER);
    await add(
      Buffer.concat(some.flatMap(({ starts, threes, joined }) => [asBytes(starts), threes, padded(joined)])),
    );
  }
  return segments.map(({ starts, joined }) => [Math.max(0, starts.length - 1), joined.length]);
}

function asBytes({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Numbers behind it begin at a multiple of four bytes. */
function padded(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([bytes], (bytes.length + 3) & ~3);
}

function bytesOf([entries, bytes]: TextSizes[number]): number {
  return entries === 0 ? 0 : 4 * (entries + 1) + THREES + ((bytes + 3) & ~3);
}

interface SearchInBytes extends TextSearch {
  readonly bytes: Uint8Array;
}

class Segment {
  /** Order of each entry; -1 = removed. */
  #orders = new Float64Array(SEGMENT_SIZE);
  /** The texts until the segment is full, then none. */
  #texts: string[] = [];
  #textLength = 0;
  #joined: Buffer = Buffer.alloc(0);
  /** Offset of each entry in `#joined`, and of the end. */
  #starts: Uint32Array = new Uint32Array(0);
  /** Bits of three bytes in a row that are in `#joined`, and of others. */
  #threes: Uint8Array = new Uint8Array(0);
  length = 0;
  left = 0;

  static restored([entries, bytes]: TextSizes[number], from: Uint8Array, at: number): Segment {
    const segment = new Segment();
    const [threes, joined] = [at + 4 * (entries + 1), at + 4 * (entries + 1) + THREES];
    segment.#orders.fill(-1);
    segment.#starts = new Uint32Array(from.buffer, from.byteOffset + at, entries + 1);
    segment.#threes = from.subarray(threes, joined);
    segment.#joined = Buffer.from(from.buffer, from.byteOffset + joined, bytes);
    segment.length = entries;
    return segment;
  }

  /** An entry of a restored segment is in use. */
  take(order: number, entry: number): void {
    this.left += this.#orders[entry] === -1 ? 1 : 0;
    this.#orders[entry] = order;
  }

  /** As it would be if it was full. */
  get copy(): TextSegment {
    if (this.#texts.length === 0) return { starts: this.#starts, threes: this.#threes, joined: this.#joined };
    const full = new Segment();
    for (const text of this.#texts) full.add(0, text);
    full.seal();
    return full.copy;
  }

  get isFull(): boolean {
    return this.length === SEGMENT_SIZE || this.#textLength >= SEGMENT_LENGTH;
  }

  /** Memory that it takes. */
  get bytes(): number {
    return this.#joined.length + this.#textLength + 12 * SEGMENT_SIZE + THREES;
  }

  add(order: number, text: string): number {
    this.#orders[this.length] = order;
    this.#texts.push(text);
    this.#textLength += text.length;
    this.length += 1;
    this.left += 1;
    return this.length - 1;
  }

  /** No entry is added any more. */
  seal(): void {
    this.#joined = Buffer.from(`${this.#texts.join('\0')}\0`);
    this.#starts = new Uint32Array(this.length + 1);
    for (let entry = 0, at = 0; entry < this.length; entry += 1) {
      at = this.#joined.indexOf(END, at) + 1;
      this.#starts[entry + 1] = at;
    }
    this.#texts = [];
    this.#textLength = 0;
    const [joined, threes] = [this.#joined, new Uint8Array(THREES)];
    for (let at = 2; at < joined.length; at += 1) {
      const place = placeOfThree(joined, at);
      threes[place >> 3] = (threes[place >> 3] ?? 0) | (1 << (place & 7));
    }
    this.#threes = threes;
  }

  text(entry: number): string {
    const text = this.#texts[entry];
    if (text !== undefined) return text;
    return this.#joined.toString('utf8', this.#starts[entry] ?? 0, (this.#starts[entry + 1] ?? 1) - 1);
  }

  remove(entry: number): void {
    if (this.#orders[entry] === -1) return;
    this.#orders[entry] = -1;
    this.left -= 1;
  }

  *entries(): Generator<readonly [order: number, text: string]> {
    for (let entry = 0; entry < this.length; entry += 1) {
      const order = this.#orders[entry] ?? -1;
      if (order !== -1) yield [order, this.text(entry)];
    }
  }

  /** Calls `found` for each entry that one of the searches finds. @returns the number of bytes searched */
  search(searches: readonly SearchInBytes[], found: (entry: number) => void): number {
    for (const [entry, text] of this.#texts.entries())
      if (searches.some((search) => has(text, search))) found(entry);
    const possible = searches.filter(({ bytes }) => this.#mayHave(bytes));
    if (this.#joined.length === 0 || possible.length === 0) return this.#textLength;
    const starts = this.#starts;
    const codeAt = (place: number): number => this.#joined[place] ?? END;
    const next = searchBytes(this.#joined);
    for (const search of possible) {
      let at = 0;
      next(search.bytes, (hit) => {
        while ((starts[at + 1] ?? Infinity) <= hit) at += 1;
        if (!fits(codeAt, starts[at] ?? 0, hit, search.bytes.length, search)) return hit + 1;
        found(at);
        return starts[at + 1] ?? Infinity;
      });
    }
    return this.#joined.length * possible.length;
  }

  #mayHave(pattern: Uint8Array): boolean {
    for (let at = 2; at < pattern.length; at += 1) {
      const place = placeOfThree(pattern, at);
      if (((this.#threes[place >> 3] ?? 0) & (1 << (place & 7))) === 0) return false;
    }
    return true;
  }
}

/** Bit of three bytes in a row. @param at the last one */
function placeOfThree(bytes: Uint8Array, at: number): number {
  return ((bytes[at - 2] ?? 0) * 961 + (bytes[at - 1] ?? 0) * 31 + (bytes[at] ?? 0)) & (THREES * 8 - 1);
}

/** True if an entry has what is searched for. */
function has(text: string, search: TextSearch): boolean {
  const { pattern } = search;
  const codeAt = (place: number): number => text.charCodeAt(place) || END;
  let hit = text.indexOf(pattern);
  while (hit >= 0 && !fits(codeAt, 0, hit, pattern.length, search)) hit = text.indexOf(pattern, hit + 1);
  return hit >= 0;
}

/** True for a hit in a field in which it may be. @param start of the entry */
function fits(
  codeAt: (place: number) => number,
  start: number,
  hit: number,
  length: number,
  { fields, isWhole }: TextSearch,
): boolean {
  if (isWhole === true) {
    if (hit > start && codeAt(hit - 1) > MAX_SEPARATOR) return false;
    if (codeAt(hit + length) > MAX_SEPARATOR) return false;
  }
  if (fields === undefined) return true;
  let before = hit - 1;
  while (before >= start && codeAt(before) > MAX_SEPARATOR) before -= 1;
  return fields.includes(before < start ? 0 : codeAt(before) - RECORD);
}
