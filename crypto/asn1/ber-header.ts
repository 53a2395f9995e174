import { Asn1Error } from './asn1-error.ts';

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
      if (++octets === 4) throw new Asn1Error('tag number too large', offset);
    }
  }
  const first = byteAt(bytes, at++, limit, offset);
  if (first < 0x80) return { tag, headerLength: at - offset, length: first };
  if (first === 0x80) {
    if ((tag & 0x20) === 0) throw new Asn1Error('a primitive value has no end', offset);
    return { tag, headerLength: at - offset, length: -1 };
  }
  const count = first & 0x7f;
  if (count > 8) throw new Asn1Error('length field too long', offset);
  let length = 0;
  for (let octet = 0; octet < count; octet++) {
    length = length * 256 + byteAt(bytes, at++, limit, offset);
    if (!Number.isSafeInteger(length)) throw new Asn1Error('length too large', offset);
  }
  return { tag, headerLength: at - offset, length };
}

function byteAt(bytes: Uint8Array, at: number, limit: number, element: number): number {
  const byte = at < limit ? bytes[at] : undefined;
  if (byte === undefined) throw new Asn1Error('element cut short', element);
  return byte;
}
