/**
 * Cross-reference tables (ISO 32000-2, 7.5.4). Entries have twenty bytes, so single entries are read
 * by offset in tables of any length.
 */
import type { Views } from '../syntax/byte-source.ts';
import { PdfSyntaxError, UnexpectedEndOfFile } from '../syntax/damage.ts';
import type { Reading } from '../syntax/objects.ts';
import { isDigit, isSpace, readDigits, skipSpace, startsWith } from '../syntax/syntax.ts';
import { type PdfDict, readDict } from '../syntax/values.ts';
import { FREE, MAX_OBJECT_NUMBER, onlyEntry, type XrefEntry } from '../syntax/xref-entry.ts';
import { type Run, Runs } from './xref-runs.ts';

const ENTRY = 20;
const MAX_TRAILER = 4 << 20;
/** Most subsections of one table; each takes memory. */
const MAX_RUNS = 500_000;

interface TableRun extends Run {
  /** Offset in the file of the first entry. */
  readonly at: number;
}

export class XrefTable {
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
export function readXrefTable(reading: Reading, offset: number): XrefTable {
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
