/**
 * Enveloping signatures (EN 319 132-1 §6.3): the signed content is inside the signature, an XML document unchanged,
 * any other file in Base64.
 */
import { createHash, type Hash } from 'node:crypto';
import type { Source } from '../core/files.ts';
import { CryptoError } from '../core/types.ts';
import {
  type ByteSink,
  decodeXml,
  EXCLUSIVE,
  ExclusiveCanonicalizer,
  MAX_DEPTH,
  MAX_DOCUMENT_LENGTH,
  type Name,
  Names,
  readXml,
  type StartTag,
  ValuePrefixes,
  type XmlListener,
} from '../xml/index.ts';
import { BASE64, DS, EXCLUSIVE_C14N, OBJECT_TYPE } from './elements/identifiers.ts';
import { SignatureSurvey } from './elements/signature-survey.ts';
import { mimeTypeOf, mimeTypeText, transformText } from './elements/signature-text.ts';
import { ALONE, base64Of, idFor, type PlanRequest, type SigningPlan } from './plan.ts';

/**
 * Canonical form of a ds:Object that holds a whole document, produced while that document is read. White space and
 * processing instructions around its root are content of the object.
 */
class ObjectContent implements XmlListener {
  readonly #utf8: Buffer;
  readonly #sink: ByteSink;
  readonly #start: number;
  readonly #objectTag: StartTag;
  readonly #canonicalizer: ExclusiveCanonicalizer;
  #depth = 0;
  #deepest = 0;

  /**
   */
  constructor({
    utf8,
    names,
    start,
    object,
    sink,
  }: {
    readonly utf8: Buffer;
    /** Name table of the document. */
    readonly names: Names;
    /** Offset in `utf8` of the object's content. */
    readonly start: number;
    readonly object: ObjectFormat;
    readonly sink: ByteSink;
  }) {
    this.#utf8 = utf8;
    this.#sink = sink;
    this.#start = start;
    this.#objectTag = objectTag(names, object);
    this.#canonicalizer = new ExclusiveCanonicalizer(utf8, sink, { ...EXCLUSIVE, prefixes: object.prefixes });
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

interface ObjectFormat {
  readonly id: string;
  readonly mimeType: string;
  /** PrefixList of the canonicalization. */
  readonly prefixes: readonly string[];
}

/** Builds the start tag of the object as the reader would report it. */
function objectTag(names: Names, { id, mimeType }: ObjectFormat): StartTag {
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

/**
 * Plans an enveloping signature. XML that can't be embedded in another document is encoded in Base64 like every other
 * file: not well-formed, with a document type definition, too deeply nested, or with signatures inside, which a
 * surrounding document could invalidate.
 * @param document the bytes of `source` when it may be XML
 * @throws {CryptoError} `request.invalid` for an invalid media type; `input.unreadable`, `input.changed`
 */
export function planEnveloping(
  source: Source,
  document: Buffer | undefined,
  request: PlanRequest,
): SigningPlan {
  const plan = document === undefined ? undefined : planXml(document, request);
  return plan ?? planBase64(source, request);
}

/** True when the file may be XML, by its length and first bytes. */
export function mayBeXml(source: Source): boolean {
  if (source.size > MAX_DOCUMENT_LENGTH) return false;
  return /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\0?[ \t\r\n\0]*</.test(source.read(0, 64).toString('latin1'));
}

function planXml(document: Buffer, request: PlanRequest): SigningPlan | undefined {
  try {
    return planVerbatim(document, request);
  } catch (error) {
    if (error instanceof CryptoError && error.code.startsWith('xml.')) return undefined;
    throw error;
  }
}

function planVerbatim(document: Buffer, request: PlanRequest): SigningPlan | undefined {
  const decoded = decodeXml(document);
  const { utf8 } = decoded;
  const id = idFor(createHash('sha256').update(document).digest(), request);
  const { mimeType: given } = request.form;
  const mimeType = given === undefined ? 'application/xml' : mimeTypeText(given);
  const objectId = `${id}-object`;
  const start = declarationEnd(utf8);
  const canonicalize = (sink: ByteSink, prefixes: readonly string[]) => {
    const names = new Names();
    const content = new ObjectContent({
      utf8,
      names,
      start,
      object: { id: objectId, mimeType, prefixes },
      sink,
    });
    const values = new ValuePrefixes(utf8, names, content);
    const survey = new SignatureSurvey(utf8, names, values);
    content.finish(readXml(utf8, survey, names).end);
    const isPlain = survey.signatures === 0 && content.depth <= MAX_DEPTH && survey.isFree(id);
    return { isPlain, prefixes: [...values.found].sort() };
  };
  let signed = createHash(request.algorithm.digest);
  const { isPlain, prefixes } = canonicalize(signed, []);
  if (!isPlain) return undefined;
  if (prefixes.length > 0) {
    signed = createHash(request.algorithm.digest);
    canonicalize(signed, prefixes);
  }
  return {
    ...referring(id, signed, mimeType, transformText(EXCLUSIVE_C14N, prefixes)),
    prefixes,
    frame: {
      cut: decoded.toOriginal(start),
      resume: document.length,
      lead: '',
      trail: '',
      object: { open: `<ds:Object Id="${objectId}" MimeType="${mimeType}">`, content: 'verbatim' },
      encode: (text) => decoded.encode(text),
    },
    // An archive time-stamp has a canonicalization of its own, without a list.
    writeObjects: (sink) => void canonicalize(sink, []),
  };
}

/** Offset after the XML declaration, which must stay at the start of the file. */
function declarationEnd(utf8: Buffer): number {
  return /^<\?xml\s/.test(utf8.toString('latin1', 0, 6)) ? utf8.indexOf('?>') + 2 : 0;
}

function planBase64(source: Source, request: PlanRequest): SigningPlan {
  const signed = createHash(request.algorithm.digest);
  for (const chunk of source.chunks()) signed.update(chunk);
  const id = idFor(signed.copy().digest(), request);
  const { mimeType: given } = request.form;
  const mimeType = given === undefined ? mimeTypeOf(source.path) : mimeTypeText(given);
  const attributes = `Encoding="${BASE64}" Id="${id}-object" MimeType="${mimeType}"`;
  return {
    ...referring(id, signed, mimeType, transformText(BASE64)),
    prefixes: [],
    frame: {
      ...ALONE,
      cut: 0,
      resume: source.size,
      object: { open: `<ds:Object ${attributes}>`, content: 'base64' },
    },
    writeObjects: (sink) => {
      sink.update(Buffer.from(`<ds:Object xmlns:ds="${DS}" ${attributes}>`));
      for (const text of base64Of(source)) sink.update(Buffer.from(text));
      sink.update(Buffer.from('</ds:Object>'));
    },
  };
}

function referring(
  id: string,
  signed: Hash,
  mimeType: string,
  transforms: string,
): Pick<SigningPlan, 'id' | 'signed' | 'references'> {
  const digest = signed.copy().digest();
  return {
    id,
    signed,
    references: [{ uri: `#${id}-object`, type: OBJECT_TYPE, transforms, digest, mimeType }],
  };
}
