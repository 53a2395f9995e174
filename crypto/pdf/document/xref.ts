/**
 * The chain of cross-reference sections, newest first (ISO 32000-2, 7.5.5, 7.5.6 and 7.5.8.4).
 */

import type { Encryption } from '../encryption/encryption.ts';
import { PdfSyntaxError } from '../syntax/damage.ts';
import { type Reading, readObjectAt } from '../syntax/objects.ts';
import { isSpace, readDigits, skipSpace, startsWith } from '../syntax/syntax.ts';
import { asInteger, type PdfDict } from '../syntax/values.ts';
import { onlyEntry, type XrefEntry } from '../syntax/xref-entry.ts';
import { readXrefStream, readXrefTable, type XrefStream, XrefTable } from './xref-sections.ts';

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
  /** Encryption of strings and streams, also for a new section; undefined without encryption. */
  readonly encryption?: Encryption | undefined;
}

interface Section {
  /** Lowest number with an entry in either part, and one more than the highest. */
  readonly first: number;
  readonly bound: number;
  readonly main: XrefTable | XrefStream;
  readonly hybrid: XrefStream | undefined;
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
    sections.push(section);
    const previous = section.main.trailer.get('Prev');
    const value = asInteger(previous);
    if (previous !== undefined && value === undefined)
      throw new PdfSyntaxError('A trailer has a malformed /Prev.');
    next = value === undefined ? undefined : value + base;
  }
  const [newest] = sections;
  if (newest === undefined) throw new PdfSyntaxError('The file has no cross-reference.');
  return {
    trailer: newest.main.trailer,
    form: newest.main instanceof XrefTable ? 'table' : 'stream',
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
    return sectionOf(readXrefStream(reading, readObjectAt(reading, offset)), undefined);
  }
  const main = readXrefTable(reading, offset + (from - start));
  const beside = asInteger(main.trailer.get('XRefStm'));
  const hybrid =
    beside === undefined ? undefined : readXrefStream(reading, readObjectAt(reading, beside + base));
  return sectionOf(main, hybrid);
}

function sectionOf(main: Section['main'], hybrid: Section['hybrid']): Section {
  return {
    main,
    hybrid,
    first: Math.min(main.first, hybrid?.first ?? main.first),
    bound: Math.max(main.bound, hybrid?.bound ?? 0),
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
