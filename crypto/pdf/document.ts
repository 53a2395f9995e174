/**
 * A PDF opened for looking up single objects. Nothing is read before it is asked for.
 */
import { CryptoError } from '../types.ts';
import type { Work } from '../work.ts';
import { type ByteSource, Views } from './byte-source.ts';
import { Budget, PdfDamage } from './damage.ts';
import { openEncryption } from './encryption/open.ts';
import { unpack } from './filters.ts';
import { type ObjectStream, parseObjectStream } from './object-stream.ts';
import { type IndirectObject, type Reading, readObjectAt, readStream, streamDict } from './objects.ts';
import { rebuildXref } from './rebuild.ts';
import { asDict, asInteger, asReference, NULL, type PdfDict, type Piece } from './values.ts';
import { findHeader, readXref, type Xref } from './xref.ts';

/** A reference that leads to a reference, and so on: nobody writes more than one step. */
const MAX_STEPS = 16;
/** Objects remembered; pages and form fields are asked for more than once, most others are not. */
const REMEMBERED = 256;
/** Unpacked object streams remembered, bytes in all. */
const REMEMBERED_BYTES = 64 << 20;

export class PdfDocument {
  readonly xref: Xref;
  readonly catalog: PdfDict;
  readonly #reading: Reading;
  readonly #objects = new Map<number, Piece>();
  readonly #streams = new Map<number, ObjectStream>();
  #streamBytes = 0;
  readonly #opening = new Set<number>();

  /**
   * @throws PdfDamage when the catalogue can't be found
   * @throws {CryptoError} `pdf.encrypted` when it does not open without a password
   */
  constructor(reading: Reading, xref: Xref) {
    this.#reading = reading;
    this.xref = xref;
    const encryption = xref.encryption ?? openEncryption(xref.trailer, (piece) => this.resolve(piece));
    if (encryption !== undefined) {
      // What was read to get here was read as if it were clear.
      this.#objects.clear();
      this.#streams.clear();
      this.#streamBytes = 0;
      this.xref = { ...xref, encryption };
    }
    const catalog = this.dict(xref.trailer.get('Root'));
    if (catalog === undefined) throw new PdfDamage('The trailer names no catalogue.');
    this.catalog = catalog;
  }

  /** What a reference points to; a value that is none stays as it is; null for what does not exist. */
  resolve(piece: Piece | undefined): Piece {
    let found = piece;
    for (let step = 0; step < MAX_STEPS; step++) {
      if (found === undefined) return NULL;
      const reference = asReference(found);
      if (reference === undefined) return found;
      found = this.object(reference.number);
    }
    return NULL;
  }

  /** The dictionary a value is or refers to; undefined when it is something else. */
  dict(piece: Piece | undefined): PdfDict | undefined {
    return asDict(this.resolve(piece));
  }

  /** The newest object of a number; undefined when there is none. @throws PdfDamage */
  object(number: number): Piece | undefined {
    const known = this.#objects.get(number);
    if (known !== undefined) return known;
    const value = this.#load(number);
    if (value === undefined) return undefined;
    if (this.#objects.size >= REMEMBERED) this.#objects.clear();
    this.#objects.set(number, value);
    return value;
  }

  /**
   * The unpacked data of the stream a value refers to; undefined when it refers to something else.
   * @throws PdfDamage when the data can't be found or unpacked
   */
  stream(piece: Piece | undefined): Buffer | undefined {
    const number = asReference(piece)?.number;
    const entry = number === undefined ? undefined : this.xref.entry(number);
    if (entry?.kind !== 'plain') return undefined;
    const object = this.#readAt(entry.offset);
    return object.number === number && object.data !== undefined ? this.#unpack(object) : undefined;
  }

  /** The data of a stream, decrypted and still packed; undefined when the object is none. @throws PdfDamage */
  packedStream(number: number): Buffer | undefined {
    const object = this.plainObject(number);
    return object?.data === undefined ? undefined : this.#packed(object);
  }

  /** An object that lies in the file by itself, with its place; undefined for one in an object stream. @throws PdfDamage */
  plainObject(number: number): IndirectObject | undefined {
    const entry = this.xref.entry(number);
    return entry?.kind === 'plain' ? this.#readAt(entry.offset) : undefined;
  }

  #readAt(offset: number): IndirectObject {
    const object = readObjectAt(this.#reading, offset + this.xref.base);
    const cipher = this.xref.encryption?.strings(object);
    return cipher === undefined ? object : { ...object, value: { ...object.value, cipher } };
  }

  #load(number: number): Piece | undefined {
    const entry = this.xref.entry(number);
    if (entry === undefined || entry.kind === 'free') return undefined;
    if (entry.kind === 'packed') {
      const member = this.#stream(entry.stream).member(number);
      if (member !== undefined) this.#reading.budget.spend(member.end - member.start);
      return member;
    }
    const object = this.#readAt(entry.offset);
    if (object.number !== number) {
      throw new PdfDamage(`The cross-reference leads to object ${object.number} instead of ${number}.`);
    }
    return object.value;
  }

  #stream(number: number): ObjectStream {
    const known = this.#streams.get(number);
    if (known !== undefined) return known;
    const entry = this.xref.entry(number);
    // Streams never lie in streams; one whose length lies in itself would be opened for ever.
    if (entry?.kind !== 'plain' || this.#opening.has(number)) {
      throw new PdfDamage(`Object stream ${number} can't be opened.`);
    }
    this.#opening.add(number);
    try {
      const object = this.#readAt(entry.offset);
      return this.#remember(number, parseObjectStream(streamDict(object), this.#unpack(object)));
    } finally {
      this.#opening.delete(number);
    }
  }

  #packed(object: IndirectObject): Buffer {
    const dict = streamDict(object);
    const data = readStream(this.#reading, object, asInteger(this.resolve(dict.get('Length'))));
    return this.xref.encryption?.openStream(object, dict, data) ?? data;
  }

  #unpack(object: IndirectObject): Buffer {
    const bytes = unpack(streamDict(object), this.#packed(object), (piece) => this.resolve(piece));
    this.#reading.budget.spend(bytes.length);
    return bytes;
  }

  #remember(number: number, stream: ObjectStream): ObjectStream {
    if (this.#streamBytes + stream.size > REMEMBERED_BYTES) {
      this.#streams.clear();
      this.#streamBytes = 0;
    }
    this.#streamBytes += stream.size;
    this.#streams.set(number, stream);
    return stream;
  }
}

/**
 * Opens a PDF and does some work on it. A file whose cross-reference turns out to be damaged, at once or during the
 * work, gets a rebuilt one and the work is done again from its start; it must not leave anything behind.
 * @param counted counts what is read; left out, only the size of the file limits it
 * @throws {CryptoError} `pdf.malformed` with a sentence about what is wrong where; `pdf.encrypted`
 */
export function withPdf<T>(source: ByteSource, work: (pdf: PdfDocument) => T, counted?: Work): T {
  const open = (): Reading => ({ views: new Views(source), budget: new Budget(source.size, counted) });
  const reading = open();
  const header = findHeader(reading);
  if (header === undefined) {
    throw new CryptoError('pdf.malformed', 'This is no PDF: its first 1024 bytes have no %PDF- header.');
  }
  try {
    return work(new PdfDocument(reading, readXref(reading, header)));
  } catch (error) {
    if (!(error instanceof PdfDamage)) throw error;
    const again = open();
    try {
      return work(new PdfDocument(again, rebuildXref(again, header)));
    } catch (second) {
      if (!(second instanceof PdfDamage)) throw second;
      throw new CryptoError(
        'pdf.malformed',
        `${error.message} Reading on without it failed: ${second.message}`,
      );
    }
  }
}

/**
 * Opens a PDF by its own cross-reference and repairs nothing, for those who have to know what every reader sees.
 * @param work counts what is read, now and later
 * @throws {CryptoError} `pdf.malformed`, `pdf.encrypted`
 * @throws PdfDamage at once or later, when the cross-reference or an object asked for is damaged
 * @throws OutOfWork at once or later
 */
export function openIntactPdf(source: ByteSource, work?: Work): PdfDocument {
  const reading: Reading = { views: new Views(source), budget: new Budget(source.size, work) };
  const header = findHeader(reading);
  if (header === undefined) throw new PdfDamage('This is no PDF: its first 1024 bytes have no %PDF- header.');
  return new PdfDocument(reading, readXref(reading, header));
}
