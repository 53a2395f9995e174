/** Reads indirect objects and streams at an offset of the file (ISO 32000-2, 7.3.8 and 7.3.10). */

import type { WorkBudget } from '../../core/work-budget.ts';
import type { View, Views } from './byte-source.ts';
import { PdfSyntaxError, UnexpectedEndOfFile } from './damage.ts';
import { endsToken, isSpace, readDigits, skipSpace, startsWith } from './syntax.ts';
import { asDict, type ByteSlice, endOfValue, type PdfDict, type Reference } from './values.ts';
import { MAX_GENERATION } from './xref-entry.ts';

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
