/**
 * String objects (ISO 32000-2, 7.3.4) and the text in them (7.9.2).
 */
import type { Piece } from './values.ts';

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** The bytes of a literal or hexadecimal string, decrypted; undefined for anything else. */
export function asString(piece: Piece | undefined): Buffer | undefined {
  const bytes = writtenBytes(piece);
  if (bytes === undefined || piece?.cipher === undefined) return bytes;
  return piece.cipher.open(bytes);
}

/** The bytes a string stands for, before any decryption. */
export function writtenBytes(piece: Piece | undefined): Buffer | undefined {
  if (piece === undefined) return undefined;
  const first = piece.bytes[piece.start];
  if (first === 0x3c && piece.bytes[piece.start + 1] !== 0x3c) {
    const digits = piece.bytes
      .toString('latin1', piece.start + 1, piece.end - 1)
      .replace(/[^0-9a-fA-F]/g, '');
    return Buffer.from(digits.length % 2 === 0 ? digits : `${digits}0`, 'hex');
  }
  if (first !== 0x28) return undefined;
  const text = piece.bytes.toString('latin1', piece.start + 1, piece.end - 1);
  return Buffer.from(text.includes('\\') || text.includes('\r') ? resolveEscapes(text) : text, 'latin1');
}

/** Resolves escapes, continued lines and line ends of a literal string (table 3). */
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
 * The text of a text string: UTF-16 or UTF-8 when it says so, else byte by byte. Good for comparing and showing
 * field names; letters of PDFDocEncoding above 127 are not mapped.
 */
export function asText(piece: Piece | undefined): string | undefined {
  const bytes = asString(piece);
  if (bytes === undefined) return undefined;
  if (bytes[0] === 0xfe && bytes[1] === 0xff) {
    return Buffer.from(bytes.subarray(2, 2 + ((bytes.length - 2) & ~1)))
      .swap16()
      .toString('utf16le');
  }
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return bytes.toString('utf8', 3);
  return bytes.toString('latin1');
}
