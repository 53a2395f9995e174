/**
 * Canonical XML as a listener of the reader: canonical bytes go into a sink (usually a hash) while the document is
 * read; no part of it is kept.
 *
 * Exclusive XML Canonicalization 1.0 (https://www.w3.org/TR/xml-exc-c14n/ §3), Canonical XML 1.0 and 1.1 §2, each
 * with and without comments, for a whole document or one element, optionally with excluded elements.
 */

import { apexAttributes, compareAttributes } from './canonical-attributes.ts';
import { type ByteSink, CanonicalOutput } from './canonical-output.ts';
import { GREATER, LESS, LF, QUOTE, SPACE } from './characters.ts';
import type { Attribute, StartTag, XmlListener } from './events.ts';
import { type Name, type Namespace, NO_NAMESPACE, type Prefix } from './names.ts';
import { bindingsOf, type Scope } from './scope.ts';

export interface CanonicalMethod {
  readonly kind: 'exclusive' | 'inclusive-1.0' | 'inclusive-1.1';
  readonly comments: boolean;
  /** InclusiveNamespaces PrefixList of the exclusive kind; '' is #default. */
  readonly prefixes: readonly string[];
}

export const EXCLUSIVE: CanonicalMethod = { kind: 'exclusive', comments: false, prefixes: [] };

/** Range of the source that is canonicalized. */
export interface CanonicalPlace {
  readonly start: number;
  readonly end: number;
  /** Scope inherited from the ancestors; undefined for a whole document. */
  readonly scope: Scope | undefined;
}

const XMLNS = Buffer.from(' xmlns');
const END_OPEN = Buffer.from('</');
const PI_OPEN = Buffer.from('<?');
const PI_CLOSE = Buffer.from('?>');
const COMMENT_OPEN = Buffer.from('<!--');
const COMMENT_CLOSE = Buffer.from('-->');
const VALUE_OPEN = Buffer.from('="');
const COLON = 0x3a;

/** Canonicalizes the events it receives. Call `finish` at the end. */
export class Canonicalizer implements XmlListener {
  readonly #source: Buffer;
  readonly #out: CanonicalOutput;
  readonly #method: CanonicalMethod;
  readonly #exclusive: boolean;
  readonly #inherits: boolean;
  readonly #scope: Scope | undefined;
  #depth = 0;
  #rootSeen = false;
  /** By prefix index: the namespace that the nearest output ancestor declared for the prefix. */
  readonly #written: (Namespace | undefined)[] = [];
  readonly #shadowed: { readonly prefix: Prefix; readonly namespace: Namespace | undefined }[] = [];
  readonly #marks: number[] = [];
  /** Prefixes that the current tag must declare. */
  readonly #fresh: Prefix[] = [];

  constructor(source: Buffer, sink: ByteSink, method = EXCLUSIVE, place?: CanonicalPlace) {
    this.#source = source;
    this.#out = new CanonicalOutput(
      source,
      sink,
      place === undefined ? source.length : place.end - place.start,
    );
    this.#method = method;
    this.#exclusive = method.kind === 'exclusive';
    this.#inherits = !this.#exclusive || method.prefixes.length > 0;
    this.#scope = place?.scope;
  }

  startElement(tag: StartTag): void {
    const apex = this.#depth++ === 0;
    this.#rootSeen = true;
    this.#marks.push(this.#shadowed.length);
    if (this.#fresh.length > 0) this.#fresh.length = 0;
    if (this.#inherits) {
      if (apex && this.#scope !== undefined) this.#inheritNamespaces(this.#scope);
      for (let index = 0; index < tag.declaredCount; index++) this.#declare(tag.declared[index] as Prefix);
      if (apex && this.#scope !== undefined && !this.#exclusive) {
        const attributes = apexAttributes(
          this.#source,
          tag,
          this.#scope,
          this.#method.kind === 'inclusive-1.1',
        );
        if (attributes !== undefined) {
          this.#tag(tag, attributes, attributes.length, false);
          return;
        }
      }
    }
    if (this.#exclusive) this.#use(tag.name.prefix, tag.namespace);
    let sorted = true;
    for (let index = 0; index < tag.attributeCount; index++) {
      const attribute = tag.attributes[index] as Attribute;
      const { prefix } = attribute.name;
      if (this.#exclusive && prefix.text !== '') this.#use(prefix, attribute.namespace);
      if (index > 0 && sorted)
        sorted = compareAttributes(tag.attributes[index - 1] as Attribute, attribute) < 0;
    }
    if (tag.plain && sorted && this.#fresh.length === 0) {
      this.#out.run(tag.start, tag.end);
      return;
    }
    this.#tag(tag, tag.attributes, tag.attributeCount, sorted);
  }

  endElement(name: Name, start: number, end: number, plain: boolean): void {
    this.#depth--;
    if (plain) {
      this.#out.run(start, end);
    } else {
      this.#out.bytes(END_OPEN);
      this.#out.bytes(name.bytes);
      this.#out.byte(GREATER);
    }
    const mark = this.#marks.pop() ?? 0;
    while (this.#shadowed.length > mark) {
      const last = this.#shadowed.pop();
      if (last !== undefined) this.#written[last.prefix.index] = last.namespace;
    }
  }

  text(start: number, end: number): void {
    this.#out.run(start, end);
  }

  character(code: number): void {
    this.#out.character(code);
  }

  instruction(target: Name, dataStart: number, dataEnd: number): void {
    this.#beginOutside();
    this.#out.bytes(PI_OPEN);
    this.#out.bytes(target.bytes);
    if (dataEnd > dataStart) {
      this.#out.byte(SPACE);
      this.#out.lines(dataStart, dataEnd);
    }
    this.#out.bytes(PI_CLOSE);
    this.#endOutside();
  }

  comment(start: number, end: number): void {
    if (!this.#method.comments) return;
    this.#beginOutside();
    this.#out.bytes(COMMENT_OPEN);
    this.#out.lines(start, end);
    this.#out.bytes(COMMENT_CLOSE);
    this.#endOutside();
  }

  section(): void {}

  /** Flushes pending output. */
  finish(): void {
    this.#out.finish();
  }

  // Canonical XML 1.0 §2.3: outside the root, each instruction and comment is on its own line.
  #beginOutside(): void {
    if (this.#depth === 0 && this.#rootSeen) this.#out.byte(LF);
  }

  #endOutside(): void {
    if (this.#depth === 0 && !this.#rootSeen) this.#out.byte(LF);
  }

  /** Adds namespaces of omitted ancestors to the apex element. */
  #inheritNamespaces(scope: Scope): void {
    for (const prefix of bindingsOf(scope).keys()) this.#declare(prefix);
  }

  #declare(prefix: Prefix): void {
    if (prefix.namespace === undefined) return;
    if (!this.#exclusive || this.#method.prefixes.includes(prefix.text)) this.#use(prefix, prefix.namespace);
  }

  /** Records a use of the prefix: a declaration is needed unless an output ancestor has the same one. */
  #use(prefix: Prefix, namespace: Namespace): void {
    const written = this.#written[prefix.index] ?? NO_NAMESPACE;
    if (written === namespace || written.uri === namespace.uri || prefix.text === 'xml') return;
    this.#shadowed.push({ prefix, namespace: this.#written[prefix.index] });
    this.#written[prefix.index] = namespace;
    this.#fresh.push(prefix);
  }

  #tag(tag: StartTag, attributes: readonly Attribute[], count: number, sorted: boolean): void {
    this.#out.byte(LESS);
    this.#out.bytes(tag.name.bytes);
    this.#declarations();
    if (sorted) {
      for (let index = 0; index < count; index++) this.#attribute(attributes[index] as Attribute);
    } else {
      for (const attribute of attributes.slice(0, count).sort(compareAttributes)) this.#attribute(attribute);
    }
    this.#out.byte(GREATER);
  }

  #declarations(): void {
    const fresh = this.#fresh;
    if (fresh.length > 1) fresh.sort((a, b) => (a.order < b.order ? -1 : 1));
    for (const prefix of fresh) {
      this.#out.bytes(XMLNS);
      if (prefix.text !== '') {
        this.#out.byte(COLON);
        this.#out.bytes(prefix.bytes);
      }
      this.#out.bytes(VALUE_OPEN);
      this.#out.bytes((this.#written[prefix.index] ?? NO_NAMESPACE).escaped);
      this.#out.byte(QUOTE);
    }
  }

  #attribute(attribute: Attribute): void {
    this.#out.byte(SPACE);
    this.#out.bytes(attribute.name.bytes);
    this.#out.bytes(VALUE_OPEN);
    if (attribute.decoded === undefined) this.#out.run(attribute.start, attribute.end);
    else this.#out.value(attribute.decoded);
    this.#out.byte(QUOTE);
  }
}

/** The default method under its own name: exclusive, without comments. */
export { Canonicalizer as ExclusiveCanonicalizer };
