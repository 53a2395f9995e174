/**
 * Canonicalization of a part of a document that was read before: the document or one element, without excluded
 * elements.
 */
import { Canonicalizer, type CanonicalMethod, type CanonicalPlace } from './canonical.ts';
import type { ByteSink } from './canonical-output.ts';
import type { Names } from './names.ts';
import { readElement, readXml, type SkippedElements } from './reader.ts';

/** A document with its name table. */
export interface ReadDocument {
  /** UTF-8. */
  readonly utf8: Buffer;
  readonly names: Names;
}

/**
 * Writes the canonical bytes of a range.
 * @param place undefined for the whole document, including content outside its root
 * @param without elements excluded with their content; elements outside the range are ignored
 * @throws CryptoError `input.too-large` when the output exceeds the growth limit; those of `readXml`
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
