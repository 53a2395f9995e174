/**
 * Makes a cross-reference by looking for the objects themselves, for files whose own is damaged. What counts is
 * the last object of each number, as in viewers. A file that ends with objects and no trailer after them was cut
 * off: signing it would seal a loss, so it is refused.
 */
import { OutOfBytes, PdfDamage } from './damage.ts';
import type { Encryption } from './encryption/encryption.ts';
import { openEncryption } from './encryption/open.ts';
import { unpack } from './filters.ts';
import { parseObjectStream } from './object-stream.ts';
import { type IndirectObject, type Reading, readObjectAt, readStream, streamDict } from './objects.ts';
import { referencesIn } from './references.ts';
import { endsToken, isDigit, isSpace, skipSpace } from './syntax.ts';
import {
  asDict,
  asInteger,
  asName,
  asReference,
  NULL,
  type PdfDict,
  type Piece,
  readDict,
} from './values.ts';
import type { Xref } from './xref.ts';
import { MAX_OBJECT_NUMBER, type XrefEntry } from './xref-entry.ts';

const CHUNK = 1 << 20;
/** Longest text between the number of an object and the end of its `obj`, twice over. */
const OVERLAP = 128;
/** Most objects a rebuilt cross-reference holds, so that memory stays bounded. */
const MAX_FOUND = 2_000_000;
/** A reference to a number this much above all objects is not believed to have had one. */
const MAX_GAP = 1 << 20;
/** What is spent on a mark that turns out to be nothing. */
const MISS = 256;

/** @param header offset of `%PDF-`. @throws PdfDamage when there is nothing to build from */
export function rebuildXref(reading: Reading, header: number): Xref {
  return new Rebuild(reading, header).run();
}

class Rebuild {
  readonly #reading: Reading;
  readonly #header: number;
  readonly #entries = new Map<number, XrefEntry>();
  /** Offsets of object streams, whose members are listed when it is known how they are encrypted. */
  readonly #streams: number[] = [];
  /** Numbers that objects refer to, whether or not there is such an object. */
  readonly #referred = new Set<number>();
  #trailer: PdfDict | undefined;
  #trailerAt = -1;
  #lastObjectAt = -1;

  constructor(reading: Reading, header: number) {
    this.#reading = reading;
    this.#header = header;
  }

  run(): Xref {
    this.#scan();
    const trailer = this.#trailer;
    if (trailer === undefined) throw new PdfDamage('The file has no usable cross-reference and no trailer.');
    if (this.#lastObjectAt > this.#trailerAt) {
      throw new PdfDamage(
        `The file is cut off: no trailer follows the object at offset ${this.#lastObjectAt}.`,
      );
    }
    const encryption = openEncryption(trailer, (piece) => this.#resolve(piece));
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
   * Above every object, and above what is referred to and lost: a new object of that number would take its place, a
   * signature that of a form field.
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
      // A mark in the overlap is whole in the next chunk.
      const limit = from + CHUNK < source.size ? CHUNK - OVERLAP / 2 : bytes.length;
      for (
        let at = nextMark(bytes, resume - from);
        at >= 0 && at < limit;
        at = nextMark(bytes, resume - from)
      ) {
        resume = bytes[at] === LETTER_T ? this.#takeTrailer(from + at) : this.#takeObject(bytes, from, at);
      }
      resume = Math.max(resume, from + limit);
    }
  }

  /** Gives the offset to go on from. */
  #takeTrailer(offset: number): number {
    const view = this.#reading.views.view(offset + 7, 4096);
    try {
      const dict = readDict(view.bytes, view.at, skipSpace(view.bytes, view.start));
      this.#reading.budget.spend(dict.end - view.start);
      this.#noteTrailer(dict, offset);
    } catch (error) {
      if (!(error instanceof PdfDamage)) throw error;
      this.#reading.budget.spend(error instanceof OutOfBytes ? view.bytes.length - view.start : MISS);
    }
    return offset + 7;
  }

  #noteTrailer(dict: PdfDict, offset: number): void {
    if (asReference(dict.get('Root')) === undefined) return;
    // An encrypted revision makes the whole file encrypted, whatever a later trailer leaves out.
    if (this.#trailer?.get('Encrypt') === undefined || dict.get('Encrypt') !== undefined) {
      this.#trailer = dict;
    }
    this.#trailerAt = offset;
  }

  /** Gives the offset to go on from: after the object, its stream data included. */
  #takeObject(bytes: Buffer, from: number, mark: number): number {
    const after = from + mark + 3;
    const start = objectStart(bytes, mark);
    if (start < 0) return after;
    const offset = from + start;
    this.#lastObjectAt = offset;
    try {
      const object = readObjectAt(this.#reading, offset);
      return Math.max(after, this.#noteObject(object, offset));
    } catch (error) {
      if (!(error instanceof PdfDamage)) throw error;
      // What can't be read is passed over; the budget ends a file that has nothing else.
      this.#reading.budget.spend(MISS);
      return after;
    }
  }

  #noteObject(object: IndirectObject, offset: number): number {
    const { number, generation, value } = object;
    const end = value.at + value.end;
    if (number > MAX_OBJECT_NUMBER) return end;
    // Read before it is listed: an object nobody can read would make the whole file unreadable.
    const dict = asDict(value);
    this.#entries.set(number, { kind: 'plain', offset: offset - this.#header, generation });
    this.#noteReferences(value);
    if (this.#entries.size > MAX_FOUND) throw new PdfDamage(`The file has more than ${MAX_FOUND} objects.`);
    if (object.data === undefined || dict === undefined) return end;
    const type = asName(dict.get('Type'));
    if (type === 'XRef') this.#noteTrailer(dict, offset);
    const length = asInteger(dict.get('Length'));
    if (type === 'ObjStm') this.#streams.push(offset);
    return this.#endOfStream(object.data, length);
  }

  #noteReferences(value: Piece): void {
    if (this.#referred.size > MAX_FOUND) return;
    for (const number of referencesIn(value)) this.#referred.add(number);
  }

  #tryMembers(offset: number, encryption: Encryption | undefined): void {
    try {
      this.#noteMembers(offset, encryption);
    } catch (error) {
      if (!(error instanceof PdfDamage)) throw error;
      // What can't be read is passed over, as in the scan.
      this.#reading.budget.spend(MISS);
    }
  }

  #noteMembers(offset: number, encryption: Encryption | undefined): void {
    const object = readObjectAt(this.#reading, offset);
    const dict = streamDict(object);
    const length = asInteger(this.#resolve(dict.get('Length')));
    const data = readStream(this.#reading, object, length);
    const packed = encryption?.openStream(object, dict, data) ?? data;
    const bytes = unpack(dict, packed, (piece) => this.#resolve(piece));
    this.#reading.budget.spend(bytes.length);
    let index = 0;
    const members = parseObjectStream(dict, bytes);
    for (const number of members.numbers()) {
      if (number <= MAX_OBJECT_NUMBER && !this.#isNewer(number, offset))
        this.#entries.set(number, { kind: 'packed', stream: object.number, index });
      index++;
    }
    // After all are known: a member that cannot be read ends this.
    for (const number of members.numbers()) {
      const value = members.member(number);
      if (value !== undefined) this.#noteReferences(value);
    }
  }

  /** True when an object of this number lies behind an offset of the file. */
  #isNewer(number: number, offset: number): boolean {
    const entry = this.#entries.get(number);
    return entry?.kind === 'plain' && entry.offset + this.#header > offset;
  }

  /** What a reference leads to, of the objects that lie in the file by themselves. */
  #resolve(piece: Piece | undefined): Piece {
    const reference = asReference(piece);
    if (piece === undefined || reference === undefined) return piece ?? NULL;
    const entry = this.#entries.get(reference.number);
    if (entry?.kind !== 'plain') return NULL;
    return readObjectAt(this.#reading, entry.offset + this.#header).value;
  }

  /** Stream data is passed over, since a file inside the file has objects of its own. */
  #endOfStream(data: number, length: number | undefined): number {
    const { views } = this.#reading;
    if (length === undefined || data + length > views.source.size) return data;
    const { bytes, start } = views.view(data + length, 32);
    const end = skipSpace(bytes, start);
    return bytes.toString('latin1', end, end + 9) === 'endstream' ? data + length : data;
  }
}

const LETTER_T = 0x74;

/** Index of the next `obj` or `trailer`; -1 when there is none. */
function nextMark(bytes: Buffer, from: number): number {
  const start = Math.max(0, from);
  const object = bytes.indexOf('obj', start, 'latin1');
  const trailer = bytes.subarray(0, object < 0 ? bytes.length : object).indexOf('trailer', start, 'latin1');
  return trailer >= 0 ? trailer : object;
}

/** Index of the object number before `obj` at `at`; -1 when the letters are not the frame of an object. */
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
