/** Object streams (ISO 32000-2, 7.5.7): several objects in one compressed stream. */
import { PdfSyntaxError } from './damage.ts';
import { readDigits, skipSpace } from './syntax.ts';
import { asInteger, type ByteSlice, endOfValue, type PdfDict } from './values.ts';

/** Most objects in one stream. */
const MAX_MEMBERS = 1_000_000;

export class ObjectStream {
  readonly #bytes: Buffer;
  /** Number of each member with the offset of its value. */
  readonly #members: ReadonlyMap<number, number>;
  /** Numbers that the stream lists with several values. */
  readonly #ambiguous: ReadonlySet<number>;
  constructor(bytes: Buffer, members: ReadonlyMap<number, number>, ambiguous: ReadonlySet<number>) {
    this.#bytes = bytes;
    this.#members = members;
    this.#ambiguous = ambiguous;
  }

  get size(): number {
    return this.#bytes.length;
  }

  numbers(): Iterable<number> {
    return this.#members.keys();
  }

  /**
   * Returns a member; undefined when the stream has none of this number.
   * @throws PdfSyntaxError for a number with several values: some readers look up the index, others the number
   */
  member(number: number): ByteSlice | undefined {
    const at = this.#members.get(number);
    if (at === undefined) return undefined;
    if (this.#ambiguous.has(number))
      throw new PdfSyntaxError(`An object stream has several values for object ${number}.`);
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
  const ambiguous = new Set<number>();
  let at = 0;
  for (let index = 0; index < count; index++) {
    const number = readDigits(bytes, skipSpace(bytes, at));
    const offset = number && readDigits(bytes, skipSpace(bytes, number.end));
    if (number === undefined || offset === undefined || number.end > first) {
      throw new PdfSyntaxError(`An object stream announces ${count} objects and lists ${index}.`);
    }
    const known = members.get(number.value);
    if (known === undefined) members.set(number.value, first + offset.value);
    else if (known !== first + offset.value) ambiguous.add(number.value);
    at = offset.end;
  }
  return new ObjectStream(bytes, members, ambiguous);
}
