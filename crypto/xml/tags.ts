/**
 * Start tags: attributes, their normalised values, and namespace declarations. XML 1.0 §3.1 and §3.3.3 (every
 * attribute is of type CDATA without a document type definition) and Namespaces in XML 1.0.
 */
import {
  AMPERSAND,
  APOSTROPHE,
  CR,
  EQUALS,
  GREATER,
  isSpace,
  LESS,
  LF,
  QUOTE,
  SLASH,
  SPACE,
  VALUE_STOP,
  writeCodePoint,
} from './characters.ts';
import type { Attribute, StartTag } from './events.ts';
import { MAX_ATTRIBUTES, MAX_VALUE_LENGTH } from './limits.ts';
import { type Namespace, NO_NAMESPACE, type Prefix, XML_NAMESPACE, XMLNS_NAMESPACE } from './names.ts';
import type { Scanner } from './scanner.ts';

/** Attribute count up to which pairwise comparison is cheaper than a set. */
const PAIRWISE = 12;

export class TagReader {
  readonly #scanner: Scanner;
  readonly tag: StartTag;
  /** Bindings to restore, innermost last. */
  readonly #shadowed: { readonly prefix: Prefix; readonly namespace: Namespace | undefined }[] = [];

  constructor(scanner: Scanner) {
    this.#scanner = scanner;
    this.tag = {
      name: { text: '', prefix: scanner.names.none, local: '', order: '', bytes: Buffer.alloc(0) },
      namespace: NO_NAMESPACE,
      attributes: [],
      attributeCount: 0,
      declared: [],
      declaredCount: 0,
      start: 0,
      end: 0,
      empty: false,
      plain: true,
    };
  }

  /** Number of shadowed bindings; `release` restores down to this number when the element ends. */
  get mark(): number {
    return this.#shadowed.length;
  }

  release(mark: number): void {
    while (this.#shadowed.length > mark) {
      const last = this.#shadowed.pop();
      if (last !== undefined) last.prefix.namespace = last.namespace;
    }
  }

  /** Reads the start tag at the position (its `<`). */
  read(): StartTag {
    const { tag } = this;
    const scanner = this.#scanner;
    scanner.names.tags++;
    tag.start = scanner.position++;
    tag.attributeCount = 0;
    tag.declaredCount = 0;
    tag.empty = false;
    tag.plain = true;
    tag.name = scanner.name('an element name');
    for (;;) {
      const spaces = scanner.skipSpace();
      const byte = scanner.peek();
      if (byte === GREATER) {
        if (spaces > 0) tag.plain = false;
        scanner.position++;
        break;
      }
      if (byte === SLASH) {
        scanner.position++;
        if (scanner.peek() !== GREATER) throw scanner.fail('"/" in a tag must be followed by ">"');
        scanner.position++;
        tag.empty = true;
        tag.plain = false;
        break;
      }
      if (scanner.atEnd) throw scanner.fail('the document ends inside a tag');
      if (spaces === 0) throw scanner.fail('white space is needed before an attribute');
      if (spaces !== 1 || scanner.peek(-1) !== SPACE) tag.plain = false;
      this.#attribute();
    }
    tag.end = scanner.position;
    this.#resolve();
    return tag;
  }

  #attribute(): void {
    const { tag } = this;
    const scanner = this.#scanner;
    const nameStart = scanner.position;
    if (tag.attributeCount + tag.declaredCount >= MAX_ATTRIBUTES) {
      throw scanner.unread(`more than ${MAX_ATTRIBUTES} attributes on one element`);
    }
    const name = scanner.name('an attribute name');
    const gap = scanner.skipSpace();
    if (scanner.peek() !== EQUALS) throw scanner.fail('"=" is expected after an attribute name');
    scanner.position++;
    if (gap + scanner.skipSpace() > 0) tag.plain = false;
    const quote = scanner.peek();
    if (quote !== QUOTE && quote !== APOSTROPHE) throw scanner.fail('an attribute value must be in quotes');
    if (quote === APOSTROPHE) tag.plain = false;
    scanner.position++;

    let attribute = tag.attributes[tag.attributeCount];
    if (attribute === undefined) {
      attribute = { name, namespace: NO_NAMESPACE, start: 0, end: 0, decoded: undefined };
      tag.attributes.push(attribute);
    }
    attribute.name = name;
    this.#value(quote, attribute);
    if (attribute.decoded !== undefined) tag.plain = false;

    if (name.prefix.text === 'xmlns') this.#declare(name.local, attribute, nameStart);
    else if (name.text === 'xmlns') this.#declare('', attribute, nameStart);
    else tag.attributeCount++;
  }

  /** Reads a value up to the closing quote; decodes only when the value differs from the written text. */
  #value(quote: number, attribute: Attribute): void {
    const scanner = this.#scanner;
    const { bytes } = scanner;
    const start = scanner.position;
    let at = start;
    let decodes = false;
    for (; ; at++) {
      while (at < bytes.length && VALUE_STOP[bytes[at] as number] === 0) at++;
      if (at >= bytes.length) throw scanner.fail('the document ends inside an attribute value', at);
      const byte = bytes[at];
      if (byte === quote) break;
      if (byte === LESS) throw scanner.fail('"<" is not allowed in an attribute value', at);
      scanner.checkCharacter(at);
      if (byte === QUOTE || byte === AMPERSAND || isSpace(byte)) decodes = true;
    }
    if (at - start > MAX_VALUE_LENGTH) {
      throw scanner.unread(`an attribute value is longer than ${MAX_VALUE_LENGTH} bytes`, start);
    }
    attribute.start = start;
    attribute.end = at;
    attribute.decoded = decodes ? this.#decode(start, at) : undefined;
    scanner.position = at + 1;
  }

  /**
   * Normalises a value (XML 1.0 §2.11 and §3.3.3): line ends and white space become spaces, references are resolved.
   */
  #decode(start: number, end: number): Buffer {
    const scanner = this.#scanner;
    const { bytes } = scanner;
    // A reference is never shorter than the UTF-8 of its character.
    const value = Buffer.allocUnsafe(end - start);
    let length = 0;
    for (let at = start; at < end; at++) {
      const byte = bytes[at] as number;
      if (byte === AMPERSAND) {
        scanner.position = at;
        length = writeCodePoint(value, length, scanner.reference());
        if (scanner.position > end) throw scanner.fail('a reference in an attribute value does not end', at);
        at = scanner.position - 1;
      } else if (byte === CR && bytes[at + 1] === LF) {
        // The following LF becomes the space.
      } else {
        value[length++] = isSpace(byte) ? SPACE : byte;
      }
    }
    return value.subarray(0, length);
  }

  #declare(local: string, attribute: Attribute, at: number): void {
    const { tag } = this;
    const scanner = this.#scanner;
    const uri = (attribute.decoded ?? scanner.bytes.subarray(attribute.start, attribute.end)).toString(
      'utf8',
    );
    tag.plain = false;
    const prefix = scanner.names.declare(local);
    if (prefix === undefined) throw scanner.unread('the document uses too many different prefixes', at);
    if (prefix.declaredBy === scanner.names.tags)
      throw scanner.fail(`the prefix "${local}" is declared twice`, at);
    if (local === 'xmlns' || uri === XMLNS_NAMESPACE) throw scanner.fail('"xmlns" cannot be declared', at);
    if ((local === 'xml') !== (uri === XML_NAMESPACE)) {
      throw scanner.fail('the prefix "xml" and its namespace belong to each other alone', at);
    }
    if (local !== '' && uri === '') throw scanner.fail(`the prefix "${local}" is declared as nothing`, at);
    // Canonical XML 1.0 §1.3 defines no canonical form for relative namespace names, so verifiers could not agree.
    if (uri !== '' && !/^[A-Za-z][A-Za-z0-9+.-]*:/.test(uri)) {
      throw scanner.fail('a namespace name is relative; such a document has no canonical form', at);
    }
    prefix.declaredBy = scanner.names.tags;
    tag.declared[tag.declaredCount++] = prefix;
    this.#shadowed.push({ prefix, namespace: prefix.namespace });
    prefix.namespace = scanner.names.namespace(uri);
  }

  /** Resolves namespaces after all declarations of the tag are known, and detects duplicate attributes. */
  #resolve(): void {
    const { tag } = this;
    const namespace = tag.name.prefix.namespace;
    if (namespace === undefined) throw this.#undeclared(tag.name.prefix, tag.start);
    tag.namespace = namespace;
    const seen = tag.attributeCount > PAIRWISE ? new Set<string>() : undefined;
    for (let index = 0; index < tag.attributeCount; index++) {
      const attribute = tag.attributes[index] as Attribute;
      const { prefix, local } = attribute.name;
      if (prefix.text === '') attribute.namespace = NO_NAMESPACE;
      else if (prefix.namespace === undefined) throw this.#undeclared(prefix, attribute.start);
      else attribute.namespace = prefix.namespace;
      if (seen !== undefined) {
        const key = `${local} ${attribute.namespace.uri}`;
        if (seen.has(key)) throw this.#twice(attribute);
        seen.add(key);
        continue;
      }
      for (let before = 0; before < index; before++) {
        const other = tag.attributes[before] as Attribute;
        if (other.name.local === local && other.namespace.uri === attribute.namespace.uri)
          throw this.#twice(attribute);
      }
    }
  }

  #undeclared(prefix: Prefix, at: number): Error {
    return this.#scanner.fail(`the prefix "${prefix.text}" is not declared`, at);
  }

  #twice(attribute: Attribute): Error {
    return this.#scanner.fail(`the attribute "${attribute.name.text}" occurs twice`, attribute.start);
  }
}
