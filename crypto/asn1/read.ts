/** BER reader of the engine: `ber-reader.ts`, with Buffers as values. */
import {
  Cursor as BerCursor,
  type Element as BerElement,
  contents,
  octetSegments,
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
