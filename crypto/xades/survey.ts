/**
 * What signing has to know of a document besides its digest, taken in the same reading: which identifiers are in use,
 * and whether a signature is there that a new one would break.
 */
import {
  attributeNamed,
  attributeValue,
  type ExclusiveCanonicalizer,
  type Name,
  type Names,
  namesElement,
  type StartTag,
  type XmlListener,
} from '../xml/index.ts';
import { DS, XPATH_FILTER } from './identifiers.ts';

/** Identifiers of ours begin so; only such values of the document have to be remembered. */
export const ID_PREFIX = 'xades-';

const NOT_IN_A_SIGNATURE = /^not\s*\(\s*ancestor-or-self\s*::\s*([^\s:()]+):Signature\s*\)$/;
const EVERY_SIGNATURE = /^\/(?:\/|descendant\s*::\s*)([^\s:()/]+):Signature$/;

export class SigningSurvey implements XmlListener {
  readonly #bytes: Buffer;
  readonly #names: Names;
  readonly #canonicalizer: ExclusiveCanonicalizer;
  readonly #taken = new Set<string>();
  readonly #rootIds: string[] = [];
  #depth = 0;
  /** Depth of the outermost ds:Signature we are in; 0 outside. */
  #signatureDepth = 0;
  /** Set while inside a ds:Reference of a signature. */
  #reference: { readonly uri: string | undefined; excludesSignatures: boolean } | undefined;
  /** Set while inside an XPath expression of a transform. */
  #expression: { text: string; readonly subtracts: boolean } | undefined;
  #breaks: string | undefined;

  constructor(bytes: Buffer, names: Names, canonicalizer: ExclusiveCanonicalizer) {
    this.#bytes = bytes;
    this.#names = names;
    this.#canonicalizer = canonicalizer;
  }

  /** Why a new enveloped signature would make an existing one invalid; undefined when none would suffer. */
  get broken(): string | undefined {
    return this.#breaks;
  }

  /** True when no identifier of the document begins with `id`. */
  isFree(id: string): boolean {
    for (const taken of this.#taken) if (taken.startsWith(id)) return false;
    return true;
  }

  startElement(tag: StartTag): void {
    this.#canonicalizer.startElement(tag);
    this.#depth++;
    for (let index = 0; index < tag.attributeCount; index++) {
      const attribute = tag.attributes[index];
      if (attribute === undefined || !namesElement(attribute)) continue;
      const value = attributeValue(this.#bytes, attribute);
      if (value.startsWith(ID_PREFIX)) this.#taken.add(value);
      if (this.#depth === 1) this.#rootIds.push(value);
    }
    if (tag.namespace.uri === DS) this.#startSignaturePart(tag);
    else if (
      tag.namespace.uri === XPATH_FILTER &&
      this.#reference !== undefined &&
      tag.name.local === 'XPath'
    ) {
      const filter = attributeNamed(this.#bytes, tag, 'Filter');
      this.#expression = { text: '', subtracts: filter === 'subtract' };
    }
  }

  endElement(name: Name, start: number, end: number, plain: boolean): void {
    this.#canonicalizer.endElement(name, start, end, plain);
    if (this.#reference !== undefined) {
      if (this.#expression !== undefined && name.local === 'XPath') this.#endExpression(this.#expression);
      if (name.local === 'Reference' && name.prefix.namespace?.uri === DS)
        this.#endReference(this.#reference);
    }
    if (this.#depth === this.#signatureDepth) this.#signatureDepth = 0;
    this.#depth--;
  }

  text(start: number, end: number): void {
    this.#canonicalizer.text(start, end);
    if (this.#expression !== undefined) this.#expression.text += this.#bytes.toString('utf8', start, end);
  }

  character(code: number): void {
    this.#canonicalizer.character(code);
    if (this.#expression !== undefined) this.#expression.text += String.fromCodePoint(code);
  }

  instruction(target: Name, dataStart: number, dataEnd: number): void {
    this.#canonicalizer.instruction(target, dataStart, dataEnd);
  }

  comment(): void {}

  #startSignaturePart(tag: StartTag): void {
    const { local } = tag.name;
    if (local === 'Signature') {
      if (this.#depth === 1)
        this.#breaks = 'the root element is itself a signature, which cannot hold another one';
      if (this.#signatureDepth === 0) this.#signatureDepth = this.#depth;
    } else if (this.#signatureDepth === 0) {
      return;
    } else if (local === 'Reference') {
      this.#reference = { uri: attributeNamed(this.#bytes, tag, 'URI'), excludesSignatures: false };
    } else if (local === 'XPath' && this.#reference !== undefined) {
      this.#expression = { text: '', subtracts: false };
    }
  }

  #endReference(reference: { readonly uri: string | undefined; readonly excludesSignatures: boolean }): void {
    this.#reference = undefined;
    if (reference.excludesSignatures || reference.uri === undefined) return;
    if (this.#coversRoot(reference.uri)) {
      this.#breaks ??= 'the document holds a signature over all of it, which a new one would make invalid';
    }
  }

  #coversRoot(uri: string): boolean {
    if (uri === '' || uri === '#xpointer(/)') return true;
    const id =
      /^#xpointer\(id\((["'])(.*)\1\)\)$/.exec(uri)?.[2] ?? (uri.startsWith('#') ? uri.slice(1) : undefined);
    return id !== undefined && this.#rootIds.includes(id);
  }

  /**
   * Notes the two usual ways to leave every signature out: the XPath transform `not(ancestor-or-self::ds:Signature)`
   * (XML Signature 1.1 §6.6.3) and the filter `subtract` of all signatures (XPath Filter 2.0).
   */
  #endExpression(expression: { readonly text: string; readonly subtracts: boolean }): void {
    this.#expression = undefined;
    const shape = expression.subtracts ? EVERY_SIGNATURE : NOT_IN_A_SIGNATURE;
    const prefix = shape.exec(expression.text.trim())?.[1];
    if (prefix === undefined || this.#names.prefix(prefix)?.namespace?.uri !== DS) return;
    if (this.#reference !== undefined) this.#reference.excludesSignatures = true;
  }
}
