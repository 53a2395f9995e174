/**
 * Encodings of documents beside Unicode, Latin-1 and ASCII: single-byte tables and the East Asian encodings of the
 * decoders of Node (WHATWG Encoding). In all of them the bytes below 0x80 outside multi-byte characters are ASCII.
 */
import { CryptoError } from '../core/types.ts';

/** Decodes part of a document; the parts are cut between characters. */
export interface LegacyEncoding {
  /** Maximum bytes of UTF-8 for one byte. */
  readonly growth: number;
  /** Decodes bytes that hold whole characters; undefined when a byte is invalid. */
  decode(bytes: Buffer): string | undefined;
  /** Returns the number of bytes, from the first one on, that are whole and valid characters. */
  validLength(bytes: Buffer): number;
  /** Returns the number of bytes of the first so many UTF-8 bytes of the decoded text. */
  lengthOf(bytes: Buffer, utf8Length: number): number;
}

const MULTI_BYTE: ReadonlySet<string> = new Set(['gbk', 'gb18030', 'big5', 'euc-jp', 'euc-kr', 'shift_jis']);

/**
 * Encodings of the decoders that are not read: `iso-2022-jp` has other characters in the bytes of ASCII, the others are
 * no encodings of documents, and Unicode is read elsewhere.
 */
const REFUSED = /^(?:iso-2022-jp|replacement|x-user-defined|utf-.*)$/;

/**
 * Names that the decoders read as a superset of Microsoft under names of their own: ISO-8859-1, -9 and -11 are
 * `windows-1252`, `-1254` and `-874` to them, with characters in the place of the controls 0x80 to 0x9F. XML programs
 * take the registered names as registered.
 */
const SUPERSET = /^windows-(?:1252|1254|874)$/;
const MICROSOFT = /^(?:windows-|cp12|x-cp|dos-)/;

/**
 * Characters of the bytes 0x80 to 0x9F in windows-1252 (WHATWG Encoding). `TextDecoder` of several versions of Node
 * decodes Latin-1 under that name: https://github.com/nodejs/node/issues/56542
 */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

const known = new Map<string, LegacyEncoding | undefined>();

/** Finds an encoding by its declared name; undefined when it is not read. */
export function legacyEncoding(declared: string): LegacyEncoding | undefined {
  // Java's names of ISO 8859: ISO8859_2.
  const label = declared.toLowerCase().replace(/^iso8859_(?=\d)/, 'iso-8859-');
  const name = decoderName(label);
  if (name === undefined || REFUSED.test(name)) return undefined;
  const controls = SUPERSET.test(name) && !MICROSOFT.test(label);
  const key = `${name} ${controls}`;
  if (!known.has(key))
    known.set(key, MULTI_BYTE.has(name) ? new MultiByte(name) : new SingleByte(name, controls));
  return known.get(key);
}

function decoderName(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

class SingleByte implements LegacyEncoding {
  readonly growth = 3;
  /** Low and high bytes of the UTF-16 code units; the unit 0 of a byte above 0x7F means that it has no character. */
  readonly #low = Buffer.alloc(256);
  readonly #high = Buffer.alloc(256);

  constructor(name: string, controls: boolean) {
    for (let byte = 0; byte < 256; byte++) {
      const unit = byte < 0x80 || (controls && byte < 0xa0) ? byte : unitOf(name, byte);
      this.#low[byte] = unit & 0xff;
      this.#high[byte] = unit >>> 8;
    }
  }

  decode(bytes: Buffer): string | undefined {
    if (this.validLength(bytes) < bytes.length) return undefined;
    const units = Buffer.allocUnsafe(2 * bytes.length);
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      units[2 * at] = this.#low[byte] as number;
      units[2 * at + 1] = this.#high[byte] as number;
    }
    return units.toString('utf16le');
  }

  validLength(bytes: Buffer): number {
    const at = bytes.findIndex((byte) => byte > 0x7f && this.#low[byte] === 0 && this.#high[byte] === 0);
    return at < 0 ? bytes.length : at;
  }

  lengthOf(bytes: Buffer, utf8Length: number): number {
    let length = 0;
    for (let at = 0; at < bytes.length; at++) {
      if (length >= utf8Length) return at;
      const byte = bytes[at] as number;
      const unit = (this.#low[byte] as number) | ((this.#high[byte] as number) << 8);
      length += unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    }
    return bytes.length;
  }
}

/**
 * Returns the code unit of a byte, or 0. The decoders give some bytes that the table lacks the controls of Latin-1 or
 * characters for private use; other programs refuse such bytes.
 */
function unitOf(name: string, byte: number): number {
  const text =
    name === 'windows-1252' && byte < 0xa0
      ? WINDOWS_1252.charAt(byte - 0x80)
      : new TextDecoder(name).decode(Buffer.of(byte));
  const unit = text.charCodeAt(0);
  const isControl = unit === byte && unit < 0xa0 && name.startsWith('windows-');
  const isPrivate = unit >= 0xe000 && unit <= 0xf8ff;
  const isLacking = unit === 0xfffd || (name === 'windows-1253' && byte === 0xaa);
  return isControl || isPrivate || isLacking ? 0 : unit;
}

class MultiByte implements LegacyEncoding {
  /** Half-width katakana take one byte. */
  readonly growth = 3;
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  decode(bytes: Buffer): string | undefined {
    return this.#decode(bytes, false);
  }

  validLength(bytes: Buffer): number {
    return this.#longest(bytes, (text) => text !== undefined);
  }

  lengthOf(bytes: Buffer, utf8Length: number): number {
    // The longest prefix that gives less, and the byte that completes the last character.
    if (utf8Length === 0) return 0;
    return this.#longest(bytes, (text) => text !== undefined && Buffer.byteLength(text) < utf8Length) + 1;
  }

  /** Decodes a prefix; its last character may be cut off, and is left out then. */
  #decode(bytes: Buffer, isPrefix: boolean): string | undefined {
    try {
      return new TextDecoder(this.#name, { fatal: true }).decode(bytes, { stream: isPrefix });
    } catch (error) {
      if (error instanceof TypeError) return undefined;
      throw error;
    }
  }

  #longest(bytes: Buffer, holds: (text: string | undefined) => boolean): number {
    let good = 0;
    let bad = bytes.length + 1;
    while (bad - good > 1) {
      const middle = (good + bad) >>> 1;
      if (holds(this.#decode(bytes.subarray(0, middle), true))) good = middle;
      else bad = middle;
    }
    return good;
  }
}

/** Creates the error for a byte that the encoding does not have. @param at offset in the file */
export function invalidByte(declared: string, at: number, byte: number | undefined): CryptoError {
  const hex = (byte ?? 0).toString(16).toUpperCase().padStart(2, '0');
  return new CryptoError(
    'xml.encoding',
    `The XML declares ${declared}, but byte ${at} (0x${hex}) is none of it.`,
  );
}
