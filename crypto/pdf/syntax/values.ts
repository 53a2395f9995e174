/**
 * PDF values as ranges of bytes (ISO 32000-2, 7.3). Values are parsed on demand: a dictionary costs only its keys and
 * an unread array nothing; unchanged values are copied byte for byte.
 *
 * String objects (ISO 32000-2, 7.3.4) and text strings (7.9.2).
 *
 * Source text of values, one byte per character, with replacement of the strings in it.
 *
 * Compares the meaning of two values, independent of white space, the order of keys and the notation of strings and
 * names (ISO 32000-2, 7.3). References are equal when they refer to the same object.
 */
import {
  isDigit,
  PdfSyntaxError,
  readDigits,
  skipReference,
  skipRegular,
  skipSpace,
  skipValue,
  startsWith,
  UnexpectedEndOfFile,
} from './syntax.ts';

/** Highest generation (7.5.4): tables have five digits, so a higher one refers to no object. */
export const MAX_GENERATION = 65_535;

/** Treats a missing value as null. @throws PdfSyntaxError when one of them can't be read */
export function equalValues(left: ByteSlice | undefined, right: ByteSlice | undefined): boolean {
  if (left === undefined || isNull(left)) return right === undefined || isNull(right);
  if (right === undefined || isNull(right)) return false;
  const dict = asDict(left);
  const other = asDict(right);
  if (dict !== undefined || other !== undefined) {
    return dict !== undefined && other !== undefined && equalDicts(dict, other);
  }
  if (isArray(left) || isArray(right)) return isArray(left) && isArray(right) && equalArrays(left, right);
  const text = asString(left);
  if (text !== undefined) return asString(right)?.equals(text) === true;
  const reference = asReference(left);
  if (reference !== undefined) {
    const target = asReference(right);
    return target?.number === reference.number && target.generation === reference.generation;
  }
  const name = asName(left);
  if (name !== undefined) return asName(right) === name;
  return plainText(left) === plainText(right);
}

/** A dictionary with a repeated key is equal to none: readers differ in the value they use. */
function equalDicts(left: PdfDict, right: PdfDict): boolean {
  const values = entriesOf(left);
  const others = entriesOf(right);
  if (values === undefined || others === undefined) return false;
  for (const key of others.keys()) {
    if (!values.has(key) && !isNull(others.get(key) ?? right)) return false;
  }
  for (const [key, value] of values) if (!equalEntries(key, value, others.get(key))) return false;
  return true;
}

/** Entries of annotations and pages whose lists of numbers all programs read alike, whole or with decimals. */
const LISTS_OF_NUMBERS: ReadonlySet<string> = new Set(
  'Rect BC BG C IC RD QuadPoints Border BBox MediaBox CropBox'.split(' '),
);
const COLOURS: ReadonlySet<string> = new Set(['BC', 'BG', 'C', 'IC']);
/** Keys of colours in which a grey is the same colour as in red, green and blue. */
const GREYS: ReadonlySet<string> = new Set(['BC', 'BG']);
/** Fewest decimals that programs keep when they write a number anew. */
const LEAST_DECIMALS = 2;
/** Difference between a number and its nearest one in single precision: absolute, and as a part of it. */
const NOISE = 1e-5;
const NOISE_PART = 2e-7;
/** Steps of a component of a colour in most programs. */
const STEPS = 255;
/** Part of the extent of a box that rounding may move: a box can be shown at any scale. */
const MAX_PART = 1e-3;
const NUMBER = /^[+-]?(?:\d{1,9}(?:\.(\d{0,20}))?|\.(\d{1,20}))$/;

/**
 * Compares the values of a key of a dictionary: programs that save a file write places and colours in other digits. Only
 * the newer value may be a rounded one, so that many updates move nothing.
 */
export function equalEntries(
  key: string,
  before: ByteSlice | undefined,
  after: ByteSlice | undefined,
): boolean {
  if (!LISTS_OF_NUMBERS.has(key) || before === undefined || after === undefined)
    return equalValues(before, after);
  if (!isArray(before) || !isArray(after)) return equalValues(before, after);
  const old = numbersOf(key, before);
  const now = numbersOf(key, after);
  const isColour = COLOURS.has(key);
  const limit = isColour ? 1 : MAX_PART * Math.min(extentOf(old), extentOf(now));
  return old.length === now.length && old.every((item, index) => isNear(item, now[index], limit, isColour));
}

/** Returns a list; a grey of a background or border as the same colour in red, green and blue. */
function numbersOf(key: string, list: ByteSlice): readonly ByteSlice[] {
  const found = [...items(list)];
  const [grey] = found;
  return found.length === 1 && grey !== undefined && GREYS.has(key) ? [grey, grey, grey] : found;
}

/** Returns the smaller side of the box around points; 0 for other lists, and for what are no numbers. */
function extentOf(list: readonly ByteSlice[]): number {
  if (list.length % 4 !== 0) return 0;
  const numbers = list.map((item) => Number(plainText(item)));
  const sides = [0, 1].map((axis) => {
    const own = numbers.filter((_, index) => index % 2 === axis);
    return (
      own.reduce((most, one) => Math.max(most, one), -Infinity) -
      own.reduce((least, one) => Math.min(least, one), Infinity)
    );
  });
  const side = Math.min(...sides);
  return Math.max(side, 0);
}

/**
 * @param limit largest difference
 * @param isColour true for components that programs keep as one of 256 steps
 */
function isNear(before: ByteSlice, after: ByteSlice | undefined, limit: number, isColour: boolean): boolean {
  if (after === undefined) return false;
  if (equalValues(before, after)) return true;
  const old = plainText(before);
  const now = plainText(after);
  const written = NUMBER.exec(now);
  if (written === null || !NUMBER.test(old)) return false;
  const decimals = Math.max(LEAST_DECIMALS, (written[1] ?? written[2] ?? '').length);
  const noise = NOISE + NOISE_PART * Math.abs(Number(old));
  const rounding = Math.min(limit, 0.5 * 10 ** -decimals + noise);
  const stepped = isColour ? Math.round(Number(old) * STEPS) / STEPS : Number(old);
  return [Number(old), stepped].some((one) => one === Number(now) || Math.abs(one - Number(now)) <= rounding);
}

/** Returns the values by key; undefined when a key is repeated. */
export function entriesOf(dict: PdfDict): ReadonlyMap<string, ByteSlice> | undefined {
  const found = new Map<string, ByteSlice>();
  for (const entry of dict.entries) {
    const key = dict.keyOf(entry);
    if (found.has(key)) return undefined;
    found.set(key, dict.valueAt(entry));
  }
  return found;
}

function equalArrays(left: ByteSlice, right: ByteSlice): boolean {
  const others = items(right);
  for (const item of items(left)) {
    const other = others.next();
    if (other.done === true || !equalValues(item, other.value)) return false;
  }
  return others.next().done === true;
}

/** Returns numbers and keywords as text; `1` and `1.0` differ: programs read flags with decimals in different ways. */
function plainText({ bytes, start, end }: ByteSlice): string {
  return bytes.toString('latin1', start, end);
}

/** Returns the source text of a value; encrypted strings become hexadecimal strings of their plaintext. */
export function sourceText(slice: ByteSlice): string {
  const { bytes, start, end, cipher } = slice;
  if (cipher === undefined) return bytes.toString('latin1', start, end);
  return mapStrings(bytes, start, end, (value) => cipher.open(value));
}

interface Place {
  readonly from: number;
  readonly to: number;
}

interface OpenDict {
  /** Index of the hexadecimal string that is its /Contents; -1 for none. */
  contents: number;
  hasRange: boolean;
}

/**
 * Returns the text [start, end) with every string passed through `map`, except the value of a signature (7.6.2): the
 * hexadecimal /Contents of a dictionary with a /ByteRange.
 */
export function mapStrings(
  bytes: Buffer,
  start: number,
  end: number,
  map: (value: Buffer) => Buffer,
): string {
  let text = '';
  let at = start;
  for (const { from, to } of stringsIn(bytes, start, end)) {
    const value = writtenBytes({ bytes, at: -1, start: from, end: to }) ?? Buffer.alloc(0);
    text += `${bytes.toString('latin1', at, from)}<${map(value).toString('hex')}>`;
    at = to;
  }
  return text + bytes.toString('latin1', at, end);
}

const PAREN = 0x28;
const SLASH = 0x2f;
const LESS = 0x3c;
const GREATER = 0x3e;

function stringsIn(bytes: Buffer, start: number, end: number): readonly Place[] {
  const found: Place[] = [];
  const left = new Set<number>();
  const open: OpenDict[] = [];
  let name = '';
  for (let at = skipSpace(bytes, start); at < end; at = skipSpace(bytes, at)) {
    const byte = bytes[at];
    const dict = open.at(-1);
    if (byte === SLASH) {
      const to = skipRegular(bytes, at + 1);
      name = nameText(bytes, at, to);
      if (name === 'ByteRange' && dict !== undefined) dict.hasRange = true;
      at = to;
      continue;
    }
    if (byte === LESS && bytes[at + 1] === LESS) {
      open.push({ contents: -1, hasRange: false });
      at += 2;
    } else if (byte === GREATER && bytes[at + 1] === GREATER) {
      if (dict?.hasRange === true) left.add(dict.contents);
      open.pop();
      at += 2;
    } else if (byte === PAREN || byte === LESS) {
      const to = skipValue(bytes, at);
      if (byte === LESS && name === 'Contents' && dict !== undefined) dict.contents = found.length;
      found.push({ from: at, to });
      at = to;
    } else {
      at = Math.max(at + 1, skipRegular(bytes, at));
    }
    name = '';
  }
  return found.filter((_place, index) => !left.has(index));
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** Returns the bytes of a literal or hexadecimal string, decrypted; undefined for anything else. */
export function asString(slice: ByteSlice | undefined): Buffer | undefined {
  const bytes = writtenBytes(slice);
  if (bytes === undefined || slice?.cipher === undefined) return bytes;
  return slice.cipher.open(bytes);
}

/** Returns the bytes of a string before decryption. */
function writtenBytes(slice: ByteSlice | undefined): Buffer | undefined {
  if (slice === undefined) return undefined;
  const first = slice.bytes[slice.start];
  if (first === 0x3c && slice.bytes[slice.start + 1] !== 0x3c) {
    const digits = slice.bytes
      .toString('latin1', slice.start + 1, slice.end - 1)
      .replace(/[^0-9a-fA-F]/g, '');
    return Buffer.from(digits.length % 2 === 0 ? digits : `${digits}0`, 'hex');
  }
  if (first !== 0x28) return undefined;
  const text = slice.bytes.toString('latin1', slice.start + 1, slice.end - 1);
  return Buffer.from(text.includes('\\') || text.includes('\r') ? resolveEscapes(text) : text, 'latin1');
}

/** Decodes escapes, line continuations and line endings of a literal string (table 3). */
function resolveEscapes(text: string): string {
  return text.replace(
    /\\(?:([0-7]{1,3})|(\r\n|[\r\n])|([\s\S]))|\r\n?/g,
    (all: string, octal: string | undefined, joined: string | undefined, letter: string | undefined) => {
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
      if (joined !== undefined) return '';
      if (letter !== undefined) return ESCAPES[letter] ?? letter;
      return all === '' ? '' : '\n';
    },
  );
}

/**
 * Decodes a text string: UTF-16 or UTF-8 by its byte order mark, else byte by byte. For comparing and showing
 * field names; letters of PDFDocEncoding above 127 are not mapped.
 */
export function asText(slice: ByteSlice | undefined): string | undefined {
  const bytes = asString(slice);
  if (bytes === undefined) return undefined;
  if (bytes[0] === 0xfe && bytes[1] === 0xff) {
    return Buffer.from(bytes.subarray(2, 2 + ((bytes.length - 2) & ~1)))
      .swap16()
      .toString('utf16le');
  }
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return bytes.toString('utf8', 3);
  return bytes.toString('latin1');
}

/**
 * Formats text strings (ISO 32000-2, 7.9.2.2): literal for characters that all encodings
 * share, else UTF-16BE with its byte order mark, in hexadecimal.
 */
export function textString(text: string): string {
  if (/^[\w .-]*$/.test(text)) return `(${text})`;
  if (/^[ -~]*$/.test(text)) return `(${text.replace(/[\\()]/g, '\\$&')})`;
  return `<feff${Buffer.from(text, 'utf16le').swap16().toString('hex')}>`;
}

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
