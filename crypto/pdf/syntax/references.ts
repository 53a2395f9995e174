/** Finds the references in a value (ISO 32000-2, 7.3.10) without parsing it. */
import { skipRegular, skipSpace, skipValue } from './syntax.ts';
import type { ByteSlice } from './values.ts';

const SLASH = 0x2f;
const PAREN = 0x28;
const LESS = 0x3c;
const GREATER = 0x3e;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const LETTER_R = 0x52;
/** Longest object number, with signs and leading zeros. */
const MAX_LENGTH = 24;

/**
 * Returns the numbers of all references in a value, in order, with repetitions. Accepts any notation that some
 * reader could accept: signs, leading zeros, and comments between the tokens.
 * @throws PdfSyntaxError when a string in it is unterminated
 */
export function referencesIn({ bytes, start, end }: ByteSlice): readonly number[] {
  const found: number[] = [];
  let before = -1;
  let last = -1;
  for (let at = skipSpace(bytes, start); at < end; at = skipSpace(bytes, at)) {
    const byte = bytes[at];
    let number = -1;
    if (byte === SLASH) {
      at = skipRegular(bytes, at + 1);
    } else if (byte === PAREN || (byte === LESS && bytes[at + 1] !== LESS)) {
      at = skipValue(bytes, at);
    } else if (byte === LESS || byte === GREATER) {
      at += 2;
    } else if (byte === BRACKET_OPEN || byte === BRACKET_CLOSE) {
      at++;
    } else {
      const to = Math.max(at + 1, skipRegular(bytes, at));
      if (byte === LETTER_R && to === at + 1 && before >= 0 && last >= 0) found.push(before);
      number = wholeNumber(bytes, at, to);
      at = to;
    }
    before = last;
    last = number;
  }
  return found;
}

function wholeNumber(bytes: Buffer, from: number, to: number): number {
  let value = 0;
  const digits = bytes[from] === 0x2b ? from + 1 : from;
  if (digits === to || to - from > MAX_LENGTH) return -1;
  for (let at = digits; at < to; at++) {
    const digit = (bytes[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}
