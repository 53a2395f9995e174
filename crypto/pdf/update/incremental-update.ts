/**
 * Collects the changes of an incremental update before it is written: every object once, for any number of
 * changes.
 */

import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { CryptoError } from '../../core/types.ts';
import type { PdfDocument } from '../document/document.ts';
import type { Xref } from '../document/xref.ts';
import type { XrefEntry } from '../syntax/objects.ts';
import { sourceText } from '../syntax/strings.ts';
import {
  asInteger,
  asReference,
  type ByteSlice,
  isArray,
  items,
  type PdfDict,
  type Reference,
  readDict,
} from '../syntax/values.ts';

/**
 * Writes an incremental update (ISO 32000-2, 7.5.6): changed and new objects, a cross-reference section in the
 * format of the newest one, and a trailer. All text has one byte per character.
 */
interface RevisionObject extends Reference {
  /**
   * The value as PDF text; a stream with its data and keywords and a direct /Length. Strings and data are
   * not encrypted: writing the revision encrypts them, which moves the bytes after the
   * first string. /Contents of a signature stays unencrypted.
   */
  readonly body: string;
}

interface Revision {
  /** To be appended to the original. */
  readonly bytes: Buffer;
  /** Index in `bytes` of the body of each object, in input order. */
  readonly bodies: readonly number[];
}

/** The file that the revision is appended to. */
interface Original {
  readonly xref: Xref;
  /** Bytes. */
  readonly size: number;
  readonly lastByte: number | undefined;
  /** Distinguishes this revision from others of the same file, such as its time. */
  readonly seed: string;
}

/** Largest plausible distance of /Size above the highest entry. */
const MAX_GAP = 1 << 20;
/** Highest object number that widespread readers support (ISO 32000-1, annex C.2). */
const MAX_SUPPORTED_NUMBER = 8_388_607;
/** Most new numbers of one revision. */
const MAX_NEW_OBJECTS = 10_000;
/** A table has ten digits for an offset. */
const MAX_TABLE_OFFSET = 9_999_999_999;

/**
 * Returns the first of many consecutive unused numbers: after all others, as long as readers
 * support them.
 */
export function firstUnusedNumber(xref: Xref): number {
  const above = sizeOf(xref);
  return above + MAX_NEW_OBJECTS <= MAX_SUPPORTED_NUMBER ? above : (firstGap(xref) ?? above);
}

/** Returns one more than the highest number in use. */
function sizeOf(xref: Xref): number {
  const claimed = asInteger(xref.trailer.get('Size')) ?? 0;
  return Math.max(1, xref.bound, claimed <= xref.bound + MAX_GAP ? claimed : 0);
}

/** Returns the first range of numbers without entries; undefined when there is none nearby. */
function firstGap(xref: Xref): number | undefined {
  let start = 1;
  for (let number = 1; number < MAX_GAP; number++) {
    if (xref.entry(number) !== undefined) start = number + 1;
    else if (number - start >= MAX_NEW_OBJECTS) return start;
  }
  return undefined;
}

/**
 * @param objects each number once
 * @throws {CryptoError} `pdf.malformed` when a number comes twice, or an encryption was lost; `input.too-large` when a table has no room for
 * the offsets
 */
export function writeRevision(original: Original, objects: readonly RevisionObject[]): Revision {
  const { xref, lastByte } = original;
  if (xref.losesEncryption === true)
    throw new CryptoError(
      'pdf.malformed',
      'The PDF is encrypted, and its last revision does not say so: programs differ in what they show. Save it anew.',
    );
  const start = original.size - xref.base;
  const rows: XrefRow[] = [];
  const bodies: number[] = [];
  let text = lastByte === 0x0a || lastByte === 0x0d ? '' : '\n';
  for (const object of objects) {
    const { number, generation } = object;
    rows.push({ number, entry: { kind: 'plain', offset: start + text.length, generation } });
    text += `${number} ${generation} obj\n`;
    bodies.push(text.length);
    text += `${xref.encryption?.encrypt(object, object.body, original.seed) ?? object.body}\nendobj\n`;
  }
  const at = start + text.length;
  text += xref.form === 'table' ? tableSection(original, rows, at) : streamSection(original, rows, at);
  text += `startxref\n${at}\n%%EOF\n`;
  return { bytes: Buffer.from(text, 'latin1'), bodies };
}

function tableSection(original: Original, changed: readonly XrefRow[], at: number): string {
  const { xref } = original;
  if (at > MAX_TABLE_OFFSET) {
    throw new CryptoError('input.too-large', 'The PDF is too long for a further cross-reference table.');
  }
  const rows = allRows(xref, changed);
  let text = 'xref\n';
  for (const run of runsOf(rows)) {
    text += `${run[0]?.number ?? 0} ${run.length}\n`;
    for (const { entry } of run) {
      const inUse = entry.kind === 'plain';
      const offset = String(inUse ? entry.offset : 0).padStart(10, '0');
      const generation = String(inUse ? entry.generation : 65535).padStart(5, '0');
      text += `${offset} ${generation} ${inUse ? 'n' : 'f'} \n`;
    }
  }
  return `${text}trailer\n<<${trailerKeys(original, sizeAfter(xref, rows))}>>\n`;
}

function streamSection(original: Original, changed: readonly XrefRow[], at: number): string {
  const { xref } = original;
  const taken = new Set(changed.map((row) => row.number));
  let number = firstUnusedNumber(xref);
  while (taken.has(number)) number++;
  const own: XrefRow = { number, entry: { kind: 'plain', offset: at, generation: 0 } };
  const rows = allRows(xref, [...changed, own]);
  const index = runsOf(rows).map((run) => `${run[0]?.number ?? 0} ${run.length}`);
  const { widths, data } = encodeRows(rows);
  return (
    `${number} 0 obj\n<</Type/XRef/W[${widths.join(' ')}]/Index[${index.join(' ')}]/Length ${data.length}` +
    `${trailerKeys(original, sizeAfter(xref, rows))}>>\nstream\n${data.toString('latin1')}\nendstream\nendobj\n`
  );
}

/** Rows sorted by number: the changed objects, and all others when the older sections are unusable. */
function allRows(xref: Xref, changed: readonly XrefRow[]): readonly XrefRow[] {
  const numbers = new Set<number>();
  for (const { number } of changed) {
    if (numbers.has(number)) {
      throw new CryptoError('pdf.malformed', `Object ${number} has two roles that exclude each other.`);
    }
    numbers.add(number);
  }
  const rows = [...changed];
  if (xref.rebuilt !== undefined) {
    for (const [number, entry] of xref.rebuilt) {
      if (number !== 0 && !numbers.has(number)) rows.push({ number, entry });
    }
    if (!numbers.has(0)) rows.push({ number: 0, entry: { kind: 'free' } });
  }
  return rows.sort((left, right) => left.number - right.number);
}

/** Splits rows into subsections of consecutive numbers. */
function runsOf(rows: readonly XrefRow[]): readonly (readonly XrefRow[])[] {
  const runs: XrefRow[][] = [];
  let expected = -1;
  for (const row of rows) {
    if (row.number === expected) runs.at(-1)?.push(row);
    else runs.push([row]);
    expected = row.number + 1;
  }
  return runs;
}

function sizeAfter(xref: Xref, rows: readonly XrefRow[]): number {
  return Math.max(sizeOf(xref), (rows.at(-1)?.number ?? 0) + 1);
}

/** Keys of a trailer that belong to one section and not to the document. */
const SECTION_KEYS = new Set(
  [
    'Size',
    'Prev',
    'XRefStm',
    'ID',
    'Type',
    'W',
    'Index',
    'Length',
    'Filter',
    'DecodeParms',
    'F',
    'FFilter',
  ].concat(['FDecodeParms', 'DL']),
);

function trailerKeys({ xref, seed }: Original, size: number): string {
  const { trailer } = xref;
  const kept = new Map<string, ByteSlice>();
  // The last value of a repeated key counts, as in the reader.
  for (const entry of trailer.entries) {
    // A key without a value at the end of a damaged trailer would take the following text as its value.
    if (entry.end > entry.start) kept.set(trailer.keyOf(entry), trailer.valueAt(entry));
  }
  let text = `/Size ${size}`;
  for (const [key, value] of kept) {
    if (!SECTION_KEYS.has(key)) text += `/${escapeName(key)} ${sourceText(value)}`;
  }
  const id = trailer.get('ID');
  if (id !== undefined) text += `/ID${newId(id, seed)}`;
  return xref.newest === undefined ? text : `${text}/Prev ${xref.newest}`;
}

function escapeName(key: string): string {
  return key.replace(/[^!-~]|[#()<>[\]{}/%]/g, (letter) => {
    return `#${letter.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}

/** Keeps the first part of the file identifier; the second one identifies this revision (14.4). */
function newId(id: ByteSlice, seed: string): string {
  const [first, second] = [...items(id)];
  if (first === undefined || second === undefined) return ` ${sourceText(id)}`;
  const digest = createHash('sha256')
    .update(`${sourceText(second)} ${seed}`, 'latin1')
    .digest('hex');
  return `[${sourceText(first)}<${digest.slice(0, 32)}>]`;
}

/** Encodes rows of a cross-reference stream (ISO 32000-2, 7.5.8.3). */
interface XrefRow {
  readonly number: number;
  readonly entry: XrefEntry;
}

type Fields = readonly [type: number, second: number, third: number];

/** Concatenates the rows; each field is as narrow as its largest value permits. */
function encodeRows(rows: readonly XrefRow[]): {
  readonly widths: readonly [number, number, number];
  readonly data: Buffer;
} {
  const fields = rows.map(({ entry }) => fieldsOf(entry));
  const second = bytesFor(fields.reduce((most, row) => Math.max(most, row[1]), 0));
  const third = bytesFor(fields.reduce((most, row) => Math.max(most, row[2]), 0));
  const data = Buffer.alloc(rows.length * (1 + second + third));
  let at = 0;
  for (const [type, value, rest] of fields) {
    at = data.writeUInt8(type, at);
    at = data.writeUIntBE(value, at, second);
    at = data.writeUIntBE(rest, at, third);
  }
  return { widths: [1, second, third], data };
}

function fieldsOf(entry: XrefEntry): Fields {
  if (entry.kind === 'free') return [0, 0, 65535];
  if (entry.kind === 'packed') return [2, entry.stream, entry.index];
  return [1, entry.offset, entry.generation];
}

function bytesFor(value: number): number {
  let bytes = 1;
  while (value >= 256 ** bytes) bytes++;
  return bytes;
}

/** `12 0 R` */
export function referenceText({ number, generation }: Reference): string {
  return `${number} ${generation} R`;
}

export class IncrementalUpdate {
  readonly pdf: PdfDocument;
  readonly catalog: DictUpdate;
  #next: number;
  readonly #added: RevisionObject[] = [];
  readonly #dicts = new Map<number, { readonly reference: Reference; readonly draft: DictUpdate }>();
  #arrays: Map<number, ArrayUpdate> | undefined;

  constructor(pdf: PdfDocument) {
    this.pdf = pdf;
    this.#next = firstUnusedNumber(pdf.xref);
    const root = asReference(pdf.xref.trailer.get('Root'));
    this.catalog = root === undefined ? new DictUpdate(this, pdf.catalog) : this.dict(root, pdf.catalog);
  }

  /** Reserves a number for a new object. */
  reserve(): Reference {
    return { number: this.#next++, generation: 0 };
  }

  /** @param reference result of `reserve` */
  replace(reference: Reference, body: string): void {
    const { number, generation } = reference;
    this.#added.push({ number, generation, body });
  }

  /** Adds a new object. */
  add(body: string): Reference {
    const reference = this.reserve();
    this.replace(reference, body);
    return reference;
  }

  /**
   * Returns the pending changes of an indirect dictionary; the same object for each call.
   * @param written left out for a new one with a reserved number
   */
  dict(reference: Reference, written?: PdfDict): DictUpdate {
    const cached = this.#dicts.get(reference.number);
    if (cached !== undefined) return cached.draft;
    const draft = new DictUpdate(this, written);
    this.#dicts.set(reference.number, { reference, draft });
    return draft;
  }

  /** @internal For `DictUpdate.append`. */
  array(reference: Reference, written: ByteSlice): ArrayUpdate {
    this.#arrays ??= new Map();
    let cached = this.#arrays.get(reference.number);
    if (cached === undefined) {
      cached = { reference, written, items: [] };
      this.#arrays.set(reference.number, cached);
    }
    return cached;
  }

  /**
   * Returns new objects in order of their creation, then the changed ones.
   * @throws {CryptoError} `pdf.malformed` when the catalogue has to change and is a direct object, or when a
   * dictionary to be changed is that of a stream: rewriting it without its data would remove the data from the document
   */
  objects(): readonly RevisionObject[] {
    const objects = this.#added.slice();
    for (const { reference, written, items } of this.#arrays?.values() ?? []) {
      objects.push({ ...reference, body: appendItem(written, items.join(' ')) });
    }
    let catalogIsObject = false;
    for (const { reference, draft } of this.#dicts.values()) {
      if (draft === this.catalog) catalogIsObject = true;
      if (!draft.changed) continue;
      const { number, generation } = reference;
      if (draft.written !== undefined && this.pdf.plainObject(number)?.data !== undefined) {
        throw new CryptoError(
          'pdf.malformed',
          `Object ${number} is a stream where a dictionary has to be, and cannot be updated.`,
        );
      }
      objects.push({ number, generation, body: draft.text() });
    }
    if (!catalogIsObject && this.catalog.changed) {
      throw new CryptoError(
        'pdf.malformed',
        'The catalogue is written into the trailer and cannot be updated.',
      );
    }
    return objects;
  }
}

interface ArrayUpdate {
  readonly reference: Reference;
  readonly written: ByteSlice;
  readonly items: string[];
}

/** Pending changes of a dictionary; all other bytes stay. */
export class DictUpdate {
  /** The dictionary in the file; undefined for a new one. */
  readonly written: PdfDict | undefined;
  readonly #draft: IncrementalUpdate;
  readonly #values = new Map<string, string>();
  // Created on demand: most dictionaries need neither.
  #lists: Map<string, string[]> | undefined;
  #inside: Map<string, DictUpdate> | undefined;

  constructor(draft: IncrementalUpdate, written: PdfDict | undefined) {
    this.#draft = draft;
    this.written = written;
  }

  get changed(): boolean {
    if (this.#values.size > 0 || this.#lists !== undefined) return true;
    if (this.#inside === undefined) return false;
    for (const draft of this.#inside.values()) if (draft.changed) return true;
    return false;
  }

  /** Returns the value in the file. */
  get(key: string): ByteSlice | undefined {
    return this.written?.get(key);
  }

  set(key: string, value: string): void {
    this.#values.set(key, value);
  }

  /** Returns the dictionary under a key: changed in its own object when indirect, inside this one otherwise. */
  child(key: string): DictUpdate {
    const value = this.get(key);
    const written = this.#draft.pdf.dict(value);
    const reference = written && asReference(value);
    if (written !== undefined && reference !== undefined) return this.#draft.dict(reference, written);
    this.#inside ??= new Map();
    let draft = this.#inside.get(key);
    if (draft === undefined) {
      draft = new DictUpdate(this.#draft, written);
      this.#inside.set(key, draft);
    }
    return draft;
  }

  /** Appends to the array under a key, which is changed in its own object when indirect. */
  append(key: string, item: string): void {
    const value = this.get(key);
    const array = this.#draft.pdf.resolve(value);
    const reference = isArray(array) ? asReference(value) : undefined;
    if (reference !== undefined) this.#draft.array(reference, array).items.push(item);
    else this.appendHere(key, item);
  }

  /** Appends to the array under a key; an indirect array is replaced by a direct copy. */
  appendHere(key: string, item: string): void {
    this.#lists ??= new Map();
    const list = this.#lists.get(key);
    if (list === undefined) this.#lists.set(key, [item]);
    else list.push(item);
  }

  text(): string {
    const values = this.#values;
    for (const [key, items] of this.#lists ?? []) {
      values.set(key, appendItem(this.#draft.pdf.resolve(this.get(key)), items.join(' ')));
    }
    for (const [key, draft] of this.#inside ?? []) if (draft.changed) values.set(key, draft.text());
    if (this.written !== undefined) return spliceDict(this.written, values);
    let text = '<<';
    for (const [key, value] of values) text += `/${key} ${value}`;
    return `${text}>>`;
  }
}

/** Sets keys to new values, as text of one byte per character; strings are not encrypted. */
export function spliceDict(original: PdfDict, changes: ReadonlyMap<string, string>): string {
  const dict =
    original.cipher === undefined ? original : readDict(Buffer.from(sourceText(original), 'latin1'), -1, 0);
  const { bytes } = dict;
  const keys = [...changes.keys()];
  let kept = '';
  let at = dict.start + 2;
  const written = new Set<string>();
  for (const entry of dict.entries) {
    const key = keys.find((name) => dict.isKey(entry, name));
    const value = key === undefined ? undefined : changes.get(key);
    if (key === undefined || value === undefined) continue;
    // A repeated key gets one value in both places, so that all readers agree.
    kept += `${bytes.toString('latin1', at, entry.start)} ${value}`;
    at = entry.end;
    written.add(key);
  }
  kept += bytes.toString('latin1', at, dict.end);
  let added = '';
  for (const [key, value] of changes) {
    if (!written.has(key)) added += `/${key} ${value}`;
  }
  // At the beginning, since a damaged dictionary may end in a key without a value, which would take the new text as
  // its value.
  return `<<${added}${kept}`;
}

/** Appends a value to the array; creates an array when there is none. */
export function appendItem(array: ByteSlice, item: string): string {
  if (!isArray(array)) return `[${item}]`;
  const text = sourceText(array);
  return `${text.slice(0, -1)} ${item}]`;
}

// Formats streams and numbers as PDF text of one byte per character (ISO 32000-2, 7.3.3 and 7.3.8).

/** Destination of new objects: an update of a file, or a new file. */
export interface ObjectSink {
  add(body: string): Reference;
}

/** Formats a stream whose data is already encoded or stays unencoded. @param dict keys and values */
export function streamObject(dict: string, data: Buffer): string {
  return `<<${dict}/Length ${data.length}>>\nstream\n${data.toString('latin1')}\nendstream`;
}

/** Formats a stream and compresses its data. @param dict keys and values without filter */
export function packedStream(dict: string, data: Buffer): string {
  return streamObject(`${dict}/Filter/FlateDecode`, deflateSync(data));
}

/** Formats a number without exponent, exact to a ten-thousandth. */
export function numberText(value: number): string {
  const text = value.toFixed(4).replace(/\.?0{1,4}$/, '');
  return text === '-0' ? '0' : text;
}
