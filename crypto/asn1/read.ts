/**
 * Bounds-checked reader of BER, which includes DER (X.690). It does not recurse: a caller enters values
 * only as deep as the structure it expects, and a counter resolves indefinite lengths.
 */
import { Asn1Error } from './error.ts';
import { readHeader } from './header.ts';
import { TAG } from './tags.ts';

/** One element inside a buffer; all offsets are into `bytes`. */
export interface Element {
  readonly bytes: Buffer;
  readonly tag: number;
  /** Offset of the identifier octet. */
  readonly start: number;
  /** Offset of the first byte of the value. */
  readonly from: number;
  /** Offset of the end of the value, exclusive; end-of-contents octets are not part of it. */
  readonly to: number;
  /** Offset of the next element. */
  readonly next: number;
}

/** Most nested indefinite lengths; real structures nest fewer than ten. */
const MAX_INDEFINITE_DEPTH = 32;

/** Most elements in one value; the certificate set of a large trusted list stays below it. */
const MAX_CHILDREN = 10_000;

/**
 * Reads the element at `offset`, which must end before `limit`.
 * @throws {Asn1Error}
 */
export function readElement(bytes: Buffer, offset = 0, limit = bytes.length): Element {
  const { tag, headerLength, length } = readHeader(bytes, offset, limit);
  const from = offset + headerLength;
  if (length >= 0) {
    if (length > limit - from) throw new Asn1Error('length runs past the end', offset);
    return { bytes, tag, start: offset, from, to: from + length, next: from + length };
  }
  const to = endOfIndefinite(bytes, from, limit);
  return { bytes, tag, start: offset, from, to, next: to + 2 };
}

/** Reads the one element that fills the buffer. @throws {Asn1Error} also for bytes after it */
export function readWhole(bytes: Buffer): Element {
  const element = readElement(bytes);
  if (element.next !== bytes.length) throw new Asn1Error('bytes after the end', element.next);
  return element;
}

function endOfIndefinite(bytes: Buffer, from: number, limit: number): number {
  let at = from;
  for (let open = 1; ; ) {
    const { tag, headerLength, length } = readHeader(bytes, at, limit);
    if (tag === 0 && length === 0) {
      if (--open === 0) return at;
    } else if (length < 0 && ++open > MAX_INDEFINITE_DEPTH) {
      throw new Asn1Error('nested too deeply', at);
    }
    const next = at + headerLength + Math.max(length, 0);
    if (next > limit) throw new Asn1Error('length runs past the end', at);
    at = next;
  }
}

/** Iterates over the elements inside one value, in order. */
export class Cursor {
  readonly #bytes: Buffer;
  readonly #to: number;
  #at: number;

  constructor(parent: Element) {
    this.#bytes = parent.bytes;
    this.#at = parent.from;
    this.#to = parent.to;
  }

  get done(): boolean {
    return this.#at >= this.#to;
  }

  /** Returns the identifier octet of the next element; undefined at the end. */
  peek(): number | undefined {
    return this.done ? undefined : this.#bytes[this.#at];
  }

  /** Returns the next element. @throws {Asn1Error} at the end, or when the element has a tag other than `tag` */
  next(tag?: number): Element {
    if (this.done) throw new Asn1Error('an element is missing', this.#at);
    const element = readElement(this.#bytes, this.#at, this.#to);
    if (tag !== undefined && element.tag !== tag) {
      throw new Asn1Error(`expected tag ${hex(tag)}, found ${hex(element.tag)}`, this.#at);
    }
    this.#at = element.next;
    return element;
  }

  /** Returns the next element when it has this tag. */
  nextIf(tag: number): Element | undefined {
    return this.peek() === tag ? this.next(tag) : undefined;
  }

  /** Checks that no element is left. @throws {Asn1Error} */
  end(): void {
    if (!this.done) throw new Asn1Error('unexpected element', this.#at);
  }
}

/** Opens a cursor in a value that must have this tag. @throws {Asn1Error} */
export function enter(element: Element, tag: number): Cursor {
  if (element.tag !== tag) {
    throw new Asn1Error(`expected tag ${hex(tag)}, found ${hex(element.tag)}`, element.start);
  }
  return new Cursor(element);
}

/** Returns every element inside a value. @throws {Asn1Error} also when there are more than 10,000 */
export function childrenOf(element: Element): Element[] {
  const cursor = new Cursor(element);
  const children: Element[] = [];
  while (!cursor.done) {
    if (children.length === MAX_CHILDREN) throw new Asn1Error('too many elements', element.start);
    children.push(cursor.next());
  }
  return children;
}

/** Returns the element with its header, as a view. */
export function encoded(element: Element): Buffer {
  return element.bytes.subarray(element.start, element.next);
}

/** Returns the value without its header, as a view. */
export function contents(element: Element): Buffer {
  return element.bytes.subarray(element.from, element.to);
}

/** Returns the bytes of an OCTET STRING; joins the segments of a constructed one (X.690 §8.7). @throws {Asn1Error} */
export function octets(element: Element): Buffer {
  if (element.tag === TAG.octetString) return contents(element);
  if (element.tag !== TAG.octetStringConstructed) {
    throw new Asn1Error(`expected an octet string, found ${hex(element.tag)}`, element.start);
  }
  return Buffer.concat(
    childrenOf(element).map((piece) => {
      if (piece.tag !== TAG.octetString) throw new Asn1Error('octet string nested too deeply', piece.start);
      return contents(piece);
    }),
  );
}

/** Reads a non-negative INTEGER below 2^31. @throws {Asn1Error} */
export function smallInteger(element: Element): number {
  const value = contents(element);
  const negative = ((value[0] ?? 0x80) & 0x80) !== 0;
  if (element.tag !== TAG.integer || value.length > 4 || negative) {
    throw new Asn1Error('expected a small number', element.start);
  }
  return value.readUIntBE(0, value.length);
}

/** Returns the dotted form of an OBJECT IDENTIFIER (X.690 §8.19). @throws {Asn1Error} */
export function oidText(element: Element): string {
  if (element.tag !== TAG.oid) throw new Asn1Error('expected an object identifier', element.start);
  const value = contents(element);
  const last = value[value.length - 1];
  if (last === undefined || last >= 0x80 || value.length > 64) {
    throw new Asn1Error('object identifier malformed', element.start);
  }
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of value) {
    arc = arc * 128 + (byte & 0x7f);
    if (!Number.isSafeInteger(arc)) throw new Asn1Error('object identifier too large', element.start);
    if (byte >= 0x80) continue;
    if (arcs.length === 0) {
      const root = Math.min(Math.floor(arc / 40), 2);
      arcs.push(root, arc - root * 40);
    } else {
      arcs.push(arc);
    }
    arc = 0;
  }
  return arcs.join('.');
}

function hex(tag: number): string {
  return `0x${tag.toString(16).padStart(2, '0')}`;
}
