/** Second reading of a signed document: the digests its signature must agree with, all in one pass. */
import { createHash, type Hash } from 'node:crypto';
import type { DigestName } from '../types.ts';
import {
  attributeValue,
  type ByteSink,
  ExclusiveCanonicalizer,
  type Name,
  namesElement,
  readXml,
  type StartTag,
  type XmlListener,
} from '../xml/index.ts';
import type { Range, SignatureForm } from './signature-form.ts';

export interface ReferenceDigests {
  /** Of the document without the signature. */
  readonly document: Buffer;
  readonly properties: Buffer;
  /** Canonical bytes of SignedInfo. */
  readonly signedInfo: Buffer;
  /** How often each identifier the signature relies on occurs in the document. */
  readonly occurrences: ReadonlyMap<string, number>;
}

/**
 * @param utf8 the document `form` was read from
 * @param digests algorithms of the two references
 */
export function digestReferences(
  utf8: Buffer,
  form: SignatureForm,
  digests: { readonly document: DigestName; readonly properties: DigestName },
): ReferenceDigests {
  const document = createHash(digests.document);
  const properties = createHash(digests.properties);
  const signedInfo = new Bytes();
  const digester = new Digester(utf8, form, document, [
    { ...form.signedInfo, sink: signedInfo },
    { ...form.signedProperties, sink: properties },
  ]);
  readXml(utf8, digester);
  digester.finish();
  return {
    document: document.digest(),
    properties: properties.digest(),
    signedInfo: Buffer.concat(signedInfo.parts),
    occurrences: digester.occurrences,
  };
}

class Bytes implements ByteSink {
  readonly parts: Buffer[] = [];
  update(bytes: Buffer): void {
    this.parts.push(Buffer.from(bytes));
  }
}

class Digester implements XmlListener {
  readonly occurrences: Map<string, number>;
  readonly #utf8: Buffer;
  readonly #signature: Range;
  readonly #document: ExclusiveCanonicalizer;
  readonly #parts: readonly (Range & { readonly sink: ByteSink })[];
  /** Canonicalizer of the element we are in; undefined in those parts of the signature that nothing covers. */
  #active: ExclusiveCanonicalizer | undefined;
  #partEnd = -1;

  constructor(
    utf8: Buffer,
    form: SignatureForm,
    document: Hash,
    parts: readonly (Range & { readonly sink: ByteSink })[],
  ) {
    this.#utf8 = utf8;
    this.#signature = form;
    this.#document = new ExclusiveCanonicalizer(utf8, document);
    this.#active = this.#document;
    this.#parts = parts;
    this.occurrences = new Map([
      [form.id, 0],
      [form.signedProperties.id, 0],
    ]);
  }

  finish(): void {
    this.#document.finish();
  }

  startElement(tag: StartTag): void {
    this.#count(tag);
    if (tag.start === this.#signature.start) {
      this.#active = undefined;
      return;
    }
    if (this.#active === undefined) {
      const part = this.#parts.find(({ start }) => start === tag.start);
      if (part === undefined) return;
      this.#active = new ExclusiveCanonicalizer(this.#utf8, part.sink);
      this.#partEnd = part.end;
    }
    this.#active.startElement(tag);
  }

  endElement(name: Name, start: number, end: number, plain: boolean): void {
    if (end === this.#signature.end) {
      this.#active = this.#document;
      return;
    }
    this.#active?.endElement(name, start, end, plain);
    if (end === this.#partEnd) {
      this.#active?.finish();
      this.#active = undefined;
      this.#partEnd = -1;
    }
  }

  text(start: number, end: number): void {
    this.#active?.text(start, end);
  }

  character(code: number): void {
    this.#active?.character(code);
  }

  instruction(target: Name, dataStart: number, dataEnd: number): void {
    this.#active?.instruction(target, dataStart, dataEnd);
  }

  comment(): void {}

  #count(tag: StartTag): void {
    for (let index = 0; index < tag.attributeCount; index++) {
      const attribute = tag.attributes[index];
      if (attribute === undefined || !namesElement(attribute)) continue;
      const value = attributeValue(this.#utf8, attribute);
      const before = this.occurrences.get(value);
      if (before !== undefined) this.occurrences.set(value, before + 1);
    }
  }
}
