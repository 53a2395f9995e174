/** String objects (ISO 32000-2, 7.3.4) and text strings (7.9.2). */
import type { ByteSlice } from './values.ts';

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** Returns the bytes of a literal or hexadecimal string, decrypted; undefined for anything else. */
export function asString(slice: ByteSlice | undefined): Buffer | undefined {
  const bytes = writtenBytes(slice);
  if (bytes === undefined || slice?.cipher === undefined) return bytes;
  return slice.cipher.open(bytes);
}

/** Returns the bytes of a string before decryption. */
export function writtenBytes(slice: ByteSlice | undefined): Buffer | undefined {
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
