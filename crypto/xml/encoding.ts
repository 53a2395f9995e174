/**
 * Accepted document encodings, converted to UTF-8 for the reader and back for inserted text. XML 1.0 §4.3.3 and
 * appendix F: UTF-8, UTF-16 (with byte order mark or declaration), and by declaration ISO-8859-1, US-ASCII and the
 * encodings of `legacyEncoding`.
 *
 * Encodings of documents beside Unicode, Latin-1 and ASCII: single-byte tables and the East Asian encodings of the
 * decoders of Node (WHATWG Encoding). In all of them the bytes below 0x80 outside multi-byte characters are ASCII.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { CryptoError } from '../core/types.ts';
import { MAX_DECLARATION_LENGTH, UnreadXml } from './limits.ts';

/** Decodes part of a document; the parts are cut between characters. */
interface LegacyEncoding {
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
function legacyEncoding(declared: string): LegacyEncoding | undefined {
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
function invalidByte(declared: string, at: number, byte: number | undefined): CryptoError {
  const hex = (byte ?? 0).toString(16).toUpperCase().padStart(2, '0');
  return new CryptoError(
    'xml.encoding',
    `The XML declares ${declared}, but byte ${at} (0x${hex}) is none of it.`,
  );
}

/** A document in UTF-8, with the mapping back to its original bytes. */
export interface DecodedXml {
  /** UTF-8 without byte order mark; for UTF-8 input a view of it, not a copy. */
  readonly utf8: Buffer;
  /** Maps an offset in `utf8` (at a character boundary) to an offset in the original bytes. */
  toOriginal(offset: number): number;
  /** Encodes text in the document's encoding; outside ASCII, only characters that the document has. */
  encode(text: string): Buffer;
}

/**
 * Decodes a document.
 * @throws CryptoError `xml.encoding` when the encoding is not supported, contradicts the byte order mark, or the
 *   bytes are invalid in it; `xml.malformed` for a file with only a byte order mark.
 */
export function decodeXml(bytes: Buffer): DecodedXml {
  const mark = byteOrderMark(bytes);
  const order = mark === undefined ? apparentOrder(bytes) : mark;
  if (order === 'UTF-16LE' || order === 'UTF-16BE') {
    const decoded = decodeUtf16(bytes, order, mark === undefined ? 0 : 2);
    const declared = declaredEncoding(decoded.utf8);
    if (declared === undefined && mark === undefined) throw unmarked();
    if (declared !== undefined && declared !== 'UTF-16' && declared !== order)
      throw contradiction(declared, order);
    return decoded;
  }
  const markLength = mark === 'UTF-8' ? 3 : 0;
  const content = markLength === 0 ? bytes : bytes.subarray(markLength);
  const declared = declaredEncoding(content);
  if (declared === undefined || declared === 'UTF-8') return decodeUtf8(content, markLength);
  if (mark === 'UTF-8') throw contradiction(declared, mark);
  if (declared === 'US-ASCII' || declared === 'ISO-8859-1') return decodeSingleByte(content, declared);
  const legacy = legacyEncoding(declared);
  if (legacy !== undefined) return decodeLegacy(content, declared, legacy);
  if (declared.startsWith('UTF-16')) {
    throw new CryptoError(
      'xml.encoding',
      'The XML declares UTF-16 but does not begin with a UTF-16 byte order mark.',
    );
  }
  throw unreadEncoding(declared);
}

function unreadEncoding(name: string): UnreadXml {
  return new UnreadXml('xml.encoding', `The XML is in the encoding "${name}", which is not read.`);
}

function byteOrderMark(bytes: Buffer): 'UTF-8' | 'UTF-16LE' | 'UTF-16BE' | undefined {
  const [a, b, c, d] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'UTF-8';
  const utf32 =
    (a === 0xff && b === 0xfe && c === 0 && d === 0) || (a === 0 && b === 0 && c === 0xfe && d === 0xff);
  if (utf32) throw unreadEncoding('UTF-32');
  if (a === 0xff && b === 0xfe) return 'UTF-16LE';
  if (a === 0xfe && b === 0xff) return 'UTF-16BE';
  return undefined;
}

/** Appendix F.1: without a byte order mark, the declaration's first bytes show the byte order of UTF-16. */
function apparentOrder(bytes: Buffer): 'UTF-16LE' | 'UTF-16BE' | undefined {
  const [a, b, c, d] = bytes;
  if (a === 0x3c && b === 0 && c === 0x3f && d === 0) return 'UTF-16LE';
  if (a === 0 && b === 0x3c && c === 0 && d === 0x3f) return 'UTF-16BE';
  if ((a === 0x3c && b === 0) || (a === 0 && b === 0x3c)) throw unmarked();
  return undefined;
}

function unmarked(): CryptoError {
  return new CryptoError(
    'xml.encoding',
    'The XML looks like UTF-16 but has neither a byte order mark nor a declaration.',
  );
}

const ALIASES: { readonly [label: string]: string } = {
  UTF8: 'UTF-8',
  ASCII: 'US-ASCII',
  'ANSI_X3.4-1968': 'US-ASCII',
  LATIN1: 'ISO-8859-1',
  'ISO_8859-1': 'ISO-8859-1',
  ISO8859_1: 'ISO-8859-1',
};

/** Returns the upper-case name of the declared encoding, from bytes in an ASCII-compatible encoding. */
function declaredEncoding(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, MAX_DECLARATION_LENGTH);
  const label = /^<\?xml\s[^>]*?\sencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]*)["']/
    .exec(head)?.[1]
    ?.toUpperCase();
  if (label === undefined) return undefined;
  return Object.hasOwn(ALIASES, label) ? ALIASES[label] : label;
}

function decodeUtf8(content: Buffer, markLength: number): DecodedXml {
  if (!isUtf8(content)) {
    throw new CryptoError(
      'xml.encoding',
      `The XML is not valid UTF-8 from byte ${markLength + validUtf8(content)} on.`,
    );
  }
  return {
    utf8: content,
    toOriginal: (offset) => markLength + offset,
    encode: (text) => Buffer.from(text),
  };
}

/** Returns the length of the longest valid prefix. */
function validUtf8(content: Buffer): number {
  let good = 0;
  let bad = content.length;
  while (bad - good > 1) {
    const middle = (good + bad) >>> 1;
    let cut = middle;
    // A truncated character would be reported as invalid.
    while (cut > good && ((content[cut] ?? 0) & 0xc0) === 0x80) cut--;
    if (cut === good) break;
    if (isUtf8(content.subarray(good, cut))) good = cut;
    else bad = cut;
  }
  return good;
}

/** Code units decoded at a time: one string for the whole document would double the memory. */
const CHUNK_BYTES = 1 << 18;

function decodeUtf16(bytes: Buffer, encoding: 'UTF-16LE' | 'UTF-16BE', markLength: number): DecodedXml {
  if (bytes.length % 2 !== 0) {
    throw new CryptoError('xml.encoding', 'The XML is in UTF-16 but has an odd number of bytes.');
  }
  // A code unit takes at most three bytes; the system commits memory only for written pages.
  const room = Buffer.allocUnsafe((3 * (bytes.length - markLength)) / 2);
  let filled = 0;
  for (let at = markLength; at < bytes.length; ) {
    const end = chunkEnd(bytes, at, encoding);
    const piece = bytes.subarray(at, end);
    const text = (encoding === 'UTF-16LE' ? piece : Buffer.from(piece).swap16()).toString('utf16le');
    if (/\p{Surrogate}/u.test(text)) {
      throw new CryptoError('xml.encoding', 'The XML is in UTF-16 but has half a surrogate pair in it.');
    }
    filled += room.write(text, filled);
    at = end;
  }
  const utf8 = room.subarray(0, filled);
  return {
    utf8,
    toOriginal: (offset) => markLength + 2 * unitsUpTo(utf8, offset),
    encode: (text) => {
      const encoded = Buffer.from(text, 'utf16le');
      return encoding === 'UTF-16LE' ? encoded : encoded.swap16();
    },
  };
}

/** Returns the end of a chunk from `start`, outside any surrogate pair. */
function chunkEnd(bytes: Buffer, start: number, encoding: 'UTF-16LE' | 'UTF-16BE'): number {
  const end = Math.min(bytes.length, start + 2 * CHUNK_BYTES);
  if (end === bytes.length) return end;
  const high = bytes[encoding === 'UTF-16LE' ? end - 1 : end - 2] ?? 0;
  return (high & 0xfc) === 0xd8 ? end - 2 : end;
}

/** Counts the UTF-16 code units before an offset at a character boundary. */
function unitsUpTo(utf8: Buffer, offset: number): number {
  let units = 0;
  for (let at = 0; at < offset; ) {
    let end = Math.min(offset, at + CHUNK_BYTES);
    while (end < offset && ((utf8[end] ?? 0) & 0xc0) === 0x80) end--;
    units += utf8.toString('utf8', at, end).length;
    at = end;
  }
  return units;
}

function decodeSingleByte(content: Buffer, encoding: 'ISO-8859-1' | 'US-ASCII'): DecodedXml {
  const encode = (text: string): Buffer => Buffer.from(text, 'latin1');
  if (isAscii(content)) return { utf8: content, toOriginal: (offset) => offset, encode };
  if (encoding === 'US-ASCII') {
    const at = content.findIndex((byte) => byte > 0x7f);
    throw invalidByte(encoding, at, content[at]);
  }
  const room = Buffer.allocUnsafe(2 * content.length);
  let filled = 0;
  for (let at = 0; at < content.length; at += CHUNK_BYTES) {
    filled += room.write(content.toString('latin1', at, at + CHUNK_BYTES), filled);
  }
  const utf8 = room.subarray(0, filled);
  return { utf8, toOriginal: (offset) => unitsUpTo(utf8, offset), encode };
}

function decodeLegacy(content: Buffer, declared: string, encoding: LegacyEncoding): DecodedXml {
  const room = isAscii(content) ? content : Buffer.allocUnsafe(encoding.growth * content.length);
  /** Starts of the parts: in the file, and in UTF-8. */
  const parts: { readonly at: number; readonly utf8At: number }[] = [];
  let filled = 0;
  for (let at = 0; at < content.length; ) {
    let end = room === content ? content.length : Math.min(content.length, at + CHUNK_BYTES);
    let text = room === content ? '' : encoding.decode(content.subarray(at, end));
    // The end may divide a character.
    for (let more = 1; text === undefined && more < MAX_CHARACTER_BYTES && end < content.length; more++)
      text = encoding.decode(content.subarray(at, ++end));
    if (text === undefined) {
      const bad = at + encoding.validLength(content.subarray(at, end));
      throw invalidByte(declared, bad, content[bad]);
    }
    parts.push({ at, utf8At: filled });
    filled += room === content ? content.length : room.write(text, filled);
    at = end;
  }
  const utf8 = room.subarray(0, filled);
  const toOriginal = (offset: number): number => {
    if (room === content) return offset;
    const index = parts.findLastIndex(({ utf8At }) => utf8At <= offset);
    const { at, utf8At } = parts[index] ?? { at: 0, utf8At: 0 };
    return at + encoding.lengthOf(content.subarray(at, parts[index + 1]?.at), offset - utf8At);
  };
  const encode = (text: string): Buffer =>
    Buffer.concat(
      [...text].map((character) => {
        const bytes = Buffer.from(character);
        const at = bytes.length === 1 ? -1 : utf8.indexOf(bytes);
        return at < 0 ? bytes : content.subarray(toOriginal(at), toOriginal(at + bytes.length));
      }),
    );
  return { utf8, toOriginal, encode };
}

/** Most bytes of a character, in GB 18030. */
const MAX_CHARACTER_BYTES = 4;

function contradiction(declared: string, mark: string): CryptoError {
  return new CryptoError(
    'xml.encoding',
    `The XML declares "${declared}" but begins with a ${mark} byte order mark.`,
  );
}
