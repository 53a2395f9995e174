/**
 * Prefixes in values: attribute values and text that are, list or contain qualified names, such as `xsi:type` and XPath
 * expressions. Exclusive canonicalization leaves their declarations out, so that they can be bound to another
 * namespace afterwards, unless its InclusiveNamespaces PrefixList names them (Exclusive XML Canonicalization 1.0 §1.3).
 */
import { type Attribute, attributeValue, type StartTag, type XmlListener } from './events.ts';
import type { Name, Names } from './names.ts';

const XSI = 'http://www.w3.org/2001/XMLSchema-instance';
const XSD = 'http://www.w3.org/2001/XMLSchema';

/** Attributes of XML Schema whose values are qualified names: without a prefix, in the default namespace. */
const SCHEMA_NAMES: ReadonlySet<string> = new Set([
  'base',
  'itemType',
  'ref',
  'refer',
  'substitutionGroup',
  'type',
]);

/** Longest value that is searched, in bytes: far above a list of names or an expression. */
const MAX_SEARCHED = 2 ** 16;

const START =
  'A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}\\u{200D}' +
  '\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}';
const PART = `${START}\\-.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}\\u{2040}`;

/** A prefix with the name or `*` after it; `child::p:a` counts, `urn:oid:1` does not. */
const QUALIFIED = new RegExp(
  `(?<![${PART}])(?<!(?<!:):)([${START}][${PART}]*):(?:\\*|[${START}][${PART}]*(?![${PART}:]))`,
  'gu',
);
/** A whole value that is one name. */
const ONE_NAME = new RegExp(`^\\s*(?:([${START}][${PART}]*):)?[${START}][${PART}]*\\s*$`, 'u');

const COLON = ':';

/** Passes all events on, and collects the prefixes in values. '' is the default namespace. */
export class ValuePrefixes implements XmlListener {
  /** Every prefix in a value. */
  readonly found = new Set<string>();
  /** Those in values of elements that do not use the prefix in their own names: the canonical form need not bind it there. */
  readonly loose = new Set<string>();
  readonly #bytes: Buffer;
  readonly #names: Names;
  readonly #next: XmlListener;
  /** By depth: prefixes of the open element's name and of its attributes' names, each with a space after it. */
  readonly #open: string[] = [];
  /** The text since the last tag: a range of the document, or what was put together. */
  #start = -1;
  #end = -1;
  #text: string | undefined;
  /** Offset of the next colon of the document. */
  #colon = -1;

  constructor(bytes: Buffer, names: Names, next: XmlListener) {
    this.#bytes = bytes;
    this.#names = names;
    this.#next = next;
  }

  startElement(tag: StartTag): void {
    this.#endText();
    this.#open.push(usedIn(tag));
    for (let index = 0; index < tag.attributeCount; index++)
      this.#attribute(tag, tag.attributes[index] as Attribute);
    this.#next.startElement(tag);
  }

  endElement(name: Name, start: number, end: number, plain: boolean): void {
    this.#endText();
    this.#open.pop();
    this.#next.endElement(name, start, end, plain);
  }

  text(start: number, end: number): void {
    if (this.#start < 0 && this.#text === undefined) {
      this.#start = start;
      this.#end = end;
    } else {
      this.#add(end - start > MAX_SEARCHED ? '' : this.#bytes.toString('utf8', start, end));
    }
    this.#next.text(start, end);
  }

  character(code: number): void {
    this.#add(String.fromCodePoint(code));
    this.#next.character(code);
  }

  instruction(target: Name, dataStart: number, dataEnd: number): void {
    this.#next.instruction(target, dataStart, dataEnd);
  }

  comment(start: number, end: number): void {
    this.#next.comment(start, end);
  }

  section(at: number): void {
    this.#next.section?.(at);
  }

  #add(more: string): void {
    if (this.#start >= 0) {
      const isLong = this.#end - this.#start > MAX_SEARCHED;
      this.#text = isLong ? '' : this.#bytes.toString('utf8', this.#start, this.#end);
      this.#start = -1;
    }
    const text = this.#text ?? '';
    if (text.length <= MAX_SEARCHED) this.#text = text + more;
  }

  #endText(): void {
    if (this.#start >= 0) {
      if (this.#hasColon(this.#start, this.#end))
        this.#search(this.#bytes.toString('utf8', this.#start, this.#end));
      this.#start = -1;
    } else if (this.#text !== undefined) {
      if (this.#text.length <= MAX_SEARCHED) this.#search(this.#text);
      this.#text = undefined;
    }
  }

  #attribute(tag: StartTag, attribute: Attribute): void {
    const { name, namespace, start, end, decoded } = attribute;
    const isType = namespace.uri === XSI;
    if (isType && name.local !== 'type') return;
    const isName =
      isType || (tag.namespace.uri === XSD && namespace.uri === '' && SCHEMA_NAMES.has(name.local));
    if (isName) this.#oneName(attributeValue(this.#bytes, attribute));
    else if (decoded !== undefined ? decoded.length <= MAX_SEARCHED : this.#hasColon(start, end))
      this.#search(attributeValue(this.#bytes, attribute));
  }

  /** Finds out with one search of the document for each colon. */
  #hasColon(start: number, end: number): boolean {
    if (end - start > MAX_SEARCHED) return false;
    if (this.#colon < start) {
      const at = this.#bytes.indexOf(COLON, start);
      this.#colon = at < 0 ? this.#bytes.length : at;
    }
    return this.#colon < end;
  }

  /** A value that is a name whether or not its prefix is declared yet. */
  #oneName(value: string): void {
    const match = ONE_NAME.exec(value);
    if (match !== null) this.#use(match[1] ?? '');
  }

  #search(value: string): void {
    for (const [, prefix = ''] of value.matchAll(QUALIFIED)) {
      const namespace = this.#names.prefix(prefix)?.namespace;
      if (namespace !== undefined && namespace.uri !== '') this.#use(prefix);
    }
  }

  #use(prefix: string): void {
    if (prefix === 'xml' || prefix === 'xmlns') return;
    this.found.add(prefix);
    if (!` ${this.#open.at(-1)}`.includes(` ${prefix} `)) this.loose.add(prefix);
  }
}

/** An attribute without prefix is in no namespace and uses none. */
function usedIn({ name, attributes, attributeCount }: StartTag): string {
  let used = `${name.prefix.text} `;
  for (let index = 0; index < attributeCount; index++) {
    const prefix = attributes[index]?.name.prefix.text ?? '';
    if (prefix !== '') used += `${prefix} `;
  }
  return used;
}
