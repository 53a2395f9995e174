/**
 * Character classes of XML 1.0 (fifth edition): productions [2] Char, [3] S, [4] NameStartChar and [4a] NameChar.
 * Byte tables are for UTF-8; characters above 0x7F are judged by code point.
 */

export const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const BANG = 0x21;
export const QUOTE = 0x22;
export const HASH = 0x23;
export const AMPERSAND = 0x26;
export const APOSTROPHE = 0x27;
export const HYPHEN = 0x2d;
export const SLASH = 0x2f;
export const COLON = 0x3a;
export const SEMICOLON = 0x3b;
export const LESS = 0x3c;
export const EQUALS = 0x3d;
export const GREATER = 0x3e;
export const QUESTION = 0x3f;
export const BRACKET_CLOSE = 0x5d;
/** First byte of U+F000..U+FFFF, the only range in UTF-8 with the forbidden U+FFFE and U+FFFF. */
const LEAD_EF = 0xef;

/** By ASCII byte: 1 may start a name, without the colon; 2 may only continue one. */
export const NAME_CLASS = new Uint8Array(256);
for (let byte = 0; byte < 128; byte++) {
  const letter = (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a) || byte === 0x5f;
  const part = (byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x2e;
  NAME_CLASS[byte] = letter ? 1 : part ? 2 : 0;
}

/** 1 for each byte that ends a fast run of character data: markup, CR, `>`, forbidden controls, 0xEF. */
export const TEXT_STOP = new Uint8Array(256);
/** Like TEXT_STOP for attribute values: also TAB, LF and both quotes. */
export const VALUE_STOP = new Uint8Array(256);
/** Like TEXT_STOP for comments and processing instructions: line ends and forbidden characters only. */
export const PLAIN_STOP = new Uint8Array(256);
for (let byte = 0; byte < SPACE; byte++) {
  TEXT_STOP[byte] = byte === TAB || byte === LF ? 0 : 1;
  VALUE_STOP[byte] = 1;
  PLAIN_STOP[byte] = byte === TAB || byte === LF || byte === CR ? 0 : 1;
}
for (const byte of [LESS, AMPERSAND, GREATER, LEAD_EF]) TEXT_STOP[byte] = 1;
for (const byte of [LESS, AMPERSAND, QUOTE, APOSTROPHE, LEAD_EF]) VALUE_STOP[byte] = 1;
PLAIN_STOP[LEAD_EF] = 1;

export function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === LF || byte === TAB || byte === CR;
}

/** Tests production [2] Char for a literal character or a character reference. */
export function isXmlCharacter(code: number): boolean {
  if (code < SPACE) return code === TAB || code === LF || code === CR;
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff);
}

/** Tests production [4] for code points above 0x7F. */
export function startsName(code: number): boolean {
  return (
    (code >= 0xc0 && code <= 0x2ff && code !== 0xd7 && code !== 0xf7) ||
    (code >= 0x370 && code <= 0x1fff && code !== 0x37e) ||
    (code >= 0x200c && code <= 0x200d) ||
    (code >= 0x2070 && code <= 0x218f) ||
    (code >= 0x2c00 && code <= 0x2fef) ||
    (code >= 0x3001 && code <= 0xd7ff) ||
    (code >= 0xf900 && code <= 0xfdcf) ||
    (code >= 0xfdf0 && code <= 0xfffd) ||
    (code >= 0x10000 && code <= 0xeffff)
  );
}

/** Tests production [4a] for code points above 0x7F. */
export function continuesName(code: number): boolean {
  return (
    startsName(code) ||
    code === 0xb7 ||
    (code >= 0x300 && code <= 0x36f) ||
    (code >= 0x203f && code <= 0x2040)
  );
}

/** Writes one code point as UTF-8; returns the position after it. */
export function writeCodePoint(target: Uint8Array, at: number, code: number): number {
  if (code < 0x80) {
    target[at] = code;
    return at + 1;
  }
  if (code < 0x800) {
    target[at] = 0xc0 | (code >> 6);
    target[at + 1] = 0x80 | (code & 0x3f);
    return at + 2;
  }
  if (code < 0x10000) {
    target[at] = 0xe0 | (code >> 12);
    target[at + 1] = 0x80 | ((code >> 6) & 0x3f);
    target[at + 2] = 0x80 | (code & 0x3f);
    return at + 3;
  }
  target[at] = 0xf0 | (code >> 18);
  target[at + 1] = 0x80 | ((code >> 12) & 0x3f);
  target[at + 2] = 0x80 | ((code >> 6) & 0x3f);
  target[at + 3] = 0x80 | (code & 0x3f);
  return at + 4;
}
