/**
 * PDF values as places in bytes (ISO 32000-2, 7.3). A value is looked at only when somebody asks what it is, so a
 * dictionary costs its keys and an unread array nothing; and what is rewritten can be copied byte for byte.
 */
import { OutOfBytes, PdfDamage } from './damage.ts';
import {
  isDigit,
  readDigits,
  skipReference,
  skipRegular,
  skipSpace,
  skipValue,
  startsWith,
} from './syntax.ts';
import { MAX_GENERATION } from './xref-entry.ts';

/** Undoes the encryption of the strings of one object. */
export interface StringCipher {
  open(bytes: Buffer): Buffer;
}

/** One value: the bytes [start, end) of `bytes`. */
export interface Piece {
  readonly bytes: Buffer;
  /** Offset in the file of `bytes[0]`; -1 when the bytes were unpacked from an object stream. */
  readonly at: number;
  readonly start: number;
  readonly end: number;
  /**
   * Present when the strings in these bytes are encrypted (7.6.2). Whoever takes text out of a piece, as a value
   * (`asString`) or to write it again (`sourceText`), gets it clear; the writer encrypts all that it writes.
   */
  readonly cipher?: StringCipher | undefined;
}

/** Number and generation of an indirect object. */
export interface Reference {
  readonly number: number;
  readonly generation: number;
}

/** Where a key and its value are; names become text only when somebody lists them. */
interface Entry {
  /** The name is [from, nameEnd), its slash included. */
  readonly from: number;
  readonly nameEnd: number;
  /** The value is [start, end). */
  readonly start: number;
  readonly end: number;
}

/** The value `null`, for what is missing. */
export const NULL: Piece = { bytes: Buffer.from('null'), at: -1, start: 0, end: 4 };

/** A dictionary: its keys in order, its values not yet looked at. */
export class PdfDict implements Piece {
  readonly bytes: Buffer;
  readonly at: number;
  readonly start: number;
  readonly end: number;
  readonly cipher: StringCipher | undefined;
  readonly entries: readonly Entry[];
  constructor(place: Piece, entries: readonly Entry[]) {
    const { bytes, at, start, end, cipher } = place;
    this.bytes = bytes;
    this.at = at;
    this.start = start;
    this.end = end;
    this.cipher = cipher;
    this.entries = entries;
  }

  /** The value of a key, as written (a reference stays one). A repeated key counts with its last value. */
  get(key: string): Piece | undefined {
    for (let index = this.entries.length - 1; index >= 0; index--) {
      const entry = this.entries[index];
      if (entry !== undefined && this.isKey(entry, key)) return this.valueAt(entry);
    }
    return undefined;
  }

  /** The value of a signature is the one string that encryption leaves alone (7.6.2). */
  #isSignatureValue(entry: Entry): boolean {
    const { bytes } = this;
    return (
      bytes[entry.start] === 0x3c && this.isKey(entry, 'Contents') && this.get('ByteRange') !== undefined
    );
  }

  /** How often a key is written: more than once is a fault that readers judge differently. */
  count(key: string): number {
    return this.entries.reduce((sum, entry) => (this.isKey(entry, key) ? sum + 1 : sum), 0);
  }

  isKey(entry: Entry, key: string): boolean {
    const { bytes } = this;
    const { from, nameEnd } = entry;
    // Longer names can only be equal when they hold `#xx`.
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

  valueAt(entry: Entry): Piece {
    const { start, end } = entry;
    const cipher = this.cipher === undefined || this.#isSignatureValue(entry) ? undefined : this.cipher;
    return { bytes: this.bytes, at: this.at, start, end, cipher };
  }

  /** The name of an entry, `#xx` resolved. */
  keyOf({ from, nameEnd }: Entry): string {
    return nameText(this.bytes, from, nameEnd);
  }
}

/** No dictionary that is looked into has more keys; each takes memory. */
const MAX_KEYS = 100_000;

/** Reads the dictionary that begins at `from` with `<<`. */
export function readDict(bytes: Buffer, at: number, from: number, cipher?: StringCipher): PdfDict {
  if (!startsWith(bytes, from, '<<')) {
    if (from + 2 > bytes.length) throw new OutOfBytes('A dictionary is cut off.');
    throw new PdfDamage('No dictionary stands where one should.');
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
      if (entries.length > MAX_KEYS) throw new PdfDamage(`A dictionary has more than ${MAX_KEYS} keys.`);
      index = skipSpace(bytes, end);
    } else if (byte === 0x3e && bytes[index + 1] === 0x3e) {
      return new PdfDict({ bytes, at, start: from, end: index + 2, cipher }, entries);
    } else if (byte === undefined || index + 1 >= bytes.length) {
      throw new OutOfBytes('A dictionary is cut off.');
    } else {
      throw new PdfDamage(`The dictionary at offset ${at < 0 ? from : at + from} has a key that is no name.`);
    }
  }
}

/** The index after the value at `from`, a reference taken as one value. */
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

/** The text of the name [from, end), `#xx` resolved (7.3.5); each byte one character. */
export function nameText(bytes: Buffer, from: number, end: number): string {
  const text = bytes.toString('latin1', from + 1, end);
  if (!text.includes('#')) return text;
  return text.replace(/#([0-9a-fA-F]{2})/g, (_all: string, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

export function asDict(piece: Piece): PdfDict | undefined {
  if (piece instanceof PdfDict) return piece;
  if (!startsWith(piece.bytes, piece.start, '<<')) return undefined;
  return readDict(piece.bytes, piece.at, piece.start, piece.cipher);
}

export function isArray(piece: Piece): boolean {
  return piece.bytes[piece.start] === 0x5b && piece.end > piece.start;
}

/** The values of an array one after the other; nothing for anything else. */
export function* items(piece: Piece): Generator<Piece> {
  if (!isArray(piece)) return;
  const { bytes, at, cipher } = piece;
  let start = skipSpace(bytes, piece.start + 1);
  while (start < piece.end - 1) {
    const end = endOfValue(bytes, start);
    yield { bytes, at, start, end, cipher };
    start = skipSpace(bytes, end);
  }
}

export function asName(piece: Piece | undefined): string | undefined {
  if (piece === undefined || piece.bytes[piece.start] !== 0x2f) return undefined;
  return nameText(piece.bytes, piece.start, piece.end);
}

/** A whole number that fits a double exactly; undefined for anything else. */
export function asInteger(piece: Piece | undefined): number | undefined {
  if (piece === undefined) return undefined;
  const digits = readDigits(piece.bytes, piece.start);
  if (digits !== undefined && digits.end === piece.end) {
    return Number.isSafeInteger(digits.value) ? digits.value : undefined;
  }
  if (piece.end - piece.start > 24) return undefined;
  const text = piece.bytes.toString('latin1', piece.start, piece.end);
  if (!/^[+-]?\d+(\.0*)?$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
}

export function asReference(piece: Piece | undefined): Reference | undefined {
  if (piece === undefined || piece.bytes[piece.end - 1] !== 0x52) return undefined;
  const number = readDigits(piece.bytes, piece.start);
  if (number === undefined) return undefined;
  const generation = readDigits(piece.bytes, skipSpace(piece.bytes, number.end));
  if (generation === undefined || generation.value > MAX_GENERATION) return undefined;
  return { number: number.value, generation: generation.value };
}

export function isNull(piece: Piece): boolean {
  return piece.start === piece.end || startsWith(piece.bytes, piece.start, 'null');
}
