/**
 * Rebuilds a damaged cross-reference by a scan for objects. As in viewers, the last object of each number
 * counts. A file that ends with objects and no trailer after them was truncated: a signature would cover an
 * incomplete document, so it is refused.
 */
import type { Encryption } from '../encryption/encryption.ts';
import { openEncryption } from '../encryption/open.ts';
import { unpack } from '../syntax/filters.ts';
import {
  type IndirectObject,
  MAX_OBJECT_NUMBER,
  parseObjectStream,
  type Reading,
  readObjectAt,
  readStream,
  streamDict,
  type XrefEntry,
} from '../syntax/objects.ts';
import { PdfSyntaxError, UnexpectedEndOfFile } from '../syntax/reading-errors.ts';
import { referencesIn } from '../syntax/references.ts';
import { endsToken, isDigit, isSpace, skipSpace } from '../syntax/syntax.ts';
import {
  asDict,
  asInteger,
  asName,
  asReference,
  type ByteSlice,
  isNull,
  NULL,
  type PdfDict,
  readDict,
} from '../syntax/values.ts';
import type { Xref } from './xref.ts';

const CHUNK = 1 << 20;
/** Longest text between the number of an object and the end of its `obj`, doubled. */
const OVERLAP = 128;
/** Most objects of a rebuilt cross-reference; bounds the memory. */
const MAX_FOUND = 2_000_000;
/** Largest plausible distance of a dangling reference above all object numbers. */
const MAX_GAP = 1 << 20;
/** Budget charged for a false match. */
const FALSE_MATCH_COST = 256;

/** @param header offset of `%PDF-`. @throws PdfSyntaxError when there is no object or trailer */
export function rebuildXref(reading: Reading, header: number): Xref {
  return new Rebuild(reading, header).run();
}

class Rebuild {
  readonly #reading: Reading;
  readonly #header: number;
  readonly #entries = new Map<number, XrefEntry>();
  /** Offsets of object streams, whose members are listed when the encryption is known. */
  readonly #streams: number[] = [];
  /** Numbers that objects refer to, existing or not. */
  readonly #referred = new Set<number>();
  #trailer: PdfDict | undefined;
  #trailerAt = -1;
  /** False when trailers name different catalogues: programs that rebuild take different ones of them. */
  #hasOneCatalog = true;
  #lastObjectAt = -1;

  constructor(reading: Reading, header: number) {
    this.#reading = reading;
    this.#header = header;
  }

  run(): Xref {
    this.#scan();
    const trailer = this.#trailer;
    if (trailer === undefined)
      throw new PdfSyntaxError('The file has no usable cross-reference and no trailer.');
    if (this.#lastObjectAt > this.#trailerAt) {
      throw new PdfSyntaxError(
        `The file is cut off: no trailer follows the object at offset ${this.#lastObjectAt}.`,
      );
    }
    if (!this.#hasOneCatalog)
      throw new PdfSyntaxError('Its trailers name different catalogues, and programs choose differently.');
    const encryption = openEncryption(
      trailer,
      (slice) => this.#resolve(slice),
      this.#reading.views.source.password,
    );
    for (const offset of this.#streams) this.#tryMembers(offset, encryption);
    let packed = false;
    for (const entry of this.#entries.values()) if (entry.kind === 'packed') packed = true;
    return {
      trailer,
      form: packed ? 'stream' : 'table',
      base: this.#header,
      newest: undefined,
      sections: [],
      bound: this.#bound(),
      entry: (number) => this.#entries.get(number),
      rebuilt: this.#entries,
      encryption,
    };
  }

  /**
   * Returns one more than every object number and every dangling reference: a new object with the number of a lost
   * one would replace it, a signature for example a form field.
   */
  #bound(): number {
    let bound = 0;
    for (const number of this.#entries.keys()) if (number >= bound) bound = number + 1;
    const believed = bound + MAX_GAP;
    for (const number of this.#referred) if (number >= bound && number < believed) bound = number + 1;
    return bound;
  }

  #scan(): void {
    const { source } = this.#reading.views;
    let resume = this.#header;
    for (let from = this.#header; from < source.size; from += CHUNK - OVERLAP) {
      if (resume >= from + CHUNK) continue;
      const bytes = source.read(from, CHUNK);
      // A match in the overlap is complete in the next chunk.
      const limit = from + CHUNK < source.size ? CHUNK - OVERLAP / 2 : bytes.length;
      for (
        let at = nextMark(bytes, resume - from);
        at >= 0 && at < limit;
        at = nextMark(bytes, resume - from)
      ) {
        resume = bytes[at] === LETTER_T ? this.#readTrailer(from + at) : this.#readObject(bytes, from, at);
      }
      resume = Math.max(resume, from + limit);
    }
  }

  /** Returns the offset to continue from. */
  #readTrailer(offset: number): number {
    const view = this.#reading.views.view(offset + 7, 4096);
    try {
      const dict = readDict(view.bytes, view.at, skipSpace(view.bytes, view.start));
      this.#reading.budget.spend(dict.end - view.start);
      this.#recordTrailer(dict, offset);
    } catch (error) {
      if (!(error instanceof PdfSyntaxError)) throw error;
      this.#reading.budget.spend(
        error instanceof UnexpectedEndOfFile ? view.bytes.length - view.start : FALSE_MATCH_COST,
      );
    }
    return offset + 7;
  }

  #recordTrailer(dict: PdfDict, offset: number): void {
    const root = asReference(dict.get('Root'))?.number;
    if (root === undefined) return;
    if (this.#trailer !== undefined && asReference(this.#trailer.get('Root'))?.number !== root)
      this.#hasOneCatalog = false;
    // One encrypted revision makes the whole file encrypted, even when a later trailer omits /Encrypt.
    if (!namesEncryption(this.#trailer) || namesEncryption(dict)) this.#trailer = dict;
    this.#trailerAt = offset;
  }

  /** Returns the offset to continue from: after the object, its stream data included. */
  #readObject(bytes: Buffer, from: number, mark: number): number {
    const after = from + mark + 3;
    const start = objectStart(bytes, mark);
    if (start < 0) return after;
    const offset = from + start;
    this.#lastObjectAt = offset;
    try {
      const object = readObjectAt(this.#reading, offset);
      return Math.max(after, this.#recordObject(object, offset));
    } catch (error) {
      if (!(error instanceof PdfSyntaxError)) throw error;
      // Unreadable objects are ignored; the budget ends a file that has only such objects.
      this.#reading.budget.spend(FALSE_MATCH_COST);
      return after;
    }
  }

  #recordObject(object: IndirectObject, offset: number): number {
    const { number, generation, value } = object;
    const end = value.at + value.end;
    if (number > MAX_OBJECT_NUMBER) return end;
    // Read before it is listed: an unreadable object would make the whole file unreadable.
    const dict = asDict(value);
    this.#entries.set(number, { kind: 'plain', offset: offset - this.#header, generation });
    this.#recordReferences(value);
    if (this.#entries.size > MAX_FOUND)
      throw new PdfSyntaxError(`The file has more than ${MAX_FOUND} objects.`);
    if (object.data === undefined || dict === undefined) return end;
    const type = asName(dict.get('Type'));
    if (type === 'XRef') this.#recordTrailer(dict, offset);
    const length = asInteger(dict.get('Length'));
    if (type === 'ObjStm') this.#streams.push(offset);
    return this.#endOfStream(object.data, length);
  }

  #recordReferences(value: ByteSlice): void {
    if (this.#referred.size > MAX_FOUND) return;
    for (const number of referencesIn(value)) this.#referred.add(number);
  }

  #tryMembers(offset: number, encryption: Encryption | undefined): void {
    try {
      this.#recordMembers(offset, encryption);
    } catch (error) {
      if (!(error instanceof PdfSyntaxError)) throw error;
      // Unreadable streams are ignored, as in the scan.
      this.#reading.budget.spend(FALSE_MATCH_COST);
    }
  }

  #recordMembers(offset: number, encryption: Encryption | undefined): void {
    const object = readObjectAt(this.#reading, offset);
    const dict = streamDict(object);
    const length = asInteger(this.#resolve(dict.get('Length')));
    const data = readStream(this.#reading, object, length);
    const packed = encryption?.openStream(object, dict, data) ?? data;
    const bytes = unpack(dict, packed, (slice) => this.#resolve(slice));
    this.#reading.budget.spend(bytes.length);
    let index = 0;
    const members = parseObjectStream(dict, bytes);
    for (const number of members.numbers()) {
      if (number <= MAX_OBJECT_NUMBER && !this.#isNewer(number, offset))
        this.#entries.set(number, { kind: 'packed', stream: object.number, index });
      index++;
    }
    // After all members are known: an unreadable member ends this.
    for (const number of members.numbers()) {
      const value = members.member(number);
      if (value !== undefined) this.#recordReferences(value);
    }
  }

  /** True when an object of this number follows an offset of the file. */
  #isNewer(number: number, offset: number): boolean {
    const entry = this.#entries.get(number);
    return entry?.kind === 'plain' && entry.offset + this.#header > offset;
  }

  /** Resolves references to objects outside of object streams. */
  #resolve(slice: ByteSlice | undefined): ByteSlice {
    const reference = asReference(slice);
    if (slice === undefined || reference === undefined) return slice ?? NULL;
    const entry = this.#entries.get(reference.number);
    if (entry?.kind !== 'plain') return NULL;
    return readObjectAt(this.#reading, entry.offset + this.#header).value;
  }

  /** Skips stream data, since an embedded file has objects of its own. */
  #endOfStream(data: number, length: number | undefined): number {
    const { views } = this.#reading;
    if (length === undefined || data + length > views.source.size) return data;
    const { bytes, start } = views.view(data + length, 32);
    const end = skipSpace(bytes, start);
    return bytes.toString('latin1', end, end + 9) === 'endstream' ? data + length : data;
  }
}

/** Null is the same as no entry (7.3.9); whether a reference leads to an encryption is known after the scan. */
function namesEncryption(trailer: PdfDict | undefined): boolean {
  return !isNull(trailer?.get('Encrypt') ?? NULL);
}

const LETTER_T = 0x74;

/** Returns the index of the next `obj` or `trailer`; -1 when there is none. */
function nextMark(bytes: Buffer, from: number): number {
  const start = Math.max(0, from);
  const object = bytes.indexOf('obj', start, 'latin1');
  const trailer = bytes.subarray(0, object < 0 ? bytes.length : object).indexOf('trailer', start, 'latin1');
  return trailer >= 0 ? trailer : object;
}

/** Returns the index of the object number before `obj` at `at`; -1 when the letters do not begin an object. */
function objectStart(bytes: Buffer, at: number): number {
  if (!endsToken(bytes[at + 3]) && !isDigit(bytes[at + 3])) return -1;
  let index = at;
  for (let part = 0; part < 2; part++) {
    const gap = index;
    while (index > 0 && gap - index < OVERLAP / 4 && isSpace(bytes[index - 1])) index--;
    if (part === 1 && gap === index) return -1;
    const digits = index;
    while (index > 0 && digits - index < 10 && isDigit(bytes[index - 1])) index--;
    if (digits === index) return -1;
  }
  return index;
}
