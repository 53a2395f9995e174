/** A PDF opened for random access to objects. Objects are read on demand. */
import { CryptoError } from '../../core/types.ts';
import type { WorkBudget } from '../../core/work-budget.ts';
import { openEncryption } from '../encryption/open.ts';
import { unpack } from '../syntax/filters.ts';
import {
  type ByteSource,
  type IndirectObject,
  type ObjectStream,
  parseObjectStream,
  type Reading,
  readObjectAt,
  readStream,
  streamDict,
  Views,
  type XrefEntry,
} from '../syntax/objects.ts';
import { PdfSyntaxError, readingBudget } from '../syntax/reading-errors.ts';
import {
  asDict,
  asInteger,
  asName,
  asReference,
  type ByteSlice,
  NULL,
  PdfDict,
  type Reference,
} from '../syntax/values.ts';
import { rebuildXref } from './rebuild.ts';
import { findHeader, readXref, readXrefStream, type Xref, type XrefStream } from './xref.ts';

/** Most references to references; writers make at most one. */
const MAX_STEPS = 16;
/** Largest plausible distance of the number of a lost object above all others. */
const MAX_GAP = 1 << 20;
/** Most cached objects; pages and form fields are requested repeatedly, most others are not. */
const MAX_CACHED_STREAMS = 256;
/** Most bytes of cached, decoded object streams. */
const MAX_CACHED_STREAM_BYTES = 64 << 20;

export class PdfDocument {
  readonly xref: Xref;
  readonly catalog: PdfDict;
  readonly #reading: Reading;
  readonly #objects = new Map<number, ByteSlice>();
  readonly #streams = new Map<number, ObjectStream>();
  #streamBytes = 0;
  readonly #opening = new Set<number>();
  readonly #isIntact: boolean;

  /**
   * @param isIntact refuses a generation that differs between reference, cross-reference and object: some readers ignore
   * it, others rebuild the cross-reference
   * @throws PdfSyntaxError when the catalogue can't be found
   * @throws {CryptoError} `pdf.encrypted` when it does not open without a password
   */
  constructor(reading: Reading, xref: Xref, isIntact = false) {
    this.#reading = reading;
    this.#isIntact = isIntact;
    this.xref = xref.rebuilt === undefined ? withoutUnlistedEncryption(xref) : xref;
    const encryption =
      xref.encryption ??
      openEncryption(this.xref.trailer, (slice) => this.resolve(slice), reading.views.source.password);
    if (encryption !== undefined) {
      // The objects read so far were read without decryption.
      this.#objects.clear();
      this.#streams.clear();
      this.#streamBytes = 0;
      this.xref = { ...this.xref, encryption };
    }
    const catalog = this.dict(xref.trailer.get('Root'));
    if (catalog === undefined) throw new PdfSyntaxError('The trailer names no catalogue.');
    this.catalog = catalog;
  }

  /** Follows references to an object; a direct object stays as it is; null for a missing object. */
  resolve(slice: ByteSlice | undefined): ByteSlice {
    let found = slice;
    for (let step = 0; step < MAX_STEPS; step++) {
      if (found === undefined) return NULL;
      const reference = asReference(found);
      if (reference === undefined) return found;
      if (this.#isIntact) this.#assertGeneration(reference);
      found = this.object(reference.number);
    }
    return NULL;
  }

  /** Returns the dictionary that a value is or refers to; undefined for anything else. */
  dict(slice: ByteSlice | undefined): PdfDict | undefined {
    return asDict(this.resolve(slice));
  }

  /** Returns the newest object of a number; undefined when there is none. @throws PdfSyntaxError */
  object(number: number): ByteSlice | undefined {
    const cached = this.#objects.get(number);
    if (cached !== undefined) return cached;
    const value = this.#load(number);
    if (value === undefined) return undefined;
    if (this.#objects.size >= MAX_CACHED_STREAMS) this.#objects.clear();
    this.#objects.set(number, value);
    return value;
  }

  /**
   * Returns the decoded data of the stream a value refers to; undefined when it refers to something else.
   * @throws PdfSyntaxError when the data can't be found or decoded
   */
  stream(slice: ByteSlice | undefined): Buffer | undefined {
    const number = asReference(slice)?.number;
    const entry = number === undefined ? undefined : this.xref.entry(number);
    if (entry?.kind !== 'plain') return undefined;
    const object = this.#readAt(entry);
    return object.number === number && object.data !== undefined ? this.#unpack(object) : undefined;
  }

  /** Returns the data of a stream, decrypted and still encoded; undefined for other objects. @throws PdfSyntaxError */
  packedStream(number: number): Buffer | undefined {
    const object = this.plainObject(number);
    return object?.data === undefined ? undefined : this.#packed(object);
  }

  /**
   * Returns an object outside of object streams, with its offset; undefined for one in an object stream. @throws
   * PdfSyntaxError
   */
  plainObject(number: number): IndirectObject | undefined {
    const entry = this.xref.entry(number);
    return entry?.kind === 'plain' ? this.#readAt(entry) : undefined;
  }

  /** Returns the objects in an object stream by their numbers; none for any other object. @throws PdfSyntaxError */
  members(number: number): readonly (readonly [number: number, value: ByteSlice | undefined])[] {
    const object = this.plainObject(number);
    const isStream = object?.data !== undefined;
    if (!isStream || asName(this.resolve(asDict(object.value)?.get('Type'))) !== 'ObjStm') return [];
    const stream = this.#stream(number);
    return Array.from(stream.numbers(), (member) => [member, stream.member(member)] as const);
  }

  /** Returns the object at an offset of the file, also where the cross-reference lists none. @throws PdfSyntaxError */
  objectAt(offset: number): IndirectObject {
    return readObjectAt(this.#reading, offset);
  }

  /** Returns the cross-reference in the stream at an offset of the file. @throws PdfSyntaxError when there is none */
  crossReferenceAt(offset: number): XrefStream {
    return readXrefStream(this.#reading, this.objectAt(offset));
  }

  #readAt({ offset, generation }: Extract<XrefEntry, { readonly kind: 'plain' }>): IndirectObject {
    const object = this.objectAt(offset + this.xref.base);
    if (this.#isIntact && object.generation !== generation)
      throw new PdfSyntaxError(
        `Object ${object.number} has generation ${object.generation}, and its cross-reference ${generation}.`,
      );
    const cipher = this.xref.encryption?.strings(object);
    return cipher === undefined ? object : { ...object, value: { ...object.value, cipher } };
  }

  /** @throws PdfSyntaxError for a reference to another generation of an object than there is */
  #assertGeneration({ number, generation }: Reference): void {
    const entry = this.xref.entry(number);
    if (entry === undefined || entry.kind === 'free') return;
    // Objects in object streams have generation 0 (7.5.7).
    const actual = entry.kind === 'plain' ? entry.generation : 0;
    if (generation !== actual)
      throw new PdfSyntaxError(
        `A reference leads to generation ${generation} of object ${number}, which has ${actual}.`,
      );
  }

  #load(number: number): ByteSlice | undefined {
    const entry = this.xref.entry(number);
    if (entry === undefined || entry.kind === 'free') return undefined;
    if (entry.kind === 'packed') {
      const member = this.#stream(entry.stream).member(number, entry.index);
      if (member !== undefined) this.#reading.budget.spend(member.end - member.start);
      return member;
    }
    const object = this.#readAt(entry);
    if (object.number !== number) {
      throw new PdfSyntaxError(`The cross-reference leads to object ${object.number} instead of ${number}.`);
    }
    return object.value;
  }

  #stream(number: number): ObjectStream {
    const cached = this.#streams.get(number);
    if (cached !== undefined) return cached;
    const entry = this.xref.entry(number);
    // Streams are never in object streams; a stream whose length is inside itself would recurse for ever.
    if (entry?.kind !== 'plain' || this.#opening.has(number)) {
      throw new PdfSyntaxError(`Object stream ${number} can't be opened.`);
    }
    this.#opening.add(number);
    try {
      const object = this.#readAt(entry);
      return this.#cacheStream(number, parseObjectStream(streamDict(object), this.#unpack(object)));
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
    const bytes = unpack(streamDict(object), this.#packed(object), (slice) => this.resolve(slice));
    this.#reading.budget.spend(bytes.length);
    return bytes;
  }

  #cacheStream(number: number, stream: ObjectStream): ObjectStream {
    if (this.#streamBytes + stream.size > MAX_CACHED_STREAM_BYTES) {
      this.#streams.clear();
      this.#streamBytes = 0;
    }
    this.#streamBytes += stream.size;
    this.#streams.set(number, stream);
    return stream;
  }
}

/**
 * Some writers refer to an encryption dictionary that they do not write. A reference to an object that the
 * cross-reference does not list, or lists as free, is null (7.3.10): such a file is not encrypted. In a rebuilt one, the
 * object may be a lost one.
 */
function withoutUnlistedEncryption(xref: Xref): Xref {
  const { trailer, bound } = xref;
  const number = asReference(trailer.get('Encrypt'))?.number;
  if (number === undefined || (xref.entry(number)?.kind ?? 'free') !== 'free') return xref;
  const kept = trailer.entries.filter((entry) => !trailer.isKey(entry, 'Encrypt'));
  return {
    ...xref,
    trailer: new PdfDict(trailer, kept),
    // No new object gets the number that the older trailer goes on to name.
    bound: number < bound + MAX_GAP ? Math.max(bound, number + 1) : bound,
  };
}

/**
 * Opens a PDF and runs `work` on it. When the cross-reference turns out to be damaged, at once or during the
 * work, it is rebuilt and the work runs again from its start; the work must have no side effects.
 * @param counted charges the reading to a work budget; without it, only the size of the file limits it
 * @throws {CryptoError} `pdf.malformed` with the offset and the reason; `pdf.encrypted`
 */
export function withPdf<T>(source: ByteSource, work: (pdf: PdfDocument) => T, counted?: WorkBudget): T {
  const open = (): Reading => ({ views: new Views(source), budget: readingBudget(source.size, counted) });
  const reading = open();
  const header = findHeader(reading);
  if (header === undefined) {
    throw new CryptoError('pdf.malformed', 'This is no PDF: its first 1024 bytes have no %PDF- header.');
  }
  try {
    return work(new PdfDocument(reading, readXref(reading, header)));
  } catch (error) {
    if (!(error instanceof PdfSyntaxError)) throw error;
    const again = open();
    try {
      return work(new PdfDocument(again, rebuildXref(again, header)));
    } catch (second) {
      if (!(second instanceof PdfSyntaxError)) throw second;
      throw new CryptoError(
        'pdf.malformed',
        `${error.message} Reading on without it failed: ${second.message}`,
      );
    }
  }
}

/**
 * Opens a PDF by its own cross-reference without repair, for checks that must see what every reader sees.
 * @param work charges the reading, now and later
 * @throws {CryptoError} `pdf.malformed`, `pdf.encrypted`
 * @throws PdfSyntaxError at once or later, when the cross-reference or an object asked for is damaged
 * @throws WorkBudgetExceeded at once or later
 */
export function openIntactPdf(source: ByteSource, work?: WorkBudget): PdfDocument {
  const reading: Reading = { views: new Views(source), budget: readingBudget(source.size, work) };
  const header = findHeader(reading);
  if (header === undefined)
    throw new PdfSyntaxError('This is no PDF: its first 1024 bytes have no %PDF- header.');
  return new PdfDocument(reading, readXref(reading, header), true);
}
