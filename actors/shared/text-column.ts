/**
 * Texts in memory that are searched for a part: joined into long strings, which the engine searches at gigabytes per second.
 *
 * A text is an entry, which never changes: a changed text is a new entry. An entry has records, and a record has fields.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Entries of a segment. */
const SEGMENT_SIZE = 1024;
/** Characters searched between two turns of the event loop: about a millisecond. */
const LENGTH_PER_TURN = 1 << 20;
const [END, FIELD, RECORD] = ['\0', '\x01', '\x02'] as const;
const [FIELD_CODE, RECORD_CODE] = [1, 2];
const SEPARATORS = [END, FIELD, RECORD] as const;

/** Results that are kept for the next page of the same list, and segments that may be filled meanwhile. */
const RESULTS_KEPT = 4;
const SEGMENTS_LATER = 16;

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
  return records.map(fieldsOf).join(RECORD);
}

export function fieldsOf(fields: readonly string[]): string {
  return fields.map(withoutSeparators).join(FIELD);
}

function withoutSeparators(text: string): string {
  if (!isNowhere(text)) return text;
  return SEPARATORS.reduce((plain, one) => plain.replaceAll(one, ' '), text);
}

/** True for a text that no field contains. */
export function isNowhere(text: string): boolean {
  return SEPARATORS.some((one) => text.includes(one));
}

/** Says of an entry whether it has what was searched for. */
export type Found = (entry: number) => boolean;

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
    if (segment === undefined || segment.length === SEGMENT_SIZE) {
      const full = this.#filling;
      segment?.seal();
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
    if (segment === undefined || segment.left > SEGMENT_SIZE / 2) return;
    this.#segments[number] = undefined;
    this.#free.push(number);
    for (const [order, text] of segment.entries()) this.#moved(order, this.add(order, text));
  }

  /** Begins to use results of searches. */
  hold(): void {
    this.#inUse += 1;
  }

  release(): void {
    this.#inUse -= 1;
  }

  /** Between `hold` and `release`. Entries that are added later are tested when they are asked for. */
  async search(search: TextSearch): Promise<Found> {
    const key = JSON.stringify(search);
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const found = await this.#search(search);
    for (const oldest of this.#kept.keys()) if (this.#kept.size >= RESULTS_KEPT) this.#kept.delete(oldest);
    if (this.#kept.size === 0) this.#keptSince = this.#segments.length;
    this.#kept.set(key, found);
    return found;
  }

  async #search(search: TextSearch): Promise<Found> {
    const known = this.#segments.length;
    const [last, lastLength] = [this.#filling, this.#segments[this.#filling]?.length ?? 0];
    const marks = new Uint8Array(known * SEGMENT_SIZE);
    let length = 0;
    for (let number = 0; number < known; number += 1) {
      const segment = this.#segments[number];
      if (segment === undefined) continue;
      const first = number * SEGMENT_SIZE;
      length += segment.search(search, (entry) => {
        marks[first + entry] = 1;
      });
      if (length < LENGTH_PER_TURN) continue;
      length = 0;
      await nextTurn();
    }
    return (entry) => {
      if (entry === NO_ENTRY) return false;
      const number = Math.floor(entry / SEGMENT_SIZE);
      const isLater = number >= known || (number === last && entry % SEGMENT_SIZE >= lastLength);
      return isLater ? has(this.text(entry), search) : marks[entry] === 1;
    };
  }
}

class Segment {
  /** Order of each entry; -1 = removed. */
  #orders = new Float64Array(SEGMENT_SIZE);
  /** Offset of each entry in `#joined`. */
  readonly #starts = new Uint32Array(SEGMENT_SIZE + 1);
  /** The texts until the segment is full, then none. */
  #texts: string[] = [];
  #joined = '';
  length = 0;
  left = 0;

  add(order: number, text: string): number {
    this.#orders[this.length] = order;
    this.#texts.push(text);
    this.#starts[this.length + 1] = (this.#starts[this.length] ?? 0) + text.length + 1;
    this.length += 1;
    this.left += 1;
    return this.length - 1;
  }

  /** No entry is added any more. */
  seal(): void {
    this.#joined = this.#texts.join(END) + END;
    this.#texts = [];
  }

  text(entry: number): string {
    const text = this.#texts[entry];
    if (text !== undefined) return text;
    return this.#joined.slice(this.#starts[entry] ?? 0, (this.#starts[entry + 1] ?? 1) - 1);
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

  /** Calls `found` for each entry. @returns the number of characters searched */
  search(search: TextSearch, found: (entry: number) => void): number {
    const text = this.#joined;
    const starts = this.#starts;
    for (let entry = 0; entry < this.#texts.length; entry += 1)
      if (has(this.#texts[entry] ?? '', search)) found(entry);
    let at = 0;
    for (let hit = text.indexOf(search.pattern); hit >= 0; ) {
      while ((starts[at + 1] ?? Infinity) <= hit) at += 1;
      const [start = 0, end = Infinity] = [starts[at], starts[at + 1]];
      if (at >= this.length) break;
      if (!fits(text, start, hit, search)) {
        hit = text.indexOf(search.pattern, hit + 1);
        continue;
      }
      found(at);
      hit = text.indexOf(search.pattern, end);
    }
    return starts[this.length] ?? 0;
  }
}

/** True if an entry has what is searched for. */
function has(text: string, search: TextSearch): boolean {
  let hit = text.indexOf(search.pattern);
  while (hit >= 0 && !fits(text, 0, hit, search)) hit = text.indexOf(search.pattern, hit + 1);
  return hit >= 0;
}

/** True for a hit in a field in which it may be. @param start of the entry */
function fits(text: string, start: number, hit: number, { pattern, fields, isWhole }: TextSearch): boolean {
  if (isWhole === true) {
    const [before, after] = [text.charCodeAt(hit - 1), text.charCodeAt(hit + pattern.length)];
    // Not a number: the end of the text.
    if (hit > start && before > RECORD_CODE) return false;
    if (after > RECORD_CODE) return false;
  }
  if (fields === undefined) return true;
  let field = 0;
  for (let at = hit - 1; at >= start; at -= 1) {
    const code = text.charCodeAt(at);
    if (code === RECORD_CODE) break;
    if (code === FIELD_CODE) field += 1;
  }
  return fields.includes(field);
}
