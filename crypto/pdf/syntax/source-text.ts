/** Source text of values, one byte per character, with replacement of the strings in it. */
import { writtenBytes } from './strings.ts';
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
