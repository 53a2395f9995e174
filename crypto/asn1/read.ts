/** BER reader of the engine: `ber-reader.ts`, with Buffers as values. */
import {
  Asn1Error,
  Cursor as BerCursor,
  type Element as BerElement,
  contents,
  encoded,
  octetSegments,
  readElement,
  TAG,
} from './ber-reader.ts';

export * from './ber-reader.ts';

export type Element = BerElement<Buffer>;

export const Cursor = BerCursor<Buffer>;
export type Cursor = BerCursor<Buffer>;

/** Returns the bytes of an OCTET STRING; joins the segments of a constructed one (X.690 §8.7). @throws {Asn1Error} */
export function octets(element: Element): Buffer {
  return element.tag === TAG.octetString ? contents(element) : Buffer.concat(octetSegments(element));
}

/**
 * Returns the first element of a file or an answer: what follows it, such as a line end or padding, is no part of it.
 * Bytes that do not begin with an element stay as they are.
 */
export function firstElement(bytes: Buffer): Buffer {
  try {
    return encoded(readElement(bytes));
  } catch (error) {
    if (error instanceof Asn1Error) return bytes;
    throw error;
  }
}
