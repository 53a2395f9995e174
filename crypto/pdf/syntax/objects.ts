/** Reads indirect objects and streams at an offset of the file (ISO 32000-2, 7.3.8 and 7.3.10). */
import type { WorkBudget } from '../../core/work-budget.ts';
import { PdfSyntaxError, UnexpectedEndOfFile } from './reading-errors.ts';
import { endsToken, isSpace, readDigits, skipSpace, startsWith } from './syntax.ts';
import {
  asDict,
  asInteger,
  type ByteSlice,
  endOfValue,
  MAX_GENERATION,
  type PdfDict,
  type Reference,
} from './values.ts';

/** Most objects in one stream. */
const MAX_MEMBERS = 1_000_000;

/** Object streams (ISO 32000-2, 7.5.7): several objects in one compressed stream. */
export class ObjectStream {
  readonly #bytes: Buffer;
  /** Number of each member with the offset of its value. */
  readonly #members: ReadonlyMap<number, number>;
  /** Numbers that the stream lists with several values. */
  readonly #ambiguous: ReadonlySet<number>;
  /** Numbers of the members by their index. */
  readonly #order: readonly number[];
  constructor(
    bytes: Buffer,
    members: ReadonlyMap<number, number>,
    ambiguous: ReadonlySet<number>,
    order: readonly number[],
  ) {
    this.#bytes = bytes;
    this.#members = members;
    this.#ambiguous = ambiguous;
    this.#order = order;
  }

  get size(): number {
    return this.#bytes.length;
  }

  numbers(): Iterable<number> {
    return this.#members.keys();
  }

  /**
   * Returns a member; undefined when the stream has none of this number.
   * @param index where the cross-reference says that it is
   * @throws PdfSyntaxError for a number with several values, or at another index: some readers look up the index, others
   * the number
   */
  member(number: number, index?: number): ByteSlice | undefined {
    const at = this.#members.get(number);
    if (at === undefined) return undefined;
    if (index !== undefined && this.#order[index] !== number)
      throw new PdfSyntaxError(`Object ${number} is not at the index ${index} of its object stream.`);
    if (this.#ambiguous.has(number))
      throw new PdfSyntaxError(`An object stream has several values for object ${number}.`);
    const start = skipSpace(this.#bytes, at);
    // The stream is encrypted as a whole; its strings are not encrypted separately (7.5.7).
    return { bytes: this.#bytes, at: -1, start, end: endOfValue(this.#bytes, start), cipher: undefined };
  }
}

/** @param bytes the decoded stream. @throws PdfSyntaxError */
export function parseObjectStream(dict: PdfDict, bytes: Buffer): ObjectStream {
  const count = asInteger(dict.get('N'));
  const first = asInteger(dict.get('First'));
  if (
    count === undefined ||
    first === undefined ||
    count < 0 ||
    count > MAX_MEMBERS ||
    first > bytes.length
  ) {
    throw new PdfSyntaxError('An object stream has no usable /N and /First.');
  }
  const members = new Map<number, number>();
  const ambiguous = new Set<number>();
  const order: number[] = [];
  let at = 0;
  for (let index = 0; index < count; index++) {
    const number = readDigits(bytes, skipSpace(bytes, at));
    const offset = number && readDigits(bytes, skipSpace(bytes, number.end));
    if (number === undefined || offset === undefined || number.end > first) {
      throw new PdfSyntaxError(`An object stream announces ${count} objects and lists ${index}.`);
    }
    const known = members.get(number.value);
    if (known === undefined) members.set(number.value, first + offset.value);
    else if (known !== first + offset.value) ambiguous.add(number.value);
    order.push(number.value);
    at = offset.end;
  }
  return new ObjectStream(bytes, members, ambiguous, order);
}

/** Cross-reference entry of one object (ISO 32000-2, 7.5.4 and 7.5.8). */
export type XrefEntry =
  | { readonly kind: 'free' }
  /** Offset from the header of the PDF, which may follow other bytes. */
  | { readonly kind: 'plain'; readonly offset: number; readonly generation: number }
  /** Member `index` of the object stream with number `stream`. */
  | { readonly kind: 'packed'; readonly stream: number; readonly index: number };

export const FREE: XrefEntry = { kind: 'free' };

/** Highest object number; no reader allocates more. */
export const MAX_OBJECT_NUMBER = 2 ** 31 - 4096;

/**
 * Returns the entry that a section has for a number, when it has one or several equal ones.
 * @throws PdfSyntaxError when they contradict each other: readers would choose differently
 */
export function onlyEntry(
  number: number,
  entries: readonly (XrefEntry | undefined)[],
): XrefEntry | undefined {
  const [first, ...others] = entries;
  if (others.some((other) => keyOf(other) !== keyOf(first)))
    throw new PdfSyntaxError(`The cross-reference has contradicting entries for object ${number}.`);
  return first;
}

function keyOf(entry: XrefEntry | undefined): string {
  if (entry?.kind === 'plain') return `${entry.offset} ${entry.generation}`;
  return entry?.kind === 'packed' ? `${entry.stream}/${entry.index}` : 'free';
}

/** Source of PDF bytes: a file, or a buffer in memory. */
export interface ByteSource {
  /** Bytes. */
  readonly size: number;
  /** Password of an encrypted PDF; without it, only files that need none are opened. */
  readonly password?: string | undefined;
  /**
   * Reads the bytes [offset, offset + length), fewer only at the end of the source.
   * May return a view of shared memory: read-only.
   */
  read(offset: number, length: number): Buffer;
}

/** Creates a source over bytes in memory. */
export function bufferSource(bytes: Buffer): ByteSource {
  return {
    size: bytes.length,
    read: (offset, length) => bytes.subarray(offset, offset + length),
  };
}

/** Bytes around a requested offset. */
interface View {
  readonly bytes: Buffer;
  /** Offset in the file of `bytes[0]`. */
  readonly at: number;
  /** Index in `bytes` of the requested offset. */
  readonly start: number;
}

/** Sources up to this size, in bytes, are read once; all views share that buffer. */
const WHOLE = 1 << 20;
/** Smallest read from a larger source: covers most objects of a structure. */
const PAGE = 8 << 10;

/** Reads views of a source and caches the last one: neighbouring objects cost one read. */
export class Views {
  readonly source: ByteSource;
  #last: { readonly bytes: Buffer; readonly at: number };
  constructor(source: ByteSource) {
    this.source = source;
    this.#last = { bytes: source.read(0, source.size <= WHOLE ? source.size : PAGE), at: 0 };
  }

  /** Returns a view with at least `length` bytes from `offset`, or with all bytes up to the end of the file. */
  view(offset: number, length: number): View {
    const last = this.#last;
    const end = Math.min(offset + length, this.source.size);
    if (offset >= last.at && end <= last.at + last.bytes.length) {
      return { bytes: last.bytes, at: last.at, start: offset - last.at };
    }
    const bytes = this.source.read(offset, Math.max(length, PAGE));
    this.#last = { bytes, at: offset };
    return { bytes, at: offset, start: 0 };
  }

  /** True when the view reaches the end of the file. */
  reachesEnd(view: View): boolean {
    return view.at + view.bytes.length >= this.source.size;
  }
}

/** An indirect object outside of object streams. */
export interface IndirectObject extends Reference {
  readonly value: ByteSlice;
  /** Offset in the file of the first byte of stream data; undefined when the object is no stream. */
  readonly data: number | undefined;
}

/** Access to the bytes of the file, with a budget. */
export interface Reading {
  readonly views: Views;
  readonly budget: WorkBudget;
}

/** Most bytes of one object without stream data. */
const MAX_OBJECT = 16 << 20;
const INITIAL_READ_BYTES = 2 << 10;

/**
 * Reads `n g obj …` at an offset of the file.
 * @throws PdfSyntaxError when there is no object
 */
export function readObjectAt(reading: Reading, offset: number): IndirectObject {
  const { views, budget } = reading;
  if (!Number.isSafeInteger(offset) || offset < 0 || offset >= views.source.size) {
    throw new PdfSyntaxError(`An object is said to lie at offset ${offset}, outside the file.`);
  }
  for (let length = INITIAL_READ_BYTES; ; length *= 4) {
    const view = views.view(offset, length);
    const atEnd = views.reachesEnd(view);
    try {
      const object = parseObject(view, offset);
      budget.spend(object.value.end - view.start);
      // A value at the end of the view may continue after it.
      if (atEnd || object.value.end + 32 < view.bytes.length) return object;
    } catch (error) {
      if (!(error instanceof UnexpectedEndOfFile) || atEnd) {
        budget.spend(atEnd ? view.bytes.length - view.start : 256);
        throw error;
      }
    }
    if (length > MAX_OBJECT)
      throw new PdfSyntaxError(`The object at offset ${offset} is longer than ${MAX_OBJECT} bytes.`);
    budget.spend(length);
  }
}

function parseObject(view: View, offset: number): IndirectObject {
  const { bytes, at } = view;
  const header = readHeader(bytes, view.start);
  if (header === undefined)
    throw new PdfSyntaxError(`No object stands at offset ${offset}, where one should.`);
  const { number, generation } = header.reference;
  const start = skipSpace(bytes, header.end);
  if (startsWith(bytes, start, 'endobj')) {
    const nothing: ByteSlice = { bytes, at, start, end: start, cipher: undefined };
    return { number, generation, value: nothing, data: undefined };
  }
  const value: ByteSlice = { bytes, at, start, end: endOfValue(bytes, start), cipher: undefined };
  return { number, generation, value, data: streamStart(view, value) };
}

/** Reads `n g obj` and returns the index after it. */
function readHeader(
  bytes: Buffer,
  from: number,
): { readonly reference: Reference; readonly end: number } | undefined {
  const number = readDigits(bytes, skipSpace(bytes, from));
  if (number === undefined || !isSpace(bytes[number.end])) return undefined;
  const generation = readDigits(bytes, skipSpace(bytes, number.end));
  if (generation === undefined || generation.value > MAX_GENERATION) return undefined;
  const at = skipSpace(bytes, generation.end);
  if (!startsWith(bytes, at, 'obj')) return undefined;
  return { reference: { number: number.value, generation: generation.value }, end: at + 3 };
}

function streamStart(view: View, value: ByteSlice): number | undefined {
  const { bytes } = view;
  if (bytes[value.start] !== 0x3c) return undefined;
  const at = skipSpace(bytes, value.end);
  if (!startsWith(bytes, at, 'stream') || !endsToken(bytes[at + 6])) return undefined;
  // A line feed ends the line of the keyword, with or without a carriage return before it (7.3.8.1).
  let data = at + 6;
  if (bytes[data] === 0x0d) data++;
  if (bytes[data] === 0x0a) data++;
  return view.at + data;
}

/** Most bytes of an encoded structure stream. */
const MAX_STREAM = 64 << 20;
const END = 'endstream';

/**
 * Returns the encoded bytes of a stream.
 * @param length the value of /Length, if known; without `endstream` at that position, it is searched for
 */
export function readStream(reading: Reading, object: IndirectObject, length: number | undefined): Buffer {
  const { views, budget } = reading;
  const { data, number } = object;
  if (data === undefined) throw new PdfSyntaxError(`Object ${number} should be a stream and is none.`);
  if (length !== undefined && length <= MAX_STREAM && data + length <= views.source.size) {
    const view = views.view(data, length + 32);
    budget.spend(length);
    const end = skipSpace(view.bytes, view.start + length);
    if (startsWith(view.bytes, end, END)) return view.bytes.subarray(view.start, view.start + length);
  }
  for (let look = 64 << 10; ; look *= 4) {
    const view = views.view(data, look);
    const end = view.bytes.indexOf(END, view.start, 'latin1');
    budget.spend((end < 0 ? view.bytes.length : end) - view.start);
    if (end >= 0) return view.bytes.subarray(view.start, withoutLineEnd(view.bytes, view.start, end));
    if (views.reachesEnd(view) || look > MAX_STREAM)
      throw new PdfSyntaxError(`The stream of object ${number} has no end.`);
  }
}

function withoutLineEnd(bytes: Buffer, start: number, end: number): number {
  let at = end;
  if (at > start && bytes[at - 1] === 0x0a) at--;
  if (at > start && bytes[at - 1] === 0x0d) at--;
  return at;
}

/** Returns the dictionary of a stream object. @throws PdfSyntaxError when it has none */
export function streamDict(object: IndirectObject): PdfDict {
  const dict = asDict(object.value);
  if (dict === undefined || object.data === undefined) {
    throw new PdfSyntaxError(`Object ${object.number} should be a stream and is none.`);
  }
  return dict;
}
