/** One piece of a document that was read before, into a sink: the document itself or an element, less some elements. */
import { Canonicalizer, type CanonicalMethod, type CanonicalPlace } from './canonical.ts';
import type { ByteSink } from './canonical-output.ts';
import type { Names } from './names.ts';
import { readElement, readXml, type SkippedElements } from './reader.ts';

/** A document with the table its names were read with. */
export interface ReadDocument {
  /** UTF-8. */
  readonly utf8: Buffer;
  readonly names: Names;
}

/**
 * Canonical bytes of a place.
 * @param place undefined for the whole document, with what stands outside its root
 * @param without left out with all that is in them; elements outside of the place are of no matter
 * @throws CryptoError `input.too-large` when they become far longer than the place itself; those of `readXml`
 */
export function canonicalize(
  { utf8, names }: ReadDocument,
  place: CanonicalPlace | undefined,
  method: CanonicalMethod,
  sink: ByteSink,
  without: SkippedElements = [],
): void {
  const canonicalizer = new Canonicalizer(utf8, sink, method, place);
  if (place === undefined) readXml(utf8, canonicalizer, names, without);
  else readElement(utf8, place, canonicalizer, names, without);
  canonicalizer.finish();
}
