/**
 * Cross-reference streams (ISO 32000-2, 7.5.8).
 */
import { PdfSyntaxError } from '../syntax/damage.ts';
import { unpack } from '../syntax/filters.ts';
import { type IndirectObject, type Reading, readStream, streamDict } from '../syntax/objects.ts';
import { asInteger, asName, type ByteSlice, isArray, items, type PdfDict } from '../syntax/values.ts';
import { FREE, MAX_OBJECT_NUMBER, onlyEntry, type XrefEntry } from '../syntax/xref-entry.ts';
import { type Run, Runs } from './xref-runs.ts';

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
