/**
 * Lexical level of the reader: a position in the UTF-8 bytes, and the tokens that several constructs share. Every
 * refusal is `xml.malformed` with line and column.
 */
import { CryptoError } from '../core/types.ts';
import {
  AMPERSAND,
  COLON,
  continuesName,
  GREATER,
  HASH,
  isSpace,
  isXmlCharacter,
  LESS,
  LF,
  NAME_CLASS,
  SEMICOLON,
  SPACE,
  startsName,
} from './characters.ts';
import { MAX_NAME_LENGTH, UnreadXml } from './limits.ts';
import type { Name, Names } from './names.ts';

const PREDEFINED: { readonly [name: string]: number } = {
  lt: 0x3c,
  gt: 0x3e,
  amp: 0x26,
  apos: 0x27,
  quot: 0x22,
};
/** Longest accepted reference: `&#x10FFFF;` with a few leading zeros. */
const MAX_REFERENCE_LENGTH = 32;
const LOWER_G = 0x67;
const LOWER_L = 0x6c;
const LOWER_T = 0x74;

export class Scanner {
  readonly bytes: Buffer;
  readonly names: Names;
  position = 0;

  constructor(bytes: Buffer, names: Names) {
    this.bytes = bytes;
    this.names = names;
  }

  fail(problem: string, at = this.position): CryptoError {
    return malformed(this.bytes, at, problem);
  }

  /** For what a valid document can have too. */
  unread(problem: string, at = this.position): UnreadXml {
    const { code, message } = this.fail(problem, at);
    return new UnreadXml(code, message);
  }

  get atEnd(): boolean {
    return this.position >= this.bytes.length;
  }

  /** Returns the byte at the position, or -1 at the end. */
  peek(ahead = 0): number {
    return this.bytes[this.position + ahead] ?? -1;
  }

  /** Skips white space; returns its length in bytes. */
  skipSpace(): number {
    const start = this.position;
    let at = start;
    while (isSpace(this.bytes[at])) at++;
    this.position = at;
    return at - start;
  }

  /** Consumes the ASCII text if it is next, and returns true. */
  accept(text: string): boolean {
    for (let index = 0; index < text.length; index++) {
      if (this.bytes[this.position + index] !== text.charCodeAt(index)) return false;
    }
    this.position += text.length;
    return true;
  }

  /** Reads a name with at most one colon inside (Namespaces in XML 1.0, production [7] QName). */
  name(what: string): Name {
    const { bytes } = this;
    const start = this.position;
    let at = start;
    let colon = -1;
    let hash = 0x811c9dc5;
    let startsPart = true;
    for (; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (byte >= 0x80) {
        const code = this.#codePoint(at);
        if (!(startsPart ? startsName(code) : continuesName(code))) break;
        at += code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        hash = Math.imul(hash ^ code, 0x01000193);
      } else {
        const kind = NAME_CLASS[byte];
        if (kind === 0) {
          if (byte !== COLON || startsPart || colon >= 0) break;
          colon = at;
        } else if (kind === 2 && startsPart) {
          break;
        }
        hash = Math.imul(hash ^ byte, 0x01000193);
      }
      startsPart = at === colon;
    }
    if (at === start)
      throw this.fail(
        this.atEnd ? `the document ends where ${what} is expected` : `${what} is expected here`,
      );
    if (startsPart || bytes[at] === COLON)
      throw this.fail(`a colon in ${what} must stand between two names`, at);
    if (at - start > MAX_NAME_LENGTH) throw this.unread(`a name is longer than ${MAX_NAME_LENGTH} bytes`);
    const name = this.names.at(bytes, start, { end: at, colon, hash: hash ^ (hash >>> 15) });
    if (name === undefined) throw this.unread('the document uses too many different prefixes');
    this.position = at;
    return name;
  }

  /**
   * Reads a reference; the position is on its `&`. Returns its character. Without document type definitions, only
   * character references and the five predefined entities exist.
   */
  reference(): number {
    const start = this.position;
    const { bytes } = this;
    // Fast path without a string for the three most frequent references.
    if (bytes[start + 2] === LOWER_T && bytes[start + 3] === SEMICOLON) {
      if (bytes[start + 1] === LOWER_L || bytes[start + 1] === LOWER_G) {
        this.position = start + 4;
        return bytes[start + 1] === LOWER_L ? LESS : GREATER;
      }
    }
    if (this.accept('&amp;')) return AMPERSAND;
    const limit = Math.min(start + MAX_REFERENCE_LENGTH, bytes.length);
    let end = start;
    while (end < limit && bytes[end] !== SEMICOLON) end++;
    if (end === limit) {
      throw this.fail(
        '"&" begins a reference that does not end; write "&amp;" for the character itself',
        start,
      );
    }
    this.position = end + 1;
    const body = this.bytes.toString('latin1', start + 1, end);
    if (body.charCodeAt(0) === HASH) {
      const code = /^#x[0-9a-fA-F]+$/.test(body)
        ? Number.parseInt(body.slice(2), 16)
        : /^#[0-9]+$/.test(body)
          ? Number.parseInt(body.slice(1), 10)
          : -1;
      if (!isXmlCharacter(code)) throw this.fail('a character reference names no allowed character', start);
      return code;
    }
    const code = Object.hasOwn(PREDEFINED, body) ? PREDEFINED[body] : undefined;
    if (code === undefined) throw this.fail('a reference to an entity that is not defined', start);
    return code;
  }

  /** Refuses the byte at `at` when it starts a forbidden character; for bytes marked in the stop tables. */
  checkCharacter(at: number): void {
    const byte = this.bytes[at] ?? 0;
    if (byte < SPACE && !isSpace(byte))
      throw this.fail(`the control character ${hex(byte)} is not allowed`, at);
    // 0xEF: only U+FFFE and U+FFFF are forbidden among the code points with this first byte.
    if (byte === 0xef && this.bytes[at + 1] === 0xbf && (this.bytes[at + 2] ?? 0) >= 0xbe) {
      throw this.fail('the code points U+FFFE and U+FFFF are not allowed', at);
    }
  }

  /** The bytes are valid UTF-8, so the first byte determines the length. */
  #codePoint(at: number): number {
    const { bytes } = this;
    const lead = bytes[at] as number;
    const second = (bytes[at + 1] ?? 0) & 0x3f;
    if (lead < 0xe0) return ((lead & 0x1f) << 6) | second;
    const third = (bytes[at + 2] ?? 0) & 0x3f;
    if (lead < 0xf0) return ((lead & 0x0f) << 12) | (second << 6) | third;
    return ((lead & 0x07) << 18) | (second << 12) | (third << 6) | ((bytes[at + 3] ?? 0) & 0x3f);
  }
}

function hex(byte: number): string {
  return `U+${byte.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Computes line and column (both from 1, columns in characters) of a byte offset in a UTF-8 document. */
function positionOf(bytes: Buffer, offset: number): { readonly line: number; readonly column: number } {
  let line = 1;
  let lineStart = 0;
  for (let at = bytes.indexOf(LF); at >= 0 && at < offset; at = bytes.indexOf(LF, at + 1)) {
    line++;
    lineStart = at + 1;
  }
  let column = 1;
  for (let at = lineStart; at < offset && at < bytes.length; at++) {
    // Continuation bytes belong to the preceding character.
    if (((bytes[at] ?? 0) & 0xc0) !== 0x80) column++;
  }
  return { line, column };
}

/** Creates the error `xml.malformed` with position and problem. */
function malformed(bytes: Buffer, offset: number, problem: string): CryptoError {
  const { line, column } = positionOf(bytes, offset);
  return new CryptoError(
    'xml.malformed',
    `The XML is not well-formed at line ${line}, column ${column}: ${problem}.`,
  );
}
