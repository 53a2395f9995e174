/**
 * Canonical XML as a listener of the reader: canonical bytes go into a sink (usually a hash) while the document is
 * read; no part of it is kept.
 *
 * Exclusive XML Canonicalization 1.0 (https://www.w3.org/TR/xml-exc-c14n/ §3), Canonical XML 1.0 and 1.1 §2, each
 * with and without comments, for a whole document or one element, optionally with excluded elements.
 */
import { type ByteSink, CanonicalOutput } from './canonical-output.ts';
import { GREATER, LESS, LF, QUOTE, SPACE } from './characters.ts';
import { type Attribute, attributeValue, type StartTag, type XmlListener } from './events.ts';
import { type Name, type Names, type Namespace, NO_NAMESPACE, type Prefix } from './names.ts';
import { readElement, readXml, type SkippedElements } from './reader.ts';
import { bindingsOf, type InheritedAttribute, inheritedAttributes, type Scope } from './scope.ts';
import { ValuePrefixes } from './value-prefixes.ts';

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
class Canonicalizer implements XmlListener {
  readonly #source: Buffer;
  readonly #out: CanonicalOutput;
  readonly #method: CanonicalMethod;
  readonly #listed: ReadonlySet<string>;
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
    this.#listed = new Set(method.prefixes);
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
    if (!this.#exclusive || this.#listed.has(prefix.text)) this.#use(prefix, prefix.namespace);
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

/** Orders by namespace name, then by local name, in code point order (Canonical XML 1.0 §2.2). */
function compareAttributes(a: Attribute, b: Attribute): number {
  if (a.namespace !== b.namespace && a.namespace.order !== b.namespace.order) {
    return a.namespace.order < b.namespace.order ? -1 : 1;
  }
  return a.name.order < b.name.order ? -1 : 1;
}

/**
 * Returns all attributes of an apex element, unordered; undefined when it inherits none. Canonical XML 1.0 §2.4
 * inherits every `xml:` attribute; 1.1 §2.4 only `xml:lang` and `xml:space`, and joins `xml:base`.
 */
function apexAttributes(
  source: Buffer,
  tag: StartTag,
  scope: Scope,
  joinsBase: boolean,
): readonly Attribute[] | undefined {
  const around = inheritedAttributes(scope);
  if (around.size === 0) return undefined;
  const own = tag.attributes.slice(0, tag.attributeCount);
  const ownLocal = (local: string): Attribute | undefined =>
    own.find(({ name }) => name.prefix.text === 'xml' && name.local === local);
  const result = [...own];
  for (const [local, values] of around) {
    const [nearest] = values;
    if (nearest === undefined) continue;
    if (joinsBase && local === 'base') {
      const before = ownLocal('base');
      const joined = joinBase(before === undefined ? undefined : attributeValue(source, before), values);
      if (before !== undefined) result.splice(result.indexOf(before), 1);
      if (joined !== '') result.push(made(nearest, joined));
    } else if (ownLocal(local) === undefined && (!joinsBase || local === 'lang' || local === 'space')) {
      result.push(made(nearest, nearest.value));
    }
  }
  return result;
}

/** Joins the `xml:base` values. @param around values of the ancestors, innermost first */
function joinBase(own: string | undefined, around: readonly InheritedAttribute[]): string {
  const values = around.map(({ value }) => value);
  if (own !== undefined) values.unshift(own);
  const [innermost = '', ...others] = values;
  return others.reduce((joined, outer) => joinReferences(outer, joined), innermost);
}

function made({ name, namespace }: InheritedAttribute, value: string): Attribute {
  return { name, namespace, start: 0, end: 0, decoded: Buffer.from(value) };
}

/**
 * Joins two `xml:base` values (Canonical XML 1.1 §2.4): RFC 3986 §5.2 with a possibly relative base; leading `..`
 * segments stay and repeated slashes become one.
 */
interface ReferenceChunks {
  readonly scheme: string | undefined;
  readonly authority: string | undefined;
  readonly path: string;
  readonly query: string | undefined;
}

/** RFC 3986 appendix B; text that can't be a scheme belongs to the path. */
const REFERENCE =
  /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*)(?![^/?#]))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s;

/** Joins two references; both, and the result, may be relative or empty. */
export function joinReferences(base: string, reference: string): string {
  const from = parse(base);
  const to = parse(reference);
  if (to.scheme !== undefined) return text({ ...to, path: withoutDots(to.path) });
  if (to.authority !== undefined) return text({ ...to, scheme: from.scheme, path: withoutDots(to.path) });
  if (to.path === '') return text({ ...from, path: withoutDots(from.path), query: to.query ?? from.query });
  const path = to.path.startsWith('/') ? to.path : merged(from, to.path);
  return text({ ...from, path: withoutDots(path), query: to.query });
}

function parse(reference: string): ReferenceChunks {
  const [, scheme, authority, path = '', query] = REFERENCE.exec(reference) ?? [];
  return { scheme, authority, path, query };
}

/** RFC 3986 §5.2.3. A base that ends in `.` or `..` is a folder, as with a trailing slash. */
function merged(base: ReferenceChunks, path: string): string {
  if (base.authority !== undefined && base.path === '') return `/${path}`;
  const folder = /(?:^|\/)\.\.?$/.test(base.path) ? `${base.path}/` : base.path;
  return folder.slice(0, folder.lastIndexOf('/') + 1) + path;
}

/** RFC 3986 §5.2.4, except that relative paths keep leading `..` segments. */
function withoutDots(path: string): string {
  const absolute = path.startsWith('/');
  const segments = path.split(/\/+/);
  const folder = /(?:^|\/)\.{0,2}$/.test(path);
  const kept: string[] = [];
  for (const segment of segments) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') kept.push(segment);
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop();
    else if (!absolute) kept.push('..');
  }
  const inside = kept.join('/');
  return `${absolute ? '/' : ''}${inside}${folder && inside !== '' ? '/' : ''}`;
}

function text({ scheme, authority, path, query }: ReferenceChunks): string {
  return (
    (scheme === undefined ? '' : `${scheme}:`) +
    (authority === undefined ? '' : `//${authority}`) +
    path +
    (query === undefined ? '' : `?${query}`)
  );
}

/** A document with its name table. */
interface ReadDocument {
  /** UTF-8. */
  readonly utf8: Buffer;
  readonly names: Names;
}

const NO_PREFIXES: ReadonlySet<string> = new Set();

/**
 * Writes the canonical bytes of a range.
 * @param place undefined for the whole document, including content outside its root
 * @returns prefixes in values whose namespaces the bytes do not bind, '' for the default namespace
 * @throws CryptoError `input.too-large` when the output exceeds the growth limit; those of `readXml`
 */
export function canonicalize(
  { utf8, names }: ReadDocument,
  place: CanonicalPlace | undefined,
  {
    method,
    sink,
    without = [],
  }: {
    readonly method: CanonicalMethod;
    readonly sink: ByteSink;
    /** Elements excluded with their content; elements outside the range are ignored. */
    readonly without?: SkippedElements | undefined;
  },
): ReadonlySet<string> {
  const canonicalizer = new Canonicalizer(utf8, sink, method, place);
  const values = method.kind === 'exclusive' ? new ValuePrefixes(utf8, names, canonicalizer) : undefined;
  const listener = values ?? canonicalizer;
  if (place === undefined) readXml(utf8, listener, names, without);
  else readElement(utf8, place, { listener, names, skips: without });
  canonicalizer.finish();
  if (values === undefined || values.loose.size === 0) return NO_PREFIXES;
  return new Set([...values.loose].filter((prefix) => !method.prefixes.includes(prefix)));
}
