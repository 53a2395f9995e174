/** One piece of a document that was read before, into a sink: the document itself or an element, less some elements. */
import { Canonicalizer, type CanonicalMethod, type CanonicalPlace } from './canonical.ts';
import type { ByteSink } from './canonical-output.ts';
import type { StartTag, XmlListener } from './events.ts';
import type { Name, Names } from './names.ts';
import { readElement, readXml } from './reader.ts';

/** True for elements that are left out with all that is in them. */
export type Exclusion = (tag: StartTag) => boolean;

/** A document with the table its names were read with. */
export interface ReadDocument {
  /** UTF-8. */
  readonly utf8: Buffer;
  readonly names: Names;
}

/**
 * Canonical bytes of a place.
 * @param place undefined for the whole document, with what stands outside its root
 * @throws CryptoError `input.too-large` when they become far longer than the place itself; those of `readXml`
 */
export function canonicalize(
  { utf8, names }: ReadDocument,
  place: CanonicalPlace | undefined,
  method: CanonicalMethod,
  sink: ByteSink,
  excludes?: Exclusion,
): void {
  const canonicalizer = new Canonicalizer(utf8, sink, method, place);
  const listener = excludes === undefined ? canonicalizer : new Leaving(canonicalizer, excludes);
  if (place === undefined) readXml(utf8, listener, names);
  else readElement(utf8, place, listener, names);
  canonicalizer.finish();
}

/** Passes on everything but the elements left out. */
class Leaving implements XmlListener {
  readonly #to: XmlListener;
  readonly #excludes: Exclusion;
  /** Elements that are open inside one that is left out, itself included. */
  #inside = 0;

  constructor(to: XmlListener, excludes: Exclusion) {
    this.#to = to;
    this.#excludes = excludes;
  }

  startElement(tag: StartTag): void {
    if (this.#inside > 0 || this.#excludes(tag)) this.#inside++;
    else this.#to.startElement(tag);
  }

  endElement(name: Name, start: number, end: number, plain: boolean): void {
    if (this.#inside > 0) this.#inside--;
    else this.#to.endElement(name, start, end, plain);
  }

  text(start: number, end: number): void {
    if (this.#inside === 0) this.#to.text(start, end);
  }

  character(code: number): void {
    if (this.#inside === 0) this.#to.character(code);
  }

  instruction(target: Name, dataStart: number, dataEnd: number): void {
    if (this.#inside === 0) this.#to.instruction(target, dataStart, dataEnd);
  }

  comment(start: number, end: number): void {
    if (this.#inside === 0) this.#to.comment(start, end);
  }
}
