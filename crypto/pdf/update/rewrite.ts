/** Rewrites values for another file: renumbers references, decrypts strings, removes comments (ISO 32000-2, 7.3). */

import { PdfSyntaxError } from '../syntax/reading-errors.ts';
import { asString } from '../syntax/strings.ts';
import {
  isDigit,
  readDigits,
  skipReference,
  skipRegular,
  skipSpace,
  skipValue,
  startsWith,
} from '../syntax/syntax.ts';
import { type ByteSlice, endOfValue, nameText, type StringCipher } from '../syntax/values.ts';

/** One key of a rewritten dictionary. */
export interface RewrittenEntry {
  /** Without its slash, with `#xx` decoded. */
  readonly key: string;
  /** Value in the source file. */
  readonly value: ByteSlice;
  /** Value in the new file. */
  readonly text: string;
}

interface Rewriting {
  /** Returns the text that replaces a reference. */
  reference(number: number): string;
  /** Returns another text for the value of a key; undefined keeps it. */
  entry?(entry: RewrittenEntry, all: readonly RewrittenEntry[]): string | undefined;
}

/** Additional changes of the outermost dictionary. */
export interface DictChange {
  /** Keys and their new values, for existing and missing keys. */
  readonly set?: ReadonlyMap<string, string>;
  readonly drop?: ReadonlySet<string>;
}

/** Most nested values; real ones stay under ten. */
const MAX_DEPTH = 500;

const LESS = 0x3c;
const GREATER = 0x3e;
const PAREN = 0x28;
const SLASH = 0x2f;
const OPEN = 0x5b;
const CLOSE = 0x5d;

/** Rewrites a value as text of one byte per character. @throws PdfSyntaxError when it is malformed */
export function rewriteValue(slice: ByteSlice, rewriting: Rewriting, change: DictChange = {}): string {
  if (slice.end <= slice.start) return 'null';
  return new Rewriter(slice, rewriting, change).value(slice.start, 0).text;
}

/** Formats a name with its slash; each character one byte. */
export function nameObject(name: string): string {
  return `/${name.replace(/[^!-~]|[#()<>[\]{}/%]/g, (letter) => `#${letter.charCodeAt(0).toString(16).padStart(2, '0')}`)}`;
}

interface Written {
  readonly text: string;
  readonly end: number;
}

class Rewriter {
  readonly #bytes: Buffer;
  readonly #cipher: StringCipher | undefined;
  readonly #rewriting: Rewriting;
  readonly #change: DictChange;

  constructor({ bytes, cipher }: ByteSlice, rewriting: Rewriting, change: DictChange) {
    this.#bytes = bytes;
    this.#cipher = cipher;
    this.#rewriting = rewriting;
    this.#change = change;
  }

  value(at: number, depth: number): Written {
    const bytes = this.#bytes;
    const byte = bytes[at];
    if (depth > MAX_DEPTH) throw new PdfSyntaxError(`Arrays and dictionaries nest deeper than ${MAX_DEPTH}.`);
    if (byte === LESS && bytes[at + 1] === LESS) return this.#dict(at, depth);
    if (byte === OPEN) return this.#array(at, depth);
    if (byte === PAREN || byte === LESS) return this.#string(at);
    if (isDigit(byte)) {
      const end = skipReference(bytes, at);
      const number = end < 0 ? undefined : readDigits(bytes, at);
      if (number !== undefined) return { text: this.#rewriting.reference(number.value), end };
    }
    const end = skipValue(bytes, at);
    return { text: bytes.toString('latin1', at, end), end };
  }

  #string(at: number): Written {
    const end = skipValue(this.#bytes, at);
    const cipher = this.#cipher;
    if (cipher === undefined) return { text: this.#bytes.toString('latin1', at, end), end };
    const clear = asString({ bytes: this.#bytes, at: -1, start: at, end, cipher }) ?? Buffer.alloc(0);
    return { text: `<${clear.toString('hex')}>`, end };
  }

  #array(from: number, depth: number): Written {
    const bytes = this.#bytes;
    const parts: string[] = [];
    let at = skipSpace(bytes, from + 1);
    while (bytes[at] !== CLOSE) {
      const { text, end } = this.value(at, depth + 1);
      parts.push(text);
      at = skipSpace(bytes, end);
    }
    return { text: `[${parts.join(' ')}]`, end: at + 1 };
  }

  #dict(from: number, depth: number): Written {
    const bytes = this.#bytes;
    const entries: RewrittenEntry[] = [];
    let at = skipSpace(bytes, from + 2);
    while (!(bytes[at] === GREATER && bytes[at + 1] === GREATER)) {
      if (bytes[at] !== SLASH) throw new PdfSyntaxError('A dictionary has a key that is no name.');
      const nameEnd = skipRegular(bytes, at + 1);
      const key = nameText(bytes, at, nameEnd);
      const start = skipSpace(bytes, nameEnd);
      // A key without a value before the end of the dictionary reads as null.
      if (startsWith(bytes, start, '>>')) {
        at = start;
        continue;
      }
      // Omitted values are not read: they may refer to the whole old document.
      const isLeft = depth === 0 && (this.#change.drop?.has(key) || this.#change.set?.has(key)) === true;
      const { text, end } = isLeft
        ? { text: '', end: endOfValue(bytes, start) }
        : this.value(start, depth + 1);
      if (!isLeft) entries.push({ key, value: { bytes, at: -1, start, end, cipher: this.#cipher }, text });
      at = skipSpace(bytes, end);
    }
    return { text: this.#dictText(entries, depth === 0 ? this.#change.set : undefined), end: at + 2 };
  }

  #dictText(all: readonly RewrittenEntry[], set: DictChange['set']): string {
    // The last value of a repeated key counts, as in the reader.
    const values = new Map<string, string>();
    for (const entry of all) values.set(entry.key, this.#rewriting.entry?.(entry, all) ?? entry.text);
    for (const [key, value] of set ?? []) values.set(key, value);
    let text = '<<';
    for (const [key, value] of values) text += `${nameObject(key)} ${value}`;
    return `${text}>>`;
  }
}
