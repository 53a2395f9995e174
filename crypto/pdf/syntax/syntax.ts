/**
 * Lexical rules of PDF (ISO 32000-2, 7.2 and 7.3): ends of tokens and values. Functions neither allocate nor recurse;
 * each takes an index and returns the index after the skipped bytes. The end of the buffer inside a value throws
 * UnexpectedEndOfFile.
 */
import { PdfSyntaxError, UnexpectedEndOfFile } from './reading-errors.ts';

const REGULAR = 0;
const SPACE = 1;
const DELIMITER = 2;

/** The class of each byte (ISO 32000-2, tables 1 and 2). */
const CLASS = new Uint8Array(256);
for (const code of [0, 9, 10, 12, 13, 32]) CLASS[code] = SPACE;
for (const text of '()<>[]{}/%') CLASS[text.charCodeAt(0)] = DELIMITER;

const LF = 10;
const CR = 13;
const PERCENT = 0x25;
const PAREN_OPEN = 0x28;
const PAREN_CLOSE = 0x29;
const SLASH = 0x2f;
const LESS = 0x3c;
const GREATER = 0x3e;
const BRACKET_OPEN = 0x5b;
const BACKSLASH = 0x5c;
const BRACKET_CLOSE = 0x5d;

/** Most nested arrays and dictionaries; real files stay under ten. */
const MAX_DEPTH = 500;

/** Open brackets at each level of the value being skipped; shared, since skipping is not reentrant. */
const OPENED = new Uint8Array(MAX_DEPTH);

function tooDeep(): PdfSyntaxError {
  return new PdfSyntaxError(`Arrays and dictionaries nest deeper than ${MAX_DEPTH}.`);
}

export function isSpace(byte: number | undefined): boolean {
  return byte !== undefined && CLASS[byte] === SPACE;
}

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/** True for a byte that ends a number, name or keyword, and at the end of the bytes. */
export function endsToken(byte: number | undefined): boolean {
  return byte === undefined || CLASS[byte] !== REGULAR;
}

/** Skips white space and comments. */
export function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const byte = bytes[at];
    if (byte === undefined) return at;
    if (CLASS[byte] === SPACE) {
      at++;
    } else if (byte === PERCENT) {
      at++;
      while (at < bytes.length && bytes[at] !== LF && bytes[at] !== CR) at++;
    } else {
      return at;
    }
  }
}

/** Skips regular characters: the rest of a name, number or keyword. */
export function skipRegular(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && CLASS[bytes[at] as number] === REGULAR) at++;
  return at;
}

/** Skips `( … )` with balanced parentheses and escapes; `from` is at the opening one. */
function skipLiteral(bytes: Buffer, from: number): number {
  let depth = 0;
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at++;
    else if (byte === PAREN_OPEN) depth++;
    else if (byte === PAREN_CLOSE && --depth === 0) return at + 1;
  }
  throw new UnexpectedEndOfFile('A string has no closing parenthesis.');
}

/** Skips one value; `from` is at its first byte. A reference counts as three tokens. */
export function skipValue(bytes: Buffer, from: number): number {
  let at = from;
  let depth = 0;
  for (;;) {
    const byte = bytes[at];
    if (byte === undefined) throw new UnexpectedEndOfFile('A value is cut off.');
    if (CLASS[byte] === REGULAR) {
      at = skipRegular(bytes, at);
    } else if (byte === SLASH) {
      at = skipRegular(bytes, at + 1);
    } else if (byte === PAREN_OPEN) {
      at = skipLiteral(bytes, at);
    } else if (byte === LESS) {
      if (at + 1 >= bytes.length) throw new UnexpectedEndOfFile('A value is cut off.');
      if (bytes[at + 1] === LESS) {
        if (depth === MAX_DEPTH) throw tooDeep();
        OPENED[depth++] = LESS;
        at += 2;
      } else {
        const end = bytes.indexOf(GREATER, at);
        if (end < 0) throw new UnexpectedEndOfFile('A hexadecimal string has no end.');
        at = end + 1;
      }
    } else if (byte === BRACKET_OPEN) {
      if (depth === MAX_DEPTH) throw tooDeep();
      OPENED[depth++] = BRACKET_OPEN;
      at++;
    } else if (byte === BRACKET_CLOSE && depth > 0 && OPENED[depth - 1] === BRACKET_OPEN) {
      depth--;
      at++;
    } else if (byte === GREATER && depth > 0 && OPENED[depth - 1] === LESS) {
      if (at + 1 >= bytes.length) throw new UnexpectedEndOfFile('A value is cut off.');
      if (bytes[at + 1] !== GREATER) throw new PdfSyntaxError('A single ">" stands where ">>" should.');
      depth--;
      at += 2;
    } else {
      throw new PdfSyntaxError(`The byte 0x${byte.toString(16)} stands where a value should.`);
    }
    if (depth === 0) return at;
    at = skipSpace(bytes, at);
  }
}

/** Reads the unsigned number at `from` and the index after it; undefined without a digit. */
export function readDigits(
  bytes: Buffer,
  from: number,
): { readonly value: number; readonly end: number } | undefined {
  let at = from;
  let value = 0;
  while (isDigit(bytes[at])) {
    value = value * 10 + ((bytes[at] as number) - 0x30);
    at++;
  }
  return at === from ? undefined : { value, end: at };
}

/** Returns the index after `12 0 R` at `from`, or -1 without a reference. */
export function skipReference(bytes: Buffer, from: number): number {
  let at = from;
  if (!isDigit(bytes[at])) return -1;
  while (isDigit(bytes[at])) at++;
  if (!isSpace(bytes[at])) return -1;
  while (isSpace(bytes[at])) at++;
  if (!isDigit(bytes[at])) return -1;
  while (isDigit(bytes[at])) at++;
  if (!isSpace(bytes[at])) return -1;
  while (isSpace(bytes[at])) at++;
  return bytes[at] === 0x52 && endsToken(bytes[at + 1]) ? at + 1 : -1;
}

/** True when the bytes at `from` are these ASCII letters. */
export function startsWith(bytes: Buffer, from: number, text: string): boolean {
  if (from + text.length > bytes.length) return false;
  for (let index = 0; index < text.length; index++) {
    if (bytes[from + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}
