/** Object streams (ISO 32000-2, 7.5.7): several objects in one compressed stream. */
import { PdfSyntaxError } from './damage.ts';
import { readDigits, skipSpace } from './syntax.ts';
import { asInteger, type ByteSlice, endOfValue, type PdfDict } from './values.ts';

/** Most objects in one stream. */
const MAX_MEMBERS = 1_000_000;

export class ObjectStream {
  readonly #bytes: Buffer;
  /** Number of each member with the index of its value. */
  readonly #members: ReadonlyMap<number, number>;
  constructor(bytes: Buffer, members: ReadonlyMap<number, number>) {
    this.#bytes = bytes;
    this.#members = members;
  }

  get size(): number {
    return this.#bytes.length;
  }

  numbers(): Iterable<number> {
    return this.#members.keys();
  }

  /** Returns a member; undefined when the stream has none of this number. */
  member(number: number): ByteSlice | undefined {
    const at = this.#members.get(number);
    if (at === undefined) return undefined;
    const start = skipSpace(this.#bytes, at);
    // The stream is encrypted as a whole; its strings are not encrypted separately (7.5.7).
    return { bytes: this.#bytes, at: -1, start, end: endOfValue(this.#bytes, start), cipher: undefined };
  }
}

/** @param bytes the decoded stream. @throws PdfSyntaxError */
export function parseObjectStream(dict: PdfDict, bytes: Buffer): ObjectStream {
  const count = asInteger(dict.get('N'));
  const first = asInteger(dict.get('First'));
  if (
    count === undefined ||
    first === undefined ||
    count < 0 ||
    count > MAX_MEMBERS ||
    first > bytes.length
  ) {
    throw new PdfSyntaxError('An object stream has no usable /N and /First.');
  }
  const members = new Map<number, number>();
  let at = 0;
  for (let index = 0; index < count; index++) {
    const number = readDigits(bytes, skipSpace(bytes, at));
    const offset = number && readDigits(bytes, skipSpace(bytes, number.end));
    if (number === undefined || offset === undefined || number.end > first) {
      throw new PdfSyntaxError(`An object stream announces ${count} objects and lists ${index}.`);
    }
    // The first of two members with one number counts, as in a lookup by index.
    if (!members.has(number.value)) members.set(number.value, first + offset.value);
    at = offset.end;
  }
  return new ObjectStream(bytes, members);
}
