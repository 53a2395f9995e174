/**
 * Bounds-checked reader of BER, which includes DER (X.690). It does not recurse: a caller enters values
 * only as deep as the structure it expects, and a counter resolves indefinite lengths. Its values are views of the
 * bytes it was given: Buffers on the server, typed arrays in a browser.
 */

/** One element inside a buffer; all offsets are into `bytes`. */
export interface Element<Bytes extends Uint8Array = Uint8Array> {
  readonly bytes: Bytes;
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
export function readElement<Bytes extends Uint8Array>(
  bytes: Bytes,
  offset = 0,
  limit = bytes.length,
): Element<Bytes> {
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
export function readWhole<Bytes extends Uint8Array>(bytes: Bytes): Element<Bytes> {
  const element = readElement(bytes);
  if (element.next !== bytes.length) throw new Asn1Error('bytes after the end', element.next);
  return element;
}

function endOfIndefinite(bytes: Uint8Array, from: number, limit: number): number {
  let at = from;
  for (let open = 1; ; ) {
    const { tag, headerLength, length } = readHeader(bytes, at, limit);
    if (tag === 0 && length === 0) {
      if (--open === 0) return at;
    } else if (length < 0 && ++open > MAX_INDEFINITE_DEPTH) {
      throw new Asn1LimitError('nested too deeply', at);
    }
    const next = at + headerLength + Math.max(length, 0);
    if (next > limit) throw new Asn1Error('length runs past the end', at);
    at = next;
  }
}

/** Iterates over the elements inside one value, in order. */
export class Cursor<Bytes extends Uint8Array = Uint8Array> {
  readonly #bytes: Bytes;
  readonly #to: number;
  #at: number;

  constructor(parent: Element<Bytes>) {
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
  next(tag?: number): Element<Bytes> {
    if (this.done) throw new Asn1Error('an element is missing', this.#at);
    const element = readElement(this.#bytes, this.#at, this.#to);
    if (tag !== undefined && element.tag !== tag) {
      throw new Asn1Error(`expected tag ${hex(tag)}, found ${hex(element.tag)}`, this.#at);
    }
    this.#at = element.next;
    return element;
  }

  /** Returns the next element when it has this tag. */
  nextIf(tag: number): Element<Bytes> | undefined {
    return this.peek() === tag ? this.next(tag) : undefined;
  }

  /** Checks that no element is left. @throws {Asn1Error} */
  end(): void {
    if (!this.done) throw new Asn1Error('unexpected element', this.#at);
  }
}

/** Opens a cursor in a value that must have this tag. @throws {Asn1Error} */
export function enter<Bytes extends Uint8Array>(element: Element<Bytes>, tag: number): Cursor<Bytes> {
  if (element.tag !== tag) {
    throw new Asn1Error(`expected tag ${hex(tag)}, found ${hex(element.tag)}`, element.start);
  }
  return new Cursor(element);
}

/** Returns every element inside a value. @throws {Asn1Error} also when there are more than 10,000 */
export function childrenOf<Bytes extends Uint8Array>(element: Element<Bytes>): Element<Bytes>[] {
  const cursor = new Cursor(element);
  const children: Element<Bytes>[] = [];
  while (!cursor.done) {
    if (children.length === MAX_CHILDREN) throw new Asn1LimitError('too many elements', element.start);
    children.push(cursor.next());
  }
  return children;
}

/** Returns the element with its header, as a view. */
export function encoded<Bytes extends Uint8Array>({ bytes, start, next }: Element<Bytes>): Bytes {
  return bytes.subarray(start, next) as Bytes;
}

/** Returns the value without its header, as a view. */
export function contents<Bytes extends Uint8Array>({ bytes, from, to }: Element<Bytes>): Bytes {
  return bytes.subarray(from, to) as Bytes;
}

/** Returns the bytes of an OCTET STRING, or the segments of a constructed one in order (X.690 §8.7). @throws {Asn1Error} */
export function octetSegments<Bytes extends Uint8Array>(element: Element<Bytes>): Bytes[] {
  if (element.tag === TAG.octetString) return [contents(element)];
  if (element.tag !== TAG.octetStringConstructed) {
    throw new Asn1Error(`expected an octet string, found ${hex(element.tag)}`, element.start);
  }
  return segmentsIn(element);
}

/** Returns the bytes of `[0] IMPLICIT OCTET STRING`, or its segments in order. @throws {Asn1Error} */
export function implicitOctetSegments<Bytes extends Uint8Array>(element: Element<Bytes>): Bytes[] {
  if (element.tag === TAG.context0) return [contents(element)];
  if (element.tag !== TAG.context0Constructed) throw new Asn1Error('expected an octet string', element.start);
  return segmentsIn(element);
}

/** Most levels of constructed octet strings inside each other; writers make one, and gateways add one. */
export const MAX_SEGMENT_DEPTH = 16;

/** The segments of a constructed octet string may be constructed themselves (X.690 §8.7.3.2). */
function segmentsIn<Bytes extends Uint8Array>(element: Element<Bytes>, depth = 1): Bytes[] {
  if (depth > MAX_SEGMENT_DEPTH) throw new Asn1LimitError('octet string nested too deeply', element.start);
  return childrenOf(element).flatMap((piece) => {
    if (piece.tag === TAG.octetString) return [contents(piece)];
    if (piece.tag === TAG.octetStringConstructed) return segmentsIn(piece, depth + 1);
    throw new Asn1Error(`expected an octet string, found ${hex(piece.tag)}`, piece.start);
  });
}

/** Reads a non-negative INTEGER below 2^31. @throws {Asn1Error} */
export function smallInteger(element: Element): number {
  const value = contents(element);
  const negative = ((value[0] ?? 0x80) & 0x80) !== 0;
  if (element.tag !== TAG.integer || value.length > 4 || negative) {
    throw new Asn1Error('expected a small number', element.start);
  }
  return value.reduce((sum, byte) => sum * 256 + byte, 0);
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
    if (!Number.isSafeInteger(arc)) throw new Asn1LimitError('object identifier too large', element.start);
    // The first byte of an arc is no padding (X.690 §8.19.2): readers differ in what such an identifier is.
    if (byte === 0x80 && arc === 0) throw new Asn1Error('object identifier malformed', element.start);
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

/** Identifier octets in use here (X.690 §8.1.2); all tag numbers are below 31, so one octet is the whole tag. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  utcTime: 0x17,
  generalizedTime: 0x18,
  ia5String: 0x16,
  octetStringConstructed: 0x24,
  sequence: 0x30,
  set: 0x31,
  context0: 0x80,
  context0Constructed: 0xa0,
  context1Constructed: 0xa1,
  context2Constructed: 0xa2,
  context3Constructed: 0xa3,
  context4Constructed: 0xa4,
} as const;

/** Identifier and length octets of an element (X.690 §8.1.2, §8.1.3). */
export interface Header {
  /** First identifier octet; for tag numbers from 31 on, its low five bits are all ones. */
  readonly tag: number;
  /** Length of the header itself, bytes. */
  readonly headerLength: number;
  /** Bytes of the value; -1 for the indefinite form. */
  readonly length: number;
}

/** Longest header read: one identifier octet, four tag-number octets, one length octet and eight more. */
export const MAX_HEADER = 14;

/**
 * Reads the header at `offset` and no byte from `limit` on.
 * Lengths are exact up to 2^53 bytes; longer ones, and longer length fields, are refused (X.690 §8.1.3).
 * The caller checks that the value fits, since it may be in a file and not in this buffer.
 * @throws {Asn1Error} when the header is cut short or not BER
 */
export function readHeader(bytes: Uint8Array, offset: number, limit: number): Header {
  let at = offset;
  const tag = byteAt(bytes, at++, limit, offset);
  if ((tag & 0x1f) === 0x1f) {
    let octets = 0;
    while ((byteAt(bytes, at++, limit, offset) & 0x80) !== 0) {
      if (++octets === 4) throw new Asn1LimitError('tag number too large', offset);
    }
  }
  const first = byteAt(bytes, at++, limit, offset);
  if (first < 0x80) return { tag, headerLength: at - offset, length: first };
  if (first === 0x80) {
    if ((tag & 0x20) === 0) throw new Asn1Error('a primitive value has no end', offset);
    return { tag, headerLength: at - offset, length: -1 };
  }
  const count = first & 0x7f;
  if (count > 8) throw new Asn1LimitError('length field too long', offset);
  let length = 0;
  for (let octet = 0; octet < count; octet++) {
    length = length * 256 + byteAt(bytes, at++, limit, offset);
    if (!Number.isSafeInteger(length)) throw new Asn1LimitError('length too large', offset);
  }
  return { tag, headerLength: at - offset, length };
}

function byteAt(bytes: Uint8Array, at: number, limit: number, element: number): number {
  const byte = at < limit ? bytes[at] : undefined;
  if (byte === undefined) throw new Asn1Error('element cut short', element);
  return byte;
}

/** AlgorithmIdentifier of certificates, CMS structures, keys and containers (RFC 5280 §4.1.1.2). */
export interface Algorithm<Bytes extends Uint8Array = Uint8Array> {
  readonly id: string;
  readonly parameters: Element<Bytes> | undefined;
}

/**
 * Parses an AlgorithmIdentifier (RFC 5280 §4.1.1.2). @throws {Asn1Error}
 *     AlgorithmIdentifier ::= SEQUENCE { algorithm OBJECT IDENTIFIER, parameters ANY OPTIONAL }
 */
export function parseAlgorithm<Bytes extends Uint8Array>(element: Element<Bytes>): Algorithm<Bytes> {
  const fields = enter(element, TAG.sequence);
  const id = oidText(fields.next());
  const parameters = fields.done ? undefined : fields.next();
  fields.end();
  return { id, parameters };
}

/** Malformed or unexpected ASN.1. Callers turn it into the error code of the structure they read. */
export class Asn1Error extends Error {
  readonly code = 'asn1.malformed';
  /** Offset of the element in the buffer being read, in bytes. */
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(`${message} (at byte ${offset})`);
    this.name = 'Asn1Error';
    this.offset = offset;
  }
}

/** A structure beyond a limit of this reader, which may be right: it is not judged, and not called malformed. */
export class Asn1LimitError extends Asn1Error {}
