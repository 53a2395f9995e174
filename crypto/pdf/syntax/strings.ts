/**
 * String objects (ISO 32000-2, 7.3.4) and text strings (7.9.2), and the source text of values with its strings replaced.
 */
import { skipRegular, skipSpace, skipValue } from './syntax.ts';
import { type ByteSlice, nameText } from './values.ts';

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
