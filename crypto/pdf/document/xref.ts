/** The chain of cross-reference sections, newest first (ISO 32000-2, 7.5.5, 7.5.6 and 7.5.8.4). */

import type { WorkBudget } from '../../core/work-budget.ts';
import type { Encryption } from '../encryption/encryption.ts';
import { unpack } from '../syntax/filters.ts';
import {
  FREE,
  type IndirectObject,
  MAX_OBJECT_NUMBER,
  onlyEntry,
  type Reading,
  readObjectAt,
  readStream,
  streamDict,
  type Views,
  type XrefEntry,
} from '../syntax/objects.ts';
import { PdfSyntaxError, UnexpectedEndOfFile } from '../syntax/reading-errors.ts';
import { isDigit, isSpace, readDigits, skipSpace, startsWith } from '../syntax/syntax.ts';
import {
  asInteger,
  asName,
  asReference,
  type ByteSlice,
  isArray,
  isNull,
  items,
  type PdfDict,
  readDict,
} from '../syntax/values.ts';

const ENTRY = 20;
const MAX_TRAILER = 4 << 20;
/** Most subsections of one table; each takes memory. */
const MAX_RUNS = 500_000;

interface TableRun extends Run {
  /** Offset in the file of the first entry. */
  readonly at: number;
}

/**
 * Cross-reference tables (ISO 32000-2, 7.5.4). Entries have twenty bytes, so single entries are read
 * by offset in tables of any length.
 */
class XrefTable {
  readonly trailer: PdfDict;
  readonly #runs: Runs<TableRun>;
  readonly #reading: Reading;
  constructor(reading: Reading, runs: readonly TableRun[], trailer: PdfDict) {
    this.#reading = reading;
    this.#runs = new Runs(runs, reading.budget);
    this.trailer = trailer;
  }

  /** Lowest number with an entry. */
  get first(): number {
    return this.#runs.first;
  }

  /** One more than the highest number with an entry. */
  get bound(): number {
    return this.#runs.bound;
  }

  entry(number: number): XrefEntry | undefined {
    const entries = this.#runs
      .all(number)
      .map((run) => readEntry(this.#reading.views, run.at + (number - run.first) * ENTRY));
    return onlyEntry(number, entries);
  }
}

function readEntry(views: Views, offset: number): XrefEntry {
  const { bytes, start } = views.view(offset, ENTRY);
  const place = readDigits(bytes, start);
  const generation = readDigits(bytes, start + 11);
  const letter = bytes[start + 17];
  if (place?.end !== start + 10 || generation?.end !== start + 16 || (letter !== 0x6e && letter !== 0x66)) {
    throw new PdfSyntaxError(`The cross-reference entry at offset ${offset} is malformed.`);
  }
  return letter === 0x66 ? FREE : { kind: 'plain', offset: place.value, generation: generation.value };
}

/**
 * Reads the table that begins at an offset with `xref`.
 * @throws PdfSyntaxError
 */
function readXrefTable(reading: Reading, offset: number): XrefTable {
  const { views, budget } = reading;
  const runs: TableRun[] = [];
  let at = offset + 4;
  for (;;) {
    const { bytes, start } = views.view(at, 64);
    const from = skipSpace(bytes, start);
    budget.spend(32 + from - start);
    if (startsWith(bytes, from, 'trailer')) {
      return new XrefTable(reading, runs, readTrailer(reading, at + (from - start) + 7));
    }
    const first = readDigits(bytes, from);
    const count = first && readDigits(bytes, skipSpace(bytes, first.end));
    if (first === undefined || count === undefined || !isSpace(bytes[count.end])) {
      throw new PdfSyntaxError(`The cross-reference table at offset ${offset} is malformed at offset ${at}.`);
    }
    // Entries begin with the first digit after the line of the two numbers.
    const entries = at + (skipSpace(bytes, count.end) - start);
    const end = entries + count.value * ENTRY;
    if (end > views.source.size || first.value + count.value > MAX_OBJECT_NUMBER) {
      throw new PdfSyntaxError(
        `The cross-reference table at offset ${offset} claims ${count.value} entries, more than there are.`,
      );
    }
    if (runs.length > MAX_RUNS)
      throw new PdfSyntaxError(`The cross-reference table at offset ${offset} is in shreds.`);
    if (count.value > 0) {
      checkRun(views, { first: first.value, count: count.value, at: entries });
      runs.push({ first: first.value, count: count.value, at: entries });
    }
    at = count.value > 0 ? end : at + (count.end - start);
  }
}

/** Checks the first and the last entry, which reveal entries of another length than twenty bytes. */
function checkRun(views: Views, run: TableRun): void {
  readEntry(views, run.at);
  const last = run.at + (run.count - 1) * ENTRY;
  readEntry(views, last);
  const { bytes, start } = views.view(last + 18, 4);
  if (isDigit(bytes[start]) || isDigit(bytes[start + 1])) {
    throw new PdfSyntaxError(`The cross-reference entry at offset ${last} is not twenty bytes long.`);
  }
}

function readTrailer(reading: Reading, offset: number): PdfDict {
  const { views, budget } = reading;
  for (let length = 1024; ; length *= 8) {
    const view = views.view(offset, length);
    try {
      const dict = readDict(view.bytes, view.at, skipSpace(view.bytes, view.start));
      budget.spend(dict.end - view.start);
      return dict;
    } catch (error) {
      budget.spend(256);
      if (!(error instanceof UnexpectedEndOfFile) || views.reachesEnd(view) || length > MAX_TRAILER)
        throw error;
      budget.spend(length);
    }
  }
}

/** Subsections of a cross-reference section: ranges of consecutive object numbers. */
interface Run {
  readonly first: number;
  readonly count: number;
}

/** Finds the subsections of a number. */
class Runs<R extends Run> {
  readonly #runs: readonly R[];
  readonly #sorted: boolean;
  readonly #budget: WorkBudget;
  constructor(runs: readonly R[], budget: WorkBudget) {
    this.#runs = runs;
    this.#budget = budget;
    let end = 0;
    // Sorted, as written by conforming programs.
    this.#sorted = runs.every((run) => {
      const follows = run.first >= end;
      end = run.first + run.count;
      return follows;
    });
  }

  /** The lowest number. */
  get first(): number {
    return this.#runs.reduce((first, run) => Math.min(first, run.first), Number.POSITIVE_INFINITY);
  }

  /** One more than the highest number. */
  get bound(): number {
    return this.#runs.reduce((bound, run) => Math.max(bound, run.first + run.count), 0);
  }

  /** Returns all subsections that contain a number: more than one only in a malformed section. */
  all(number: number): readonly R[] {
    if (this.#sorted) {
      const run = this.#search(number);
      return run === undefined ? [] : [run];
    }
    this.#budget.spend(this.#runs.length);
    return this.#runs.filter((run) => number >= run.first && number < run.first + run.count);
  }

  #search(number: number): R | undefined {
    let low = 0;
    let high = this.#runs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const run = this.#runs[middle];
      if (run === undefined) return undefined;
      if (number < run.first) high = middle;
      else if (number >= run.first + run.count) low = middle + 1;
      else return run;
    }
    return undefined;
  }
}

/**
 * Cross-reference streams (ISO 32000-2, 7.5.8).
 */
interface StreamRun extends Run {
  /** Index of the row of the first entry. */
  readonly row: number;
}

interface Layout {
  /** Bytes of the three fields of a row; zero selects the default of the field. */
  readonly widths: readonly [number, number, number];
  readonly runs: readonly StreamRun[];
}

export class XrefStream {
  readonly trailer: PdfDict;
  readonly #rows: Buffer;
  readonly #layout: Layout;
  readonly #runs: Runs<StreamRun>;
  constructor(reading: Reading, trailer: PdfDict, rows: Buffer, layout: Layout) {
    this.#runs = new Runs(layout.runs, reading.budget);
    this.trailer = trailer;
    this.#rows = rows;
    this.#layout = layout;
  }

  /** Lowest number with an entry. */
  get first(): number {
    return this.#runs.first;
  }

  get bound(): number {
    return this.#runs.bound;
  }

  entry(number: number): XrefEntry | undefined {
    const entries = this.#runs.all(number).map((run) => this.#row(run.row + number - run.first));
    return onlyEntry(number, entries);
  }

  #row(row: number): XrefEntry | undefined {
    const [first, second, third] = this.#layout.widths;
    const at = row * (first + second + third);
    // Entries after the end of the data are unused.
    if (at + first + second + third > this.#rows.length) return undefined;
    const type = first === 0 ? 1 : this.#rows.readUIntBE(at, first);
    const value = second === 0 ? 0 : this.#rows.readUIntBE(at + first, second);
    const index = third === 0 ? 0 : this.#rows.readUIntBE(at + first + second, third);
    if (type === 0) return FREE;
    if (type === 1) return { kind: 'plain', offset: value, generation: index };
    // Any other type is read as null (table 18).
    return type === 2 ? { kind: 'packed', stream: value, index } : FREE;
  }
}

const direct = (slice: ByteSlice): ByteSlice => slice;

/** Reads the cross-reference in a stream object. @throws PdfSyntaxError */
export function readXrefStream(reading: Reading, object: IndirectObject): XrefStream {
  const dict = streamDict(object);
  if (asName(dict.get('Type')) !== 'XRef') {
    throw new PdfSyntaxError(`Object ${object.number} should be a cross-reference stream and is none.`);
  }
  const rows = unpack(dict, readStream(reading, object, asInteger(dict.get('Length'))), direct);
  reading.budget.spend(rows.length);
  return new XrefStream(reading, dict, rows, readLayout(dict));
}

function readLayout(dict: PdfDict): Layout {
  const widths = numbers(dict.get('W'));
  const [first, second, third] = widths;
  if (
    first === undefined ||
    second === undefined ||
    third === undefined ||
    Math.max(first, second, third) > 6
  ) {
    throw new PdfSyntaxError('A cross-reference stream has no usable /W.');
  }
  const index = dict.get('Index');
  const pairs = index && isArray(index) ? numbers(index) : [0, asInteger(dict.get('Size')) ?? 0];
  const runs: StreamRun[] = [];
  let row = 0;
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const start = pairs[at] as number;
    const count = pairs[at + 1] as number;
    if (start + count > MAX_OBJECT_NUMBER) {
      throw new PdfSyntaxError(`A cross-reference stream claims ${count} entries from number ${start} on.`);
    }
    if (count > 0) runs.push({ first: start, count, row });
    row += count;
  }
  return { widths: [first, second, third], runs };
}

/** Most numbers in one array; each pair takes memory. */
const MAX_NUMBERS = 1_000_000;

function numbers(slice: ByteSlice | undefined): readonly number[] {
  const found: number[] = [];
  for (const item of slice === undefined ? [] : items(slice)) {
    const value = asInteger(item);
    if (value === undefined || value < 0 || found.length === MAX_NUMBERS) {
      throw new PdfSyntaxError('A cross-reference stream has a malformed list of numbers.');
    }
    found.push(value);
  }
  return found;
}

/** Positions of all objects, and the format for a new section. */
export interface Xref {
  /** The newest trailer dictionary. */
  readonly trailer: PdfDict;
  /** Kind of the newest section. */
  readonly form: 'table' | 'stream';
  /** Offset of the header, which is added to every offset in the file. */
  readonly base: number;
  /** Offset (from the header) of the newest section; undefined when the sections were unusable. */
  readonly newest: number | undefined;
  /** Offsets in the file of all sections, newest first; none when they were unusable. */
  readonly sections: readonly number[];
  /** One more than the highest number with an entry or, when rebuilt, with a reference. */
  readonly bound: number;
  entry(number: number): XrefEntry | undefined;
  /** All entries, when the sections were unusable and the next one has to list all objects. */
  readonly rebuilt?: ReadonlyMap<number, XrefEntry>;
  /** An earlier revision is encrypted and the newest does not say so, which 7.5.6 forbids: readers differ in what they show. */
  readonly losesEncryption?: boolean;
  /** Sections are tables and streams without a table, which no file may have (7.5.8.4): some programs repair it. */
  readonly isMixed?: boolean;
  /** Encryption of strings and streams, also for a new section; undefined without encryption. */
  readonly encryption?: Encryption | undefined;
}

interface Section {
  /** Lowest number with an entry in either part, and one more than the highest. */
  readonly first: number;
  readonly bound: number;
  readonly main: XrefTable | XrefStream;
  readonly hybrid: XrefStream | undefined;
  /** Offset of the hybrid stream. */
  readonly beside: number | undefined;
}

/** Most sections, far above the number of revisions of real files. */
const MAX_SECTIONS = 10_000;
/** Cross-reference sections searched in one step of the work budget. */
const SECTIONS_PER_STEP = 100;
const TAIL = 1024;
const LONG_TAIL = 64 << 10;
const HEADER_SEARCH = 1024;
/** Distance in bytes around a wrong startxref that is searched. */
const NEARBY = 1024;

/** Returns the offset of `%PDF-`; undefined when the first 1024 bytes have none. */
export function findHeader(reading: Reading): number | undefined {
  const { bytes, start } = reading.views.view(0, HEADER_SEARCH + 5);
  const at = bytes.subarray(start, start + HEADER_SEARCH + 5).indexOf('%PDF-', 0, 'latin1');
  return at < 0 ? undefined : at;
}

/** Follows `startxref` and every /Prev. @throws PdfSyntaxError when the chain is broken anywhere */
export function readXref(reading: Reading, header: number): Xref {
  const claimed = findStart(reading);
  const { offset, base } = locate(reading, claimed, header);
  const sections: Section[] = [];
  const seen = new Set<number>();
  let next: number | undefined = offset;
  while (next !== undefined) {
    if (seen.has(next))
      throw new PdfSyntaxError(`The cross-reference at offset ${next} leads back to itself.`);
    if (seen.size >= MAX_SECTIONS)
      throw new PdfSyntaxError(`There are more than ${MAX_SECTIONS} cross-reference sections.`);
    seen.add(next);
    const section = readSection(reading, next, base);
    const newer = sections.at(-1);
    // Some programs copy the entry of the section before into a new trailer: there it says nothing.
    if (newer?.beside !== undefined && newer.beside === section.beside)
      sections.splice(-1, 1, { ...newer, hybrid: undefined });
    sections.push(section);
    const previous = section.main.trailer.get('Prev');
    const value = asInteger(previous);
    if (previous !== undefined && value === undefined)
      throw new PdfSyntaxError('A trailer has a malformed /Prev.');
    next = value === undefined ? undefined : value + base;
  }
  const [newest, ...older] = sections;
  if (newest === undefined) throw new PdfSyntaxError('The file has no cross-reference.');
  const isEncrypted = ({ main: { trailer } }: Section): boolean => {
    const written = trailer.get('Encrypt');
    if (written === undefined || isNull(written)) return false;
    const number = asReference(written)?.number;
    return number === undefined || (lookUp(sections, number)?.kind ?? 'free') !== 'free';
  };
  return {
    trailer: newest.main.trailer,
    losesEncryption: !isEncrypted(newest) && older.some(isEncrypted),
    form: newest.main instanceof XrefTable ? 'table' : 'stream',
    isMixed: older.some(({ main }) => main instanceof XrefTable !== newest.main instanceof XrefTable),
    base,
    newest: offset - base,
    sections: [...seen],
    bound: sections.reduce((bound, section) => Math.max(bound, section.bound), 0),
    entry: (number) => {
      reading.budget.spendWhole(sections.length / SECTIONS_PER_STEP);
      return lookUp(sections, number);
    },
  };
}

function lookUp(sections: readonly Section[], number: number): XrefEntry | undefined {
  for (const { main, hybrid, first, bound } of sections) {
    // Most revisions concern a few numbers, and there can be thousands of revisions.
    if (number < first || number >= bound) continue;
    const entry = main.entry(number);
    if (hybrid === undefined) {
      if (entry !== undefined) return entry;
      continue;
    }
    // Objects hidden from old readers are free in the table and in use in the hybrid stream.
    const isUsed = (one: XrefEntry | undefined): one is XrefEntry => one !== undefined && one.kind !== 'free';
    const used = [entry, hybrid.entry(number)].filter(isUsed);
    const found = onlyEntry(number, used) ?? entry;
    if (found !== undefined) return found;
  }
  return undefined;
}

function readSection(reading: Reading, offset: number, base: number): Section {
  const { views } = reading;
  if (offset < 0 || offset >= views.source.size) {
    throw new PdfSyntaxError(`A cross-reference is said to lie at offset ${offset}, outside the file.`);
  }
  const { bytes, start } = views.view(offset, 64);
  const from = skipSpace(bytes, start);
  if (!startsWith(bytes, from, 'xref')) {
    const object = readObjectAt(reading, offset);
    return sectionOf(readXrefStream(reading, object), undefined, { own: object.number });
  }
  const main = readXrefTable(reading, offset + (from - start));
  const beside = asInteger(main.trailer.get('XRefStm'));
  const hybrid =
    beside === undefined ? undefined : readXrefStream(reading, readObjectAt(reading, beside + base));
  return sectionOf(main, hybrid, { beside });
}

/** @param own number of a cross-reference stream, which not all of them list: no new object may get it */
function sectionOf(
  main: Section['main'],
  hybrid: Section['hybrid'],
  { own = 0, beside }: { readonly own?: number; readonly beside?: number | undefined },
): Section {
  return {
    main,
    hybrid,
    beside,
    first: Math.min(main.first, hybrid?.first ?? main.first),
    bound: Math.max(main.bound, hybrid?.bound ?? 0, own + 1),
  };
}

/** Returns the number after the last `startxref`. @throws PdfSyntaxError */
function findStart(reading: Reading): number {
  const { size } = reading.views.source;
  for (const length of [TAIL, LONG_TAIL]) {
    const from = Math.max(0, size - length);
    const { bytes, start } = reading.views.view(from, length);
    const tail = bytes.subarray(start, start + (size - from));
    const at = tail.lastIndexOf('startxref', tail.length, 'latin1');
    const digits = at < 0 ? undefined : readDigits(tail, skipSpace(tail, at + 9));
    if (digits === undefined) continue;
    // Other bytes after the end are ignored; objects are the beginning of a truncated revision.
    if (tail.indexOf(' obj', digits.end, 'latin1') >= 0) break;
    return digits.value;
  }
  throw new PdfSyntaxError('The file does not end with a startxref.');
}

/**
 * Finds the newest section: at its offset, counted from the header or from the first byte, or else the nearest
 * table around that offset.
 */
function locate(
  reading: Reading,
  claimed: number,
  header: number,
): { readonly offset: number; readonly base: number } {
  for (const base of header === 0 ? [0] : [header, 0]) {
    if (isSection(reading, claimed + base)) return { offset: claimed + base, base };
  }
  const from = Math.max(0, claimed + header - NEARBY);
  const { bytes, start } = reading.views.view(from, 2 * NEARBY);
  let best: number | undefined;
  for (let at = start; ; at++) {
    at = bytes.indexOf('xref', at, 'latin1');
    if (at < 0 || at > start + 2 * NEARBY) break;
    const offset = from + at - start;
    if (at > 0 && !isSpace(bytes[at - 1])) continue;
    if (best === undefined || Math.abs(offset - claimed - header) < Math.abs(best - claimed - header))
      best = offset;
  }
  if (best === undefined) throw new PdfSyntaxError(`No cross-reference stands at or near offset ${claimed}.`);
  return { offset: best, base: header };
}

function isSection(reading: Reading, offset: number): boolean {
  if (!Number.isSafeInteger(offset) || offset >= reading.views.source.size) return false;
  const { bytes, start } = reading.views.view(offset, 64);
  const from = skipSpace(bytes, start);
  if (startsWith(bytes, from, 'xref')) return true;
  const number = readDigits(bytes, from);
  const generation = number && readDigits(bytes, skipSpace(bytes, number.end));
  return generation !== undefined && startsWith(bytes, skipSpace(bytes, generation.end), 'obj');
}
