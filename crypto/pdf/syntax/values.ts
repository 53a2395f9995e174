/**
 * PDF values as ranges of bytes (ISO 32000-2, 7.3). Values are parsed on demand: a dictionary costs only its keys and
 * an unread array nothing; unchanged values are copied byte for byte.
 */

import { PdfSyntaxError, UnexpectedEndOfFile } from './reading-errors.ts';
import {
  isDigit,
  readDigits,
  skipReference,
  skipRegular,
  skipSpace,
  skipValue,
  startsWith,
} from './syntax.ts';

/** Highest generation (7.5.4): tables have five digits, so a higher one refers to no object. */
export const MAX_GENERATION = 65_535;

/** Decrypts the strings of one object. */
export interface StringCipher {
  open(bytes: Buffer): Buffer;
}

/** One value: the bytes [start, end) of `bytes`. */
export interface ByteSlice {
  readonly bytes: Buffer;
  /** Offset in the file of `bytes[0]`; -1 when the bytes come from an object stream. */
  readonly at: number;
  readonly start: number;
  readonly end: number;
  /**
   * Present when the strings in these bytes are encrypted (7.6.2). Functions that return text (`asString`,
   * `sourceText`)
   * return it decrypted; the writer encrypts its output.
   */
  readonly cipher?: StringCipher | undefined;
}

/** Number and generation of an indirect object. */
export interface Reference {
  readonly number: number;
  readonly generation: number;
}

/** Position of a key and its value; names are decoded on demand. */
interface Entry {
  /** The name is [from, nameEnd), its slash included. */
  readonly from: number;
  readonly nameEnd: number;
  /** The value is [start, end). */
  readonly start: number;
  readonly end: number;
}

/** The value `null`, for missing values. */
export const NULL: ByteSlice = { bytes: Buffer.from('null'), at: -1, start: 0, end: 4 };

/** A dictionary: its keys in order, its values not yet parsed. */
export class PdfDict implements ByteSlice {
  readonly bytes: Buffer;
  readonly at: number;
  readonly start: number;
  readonly end: number;
  readonly cipher: StringCipher | undefined;
  readonly entries: readonly Entry[];
  constructor(place: ByteSlice, entries: readonly Entry[]) {
    const { bytes, at, start, end, cipher } = place;
    this.bytes = bytes;
    this.at = at;
    this.start = start;
    this.end = end;
    this.cipher = cipher;
    this.entries = entries;
  }

  /** Returns the value of a key; a reference is not resolved. The last value of a repeated key counts. */
  get(key: string): ByteSlice | undefined {
    for (let index = this.entries.length - 1; index >= 0; index--) {
      const entry = this.entries[index];
      if (entry !== undefined && this.isKey(entry, key)) return this.valueAt(entry);
    }
    return undefined;
  }

  /** True for the value of a signature, the only string that encryption excludes (7.6.2). */
  #isSignatureValue(entry: Entry): boolean {
    const { bytes } = this;
    return (
      bytes[entry.start] === 0x3c && this.isKey(entry, 'Contents') && this.get('ByteRange') !== undefined
    );
  }

  /** Counts the occurrences of a key: readers interpret a repeated key differently. */
  count(key: string): number {
    return this.entries.reduce((sum, entry) => (this.isKey(entry, key) ? sum + 1 : sum), 0);
  }

  isKey(entry: Entry, key: string): boolean {
    const { bytes } = this;
    const { from, nameEnd } = entry;
    // Longer names can only match when they contain `#xx`.
    if (nameEnd - from - 1 !== key.length) {
      return (
        nameEnd - from - 1 >= key.length + 2 && hasEscape(bytes, from, nameEnd) && this.keyOf(entry) === key
      );
    }
    for (let index = 0; index < key.length; index++) {
      if (bytes[from + 1 + index] !== key.charCodeAt(index)) return false;
    }
    return true;
  }

  valueAt(entry: Entry): ByteSlice {
    const { start, end } = entry;
    const cipher = this.cipher === undefined || this.#isSignatureValue(entry) ? undefined : this.cipher;
    return { bytes: this.bytes, at: this.at, start, end, cipher };
  }

  /** Returns the name of an entry, `#xx` decoded. */
  keyOf({ from, nameEnd }: Entry): string {
    return nameText(this.bytes, from, nameEnd);
  }
}

/** Most keys of a dictionary; each takes memory. */
const MAX_KEYS = 100_000;

/** Reads the dictionary that begins at `from` with `<<`. */
export function readDict(bytes: Buffer, at: number, from: number, cipher?: StringCipher): PdfDict {
  if (!startsWith(bytes, from, '<<')) {
    if (from + 2 > bytes.length) throw new UnexpectedEndOfFile('A dictionary is cut off.');
    throw new PdfSyntaxError('No dictionary stands where one should.');
  }
  const entries: Entry[] = [];
  let index = skipSpace(bytes, from + 2);
  for (;;) {
    const byte = bytes[index];
    if (byte === 0x2f) {
      const nameEnd = skipRegular(bytes, index + 1);
      const start = skipSpace(bytes, nameEnd);
      const next = bytes[start];
      // A key without a value before the end of the dictionary reads as null.
      const bare = next === 0x3e && bytes[start + 1] === 0x3e;
      const end = bare ? nameEnd : endOfValue(bytes, start);
      entries.push({ from: index, nameEnd, start: bare ? nameEnd : start, end });
      if (entries.length > MAX_KEYS) throw new PdfSyntaxError(`A dictionary has more than ${MAX_KEYS} keys.`);
      index = skipSpace(bytes, end);
    } else if (byte === 0x3e && bytes[index + 1] === 0x3e) {
      return new PdfDict({ bytes, at, start: from, end: index + 2, cipher }, entries);
    } else if (byte === undefined || index + 1 >= bytes.length) {
      throw new UnexpectedEndOfFile('A dictionary is cut off.');
    } else {
      throw new PdfSyntaxError(
        `The dictionary at offset ${at < 0 ? from : at + from} has a key that is no name.`,
      );
    }
  }
}

/** Returns the index after the value at `from`; a reference is one value. */
export function endOfValue(bytes: Buffer, from: number): number {
  if (isDigit(bytes[from])) {
    const end = skipReference(bytes, from);
    if (end >= 0) return end;
  }
  return skipValue(bytes, from);
}

function hasEscape(bytes: Buffer, from: number, end: number): boolean {
  for (let at = from; at < end; at++) if (bytes[at] === 0x23) return true;
  return false;
}

/** Decodes the name [from, end), `#xx` included (7.3.5); each byte one character. */
export function nameText(bytes: Buffer, from: number, end: number): string {
  const text = bytes.toString('latin1', from + 1, end);
  if (!text.includes('#')) return text;
  return text.replace(/#([0-9a-fA-F]{2})/g, (_all: string, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

export function asDict(slice: ByteSlice): PdfDict | undefined {
  if (slice instanceof PdfDict) return slice;
  if (!startsWith(slice.bytes, slice.start, '<<')) return undefined;
  return readDict(slice.bytes, slice.at, slice.start, slice.cipher);
}

export function isArray(slice: ByteSlice): boolean {
  return slice.bytes[slice.start] === 0x5b && slice.end > slice.start;
}

/** Iterates over the values of an array; nothing for anything else. */
export function* items(slice: ByteSlice): Generator<ByteSlice> {
  if (!isArray(slice)) return;
  const { bytes, at, cipher } = slice;
  let start = skipSpace(bytes, slice.start + 1);
  while (start < slice.end - 1) {
    const end = endOfValue(bytes, start);
    yield { bytes, at, start, end, cipher };
    start = skipSpace(bytes, end);
  }
}

export function asName(slice: ByteSlice | undefined): string | undefined {
  if (slice === undefined || slice.bytes[slice.start] !== 0x2f) return undefined;
  return nameText(slice.bytes, slice.start, slice.end);
}

/** Returns an integer that a double represents exactly; undefined for anything else. */
export function asInteger(slice: ByteSlice | undefined): number | undefined {
  if (slice === undefined) return undefined;
  const digits = readDigits(slice.bytes, slice.start);
  if (digits !== undefined && digits.end === slice.end) {
    return Number.isSafeInteger(digits.value) ? digits.value : undefined;
  }
  if (slice.end - slice.start > 24) return undefined;
  const text = slice.bytes.toString('latin1', slice.start, slice.end);
  if (!/^[+-]?\d+(\.0*)?$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
}

export function asReference(slice: ByteSlice | undefined): Reference | undefined {
  if (slice === undefined || slice.bytes[slice.end - 1] !== 0x52) return undefined;
  const number = readDigits(slice.bytes, slice.start);
  if (number === undefined) return undefined;
  const generation = readDigits(slice.bytes, skipSpace(slice.bytes, number.end));
  if (generation === undefined || generation.value > MAX_GENERATION) return undefined;
  return { number: number.value, generation: generation.value };
}

export function isNull(slice: ByteSlice): boolean {
  return slice.start === slice.end || startsWith(slice.bytes, slice.start, 'null');
}
