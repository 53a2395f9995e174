/**
 * Canonical form of a ds:Object that holds a whole document, produced while that document is read. White space and
 * processing instructions around its root are content of the object.
 */
import {
  type ByteSink,
  ExclusiveCanonicalizer,
  type Name,
  type Names,
  readXml,
  type StartTag,
  type XmlListener,
} from '../xml/index.ts';
import { DS } from './elements/identifiers.ts';

export class ObjectContent implements XmlListener {
  readonly #utf8: Buffer;
  readonly #sink: ByteSink;
  readonly #start: number;
  readonly #objectTag: StartTag;
  readonly #canonicalizer: ExclusiveCanonicalizer;
  #depth = 0;
  #deepest = 0;

  /**
   * @param start offset in `utf8` of the object's content
   * @param names name table of the document
   */
  constructor(
    utf8: Buffer,
    names: Names,
    start: number,
    object: { readonly id: string; readonly mimeType: string },
    sink: ByteSink,
  ) {
    this.#utf8 = utf8;
    this.#sink = sink;
    this.#start = start;
    this.#objectTag = objectTag(names, object);
    this.#canonicalizer = new ExclusiveCanonicalizer(utf8, sink);
  }

  /** Nesting depth of elements, signature and object included. */
  get depth(): number {
    return this.#deepest + 2;
  }

  /** @param rootEnd offset after the root element */
  finish(rootEnd: number): void {
    this.#canonicalizer.finish();
    canonicalizeAround(this.#utf8.subarray(rootEnd), this.#sink);
    this.#canonicalizer.endElement(this.#objectTag.name, 0, 0, false);
    this.#canonicalizer.finish();
  }

  startElement(tag: StartTag): void {
    if (this.#depth++ === 0) {
      this.#canonicalizer.startElement(this.#objectTag);
      this.#canonicalizer.finish();
      canonicalizeAround(this.#utf8.subarray(this.#start, tag.start), this.#sink);
    }
    this.#deepest = Math.max(this.#deepest, this.#depth);
    this.#canonicalizer.startElement(tag);
  }

  endElement(name: Name, start: number, end: number, plain: boolean): void {
    this.#depth--;
    this.#canonicalizer.endElement(name, start, end, plain);
  }

  text(start: number, end: number): void {
    this.#canonicalizer.text(start, end);
  }

  character(code: number): void {
    this.#canonicalizer.character(code);
  }

  instruction(target: Name, dataStart: number, dataEnd: number): void {
    if (this.#depth > 0) this.#canonicalizer.instruction(target, dataStart, dataEnd);
  }

  comment(): void {}

  section(): void {}
}

/** Builds the start tag of the object as the reader would report it. */
function objectTag(
  names: Names,
  { id, mimeType }: { readonly id: string; readonly mimeType: string },
): StartTag {
  const attribute = (local: string, value: string): StartTag['attributes'][number] => ({
    name: nameOf(names.none, local, local),
    namespace: names.namespace(''),
    start: 0,
    end: 0,
    decoded: Buffer.from(value),
  });
  return {
    name: nameOf(names.declare('ds') ?? names.none, 'ds:Object', 'Object'),
    namespace: names.namespace(DS),
    attributes: [attribute('Id', id), attribute('MimeType', mimeType)],
    attributeCount: 2,
    declared: [],
    declaredCount: 0,
    start: 0,
    end: 0,
    empty: false,
    plain: false,
  };
}

function nameOf(prefix: Name['prefix'], text: string, local: string): Name {
  return { text, prefix, local, order: local, bytes: Buffer.from(text) };
}

/** Canonicalizes white space, comments and processing instructions as content of an element. */
function canonicalizeAround(misc: Buffer, sink: ByteSink): void {
  if (misc.length === 0) return;
  const wrapped = Buffer.concat([Buffer.from('<x>'), misc, Buffer.from('</x>')]);
  // The enclosing element provides the context only; its tags are not written.
  const inner = { open: false };
  const canonicalizer = new ExclusiveCanonicalizer(wrapped, {
    update: (bytes: Buffer) => (inner.open ? sink.update(bytes) : undefined),
  });
  readXml(wrapped, {
    startElement(tag) {
      canonicalizer.startElement(tag);
      canonicalizer.finish();
      inner.open = true;
    },
    endElement: () => {
      canonicalizer.finish();
      inner.open = false;
    },
    text: (start, end) => canonicalizer.text(start, end),
    character: (code) => canonicalizer.character(code),
    instruction: (target, start, end) => canonicalizer.instruction(target, start, end),
    comment: () => {},
  });
}
