/** Dereferencing and transforms (XML Signature 1.1 §4.4.3.2), restricted to the document and the given contents. */
import { createHash } from 'node:crypto';
import type { Source } from '../../core/files.ts';
import { CryptoError } from '../../core/types.ts';
import type { SubIndication } from '../../core/validation-report.ts';
import { WorkBudget } from '../../core/work-budget.ts';
import type { Certificate } from '../../x509/certificate.ts';
import type { HashName } from '../../x509/signature-algorithms.ts';
import {
  type ByteSink,
  type CanonicalMethod,
  canonicalize,
  decodeXml,
  MAX_DOCUMENT_LENGTH,
  Names,
  readElement,
  readXml,
  UnreadXml,
  type XmlListener,
} from '../../xml/index.ts';
import type { ElementPath } from '../elements/element-path.ts';
import { DEFAULT_CANONICAL } from './algorithms.ts';
import type { DocumentMap, ElementPlace } from './document-map.ts';
import { type FilteredData, type WrittenData, writeFiltered } from './filtered-data.ts';
import { FormFault, holds, type SignatureNode } from './signature-node.ts';
import { type ReferenceFormat, type Target, targetOf } from './signed-info.ts';
import { TextSplitFinder, type TextSplits } from './text-splits.ts';
import { changesNodes, type Processing, readTransforms, stagesOf, TransformFault } from './transforms.ts';

/** Bytes of a detached content. A `Source` is one. */
export type SignedContent = Pick<Source, 'size' | 'chunks'>;

/**
 * Finds the content that a reference names outside the signature's file; undefined when it is not available. `uri` is
 * as written; undefined for a reference without URI. Nothing is ever fetched.
 */
export type ContentFinder = (uri: string | undefined) => SignedContent | undefined;

/** Reason why the data of a reference can't be obtained. */
export class DataFault extends Error {
  readonly subIndication: SubIndication;
  constructor(subIndication: SubIndication, message: string) {
    super(message);
    this.subIndication = subIndication;
  }
}

/** The transforms are not followed, or leave nothing: what is signed is not known, and nothing is proven to be broken. */
export class TransformsFault extends DataFault {
  constructor(message: string) {
    super('SIGNED_DATA_NOT_FOUND', `of its transforms, ${message}`);
  }
}

/** Dereferenced data of a reference. */
export type FoundData =
  | { readonly kind: 'document'; readonly target: Target; readonly processing: Processing }
  | {
      readonly kind: 'element';
      readonly place: ElementPlace;
      readonly target: Target & { readonly kind: 'element' | 'document' };
      readonly processing: Processing;
    }
  | {
      readonly kind: 'outside';
      readonly content: SignedContent;
      readonly uri: string | undefined;
      readonly processing: Processing;
    };

/** Document, contents and work limits that the references of one file share. */
export interface ReferenceContext {
  readonly map: DocumentMap;
  readonly content: ContentFinder;
  /** Finds contents for counter-signatures: they make no content signed. */
  readonly countersigned: ContentFinder;
  /** Candidates for certificates that a signature lacks; untrusted. @default none */
  readonly given?: readonly Certificate[];
  /** Bytes of the document that may still be canonicalized for references and time-stamps. */
  readonly budget: WorkBudget;
  /** Comparisons that filters may still make. */
  readonly comparisons: WorkBudget;
  /** Digests computed so far. */
  readonly digests: Map<string, Buffer>;
  /** Numbers of contents, for the keys of `digests`. */
  readonly contents: Map<SignedContent, number>;
  /** Markup inside of the text of contents that are XML. */
  readonly splits: Map<SignedContent, TextSplits>;
  /** Data that was written with the canonicalization of its reference, by `keyOf`. */
  readonly written: Map<string, WrittenData>;
}

/**
 * Canonicalization budget: far above a document of which a few signatures cover everything, below hundreds of
 * references to the whole document.
 */
const BUDGET = 2 ** 26;
const BUDGET_TIMES = 16;
/** Comparisons of filters: some seconds, and many times what the profiles in use need for a large document. */
const COMPARISONS = 2 ** 26;

export function referenceContext(
  map: DocumentMap,
  content: ContentFinder,
  countersigned = content,
): ReferenceContext {
  const budget = new WorkBudget({
    limit: BUDGET + BUDGET_TIMES * map.utf8.length,
    exceeded: () =>
      new DataFault('GENERIC', 'the signatures of this file cover the same bytes too many times'),
  });
  const comparisons = new WorkBudget({
    limit: COMPARISONS,
    exceeded: () => new TransformsFault('XPath expressions take too much work'),
  });
  return {
    map,
    comparisons,
    content,
    countersigned,
    budget,
    digests: new Map(),
    contents: new Map(),
    splits: new Map(),
    written: new Map(),
  };
}

/** Dereferences a reference. @throws {DataFault} @throws {FormFault} */
export function findData(context: ReferenceContext, reference: ReferenceFormat): FoundData {
  const processing = acceptedTransforms(reference);
  const target = targetOf(reference.uri);
  switch (target.kind) {
    case 'document':
      return processing.element === undefined
        ? { kind: 'document', target, processing }
        : { kind: 'element', place: selected(context.map, processing.element), target, processing };
    case 'unknown':
      throw new DataFault(
        'SIGNED_DATA_NOT_FOUND',
        `"${printable(reference.uri)}" is a pointer that is not followed`,
      );
    case 'element': {
      if (processing.element !== undefined)
        throw new TransformsFault('a path selects something of an element that is named already');
      // Some programs give the reference the identifier of its target; it stands in what the key signs.
      const [place, another] = context.map
        .elementsNamed(target.id)
        .filter(({ start }) => start !== reference.node.start);
      if (place === undefined)
        throw new DataFault(
          'SIGNED_DATA_NOT_FOUND',
          `no element has the identifier "${printable(target.id)}"`,
        );
      if (another !== undefined) {
        throw new DataFault(
          'FORMAT_FAILURE',
          `several elements have the identifier "${printable(target.id)}"`,
        );
      }
      return { kind: 'element', place, target, processing };
    }
    case 'outside': {
      const content = context.content(target.uri);
      if (content === undefined) {
        const named = target.uri === undefined ? 'what it does not name' : `"${printable(target.uri)}"`;
        throw new DataFault('SIGNED_DATA_NOT_FOUND', `${named} is not at hand`);
      }
      // XML Signature 1.1 §6.6.4: the enveloped transform takes the document of the signature.
      if (stagesOf(processing).some(({ enveloped }) => enveloped))
        throw new DataFault('FORMAT_FAILURE', 'a file outside cannot be the one the signature stands in');
      if (changesNodes(processing) || processing.element !== undefined)
        throw new TransformsFault('an XPath transform selects something of a file outside');
      return { kind: 'outside', content, uri: target.uri, processing };
    }
  }
}

/** Finds the one element that a location path of a transform names. @throws {DataFault} */
function selected(map: DocumentMap, path: ElementPath): ElementPlace {
  const found = map.elementsAt(path);
  if (found === undefined) {
    throw new DataFault('GENERIC', 'there are more location paths than are followed');
  }
  const [place, another] = found;
  if (place === undefined) {
    throw new DataFault('SIGNED_DATA_NOT_FOUND', 'no element stands where its location path leads');
  }
  if (another === undefined) return place;
  throw new DataFault('FORMAT_FAILURE', 'several elements stand where its location path leads');
}

function acceptedTransforms({ transforms }: ReferenceFormat): Processing {
  try {
    return readTransforms(transforms);
  } catch (error) {
    if (error instanceof TransformFault) throw new TransformsFault(error.message);
    throw error;
  }
}

/**
 * Digests the data; each way of processing is computed once.
 * @throws {DataFault}
 */
export function digestData(
  context: ReferenceContext,
  found: FoundData,
  signature: SignatureNode,
  hash: HashName,
): Buffer {
  const key = `${hash} ${keyOf(context, found, signature)}`;
  let digest = context.digests.get(key);
  if (digest === undefined) {
    const hasher = createHash(hash);
    writeData(context, found, { signature, sink: hasher });
    digest = hasher.digest();
    context.digests.set(key, digest);
  }
  return digest;
}

function keyOf({ contents }: ReferenceContext, found: FoundData, signature: SignatureNode): string {
  const { element: _, ...stage } = found.processing;
  const isOwn = stage.enveloped || stage.filter !== undefined || stage.next !== undefined;
  const processing = JSON.stringify([isOwn ? signature.start : 0, stage]);
  if (found.kind === 'outside') {
    const number = contents.get(found.content) ?? contents.size;
    contents.set(found.content, number);
    return `outside ${number} ${processing}`;
  }
  const { comments } = found.target as { readonly comments: boolean };
  return `${found.kind === 'element' ? found.place.start : 'document'} ${comments} ${processing}`;
}

/**
 * Writes the bytes of a reference's data.
 * @throws {DataFault}
 */
export function writeData(
  context: ReferenceContext,
  found: FoundData,
  {
    signature,
    sink,
    method = DEFAULT_CANONICAL,
  }: {
    readonly signature: SignatureNode;
    readonly sink: ByteSink;
    /** Canonicalization for data that no transform turns into bytes. */
    readonly method?: CanonicalMethod | undefined;
  },
): void {
  guarded(() => {
    const written =
      found.kind === 'outside'
        ? { filtered: undefined, loosePrefixes: writeOutside(context, found.content, found.processing, sink) }
        : writeInside(context, found, { signature, sink, method });
    const key = keyOf(context, found, signature);
    // A time-stamp over the same data has a canonicalization of its own.
    if (!context.written.has(key)) context.written.set(key, written);
  });
}

/** Converts every error about the bytes into a DataFault. */
function guarded<T>(write: () => T): T {
  try {
    return write();
  } catch (error) {
    if (error instanceof Base64Fault || error instanceof FormFault) {
      throw new DataFault('FORMAT_FAILURE', error.message);
    }
    if (error instanceof TransformFault) throw new TransformsFault(error.message);
    if (error instanceof UnreadXml) throw new DataFault('GENERIC', error.message.replace(/\.$/, ''));
    if (error instanceof CryptoError && /^(xml\.|input\.too-large)/.test(error.code)) {
      throw new DataFault('FORMAT_FAILURE', error.message.replace(/\.$/, ''));
    }
    throw error;
  }
}

function writeInside(
  context: ReferenceContext,
  found: Exclude<FoundData, { readonly kind: 'outside' }>,
  {
    signature,
    sink,
    method,
  }: { readonly signature: SignatureNode; readonly sink: ByteSink; readonly method: CanonicalMethod },
): WrittenData {
  const { map } = context;
  const { processing } = found;
  const place = found.kind === 'element' ? found.place : undefined;
  if (leavesNothing(map, place ?? map.root, processing, signature)) {
    throw new DataFault('FORMAT_FAILURE', 'its transforms leave nothing of what it is over');
  }
  context.budget.spend(place === undefined ? map.utf8.length : place.end - place.start);
  if (processing.output === 'base64') {
    const decoder = new Base64Decoder(sink);
    const scope = place?.scope;
    const start = place?.start ?? map.root.start;
    readElement(
      map.utf8,
      { start, scope },
      { listener: new Base64Element(map.utf8, decoder), names: map.names },
    );
    decoder.finish();
    return { filtered: undefined, loosePrefixes: new Set() };
  }
  const { comments } = found.target as { readonly comments: boolean };
  const written = { map, place, processing, own: signature, comments, method };
  return writeFiltered({ ...written, budget: context.budget, comparisons: context.comparisons }, sink);
}

/** Returns what filters kept of digested data; undefined when there are none. */
export function filteredData(
  context: ReferenceContext,
  found: FoundData,
  signature: SignatureNode,
): FilteredData | undefined {
  return context.written.get(keyOf(context, found, signature))?.filtered;
}

/** Returns prefixes in values of digested data whose namespaces are not digested with it. */
export function loosePrefixes(
  context: ReferenceContext,
  found: FoundData,
  signature: SignatureNode,
): ReadonlySet<string> {
  return context.written.get(keyOf(context, found, signature))?.loosePrefixes ?? new Set();
}

function leavesNothing(
  { outermost }: DocumentMap,
  place: { readonly start: number; readonly end: number },
  { enveloped, withoutSignatures }: Processing,
  own: SignatureNode,
): boolean {
  if (enveloped && holds(own, place)) return true;
  return withoutSignatures && outermost.some((signature) => holds(signature, place));
}

function writeOutside(
  context: ReferenceContext,
  content: SignedContent,
  { output }: Processing,
  sink: ByteSink,
): ReadonlySet<string> {
  if (output === undefined) {
    for (const chunk of content.chunks()) sink.update(chunk);
  } else if (output === 'base64') {
    const decoder = new Base64Decoder(sink);
    for (const chunk of content.chunks()) decoder.add(chunk.toString('latin1'));
    decoder.finish();
  } else {
    const utf8 = readOutside(context, content);
    const loose = canonicalize({ utf8, names: new Names() }, undefined, { method: output, sink });
    if (context.splits.has(content)) return loose;
    const splits = new TextSplitFinder(utf8);
    readXml(utf8, splits);
    context.splits.set(content, splits);
    return loose;
  }
  return new Set();
}

/** Reads a content as XML, in UTF-8. @throws {DataFault} @throws {CryptoError} */
function readOutside(context: ReferenceContext, content: SignedContent): Buffer {
  if (content.size > MAX_DOCUMENT_LENGTH)
    throw new DataFault('GENERIC', `as XML it is too large (${content.size} bytes)`);
  context.budget.spend(content.size);
  const parts: Buffer[] = [];
  for (const chunk of content.chunks()) parts.push(Buffer.from(chunk));
  return decodeXml(Buffer.concat(parts)).utf8;
}

/**
 * Writes the canonical bytes of an element of the signature itself.
 * @returns as `canonicalize`
 * @throws {DataFault}
 */
export function writeNode(
  context: ReferenceContext,
  node: SignatureNode,
  method: CanonicalMethod,
  sink: ByteSink,
): ReadonlySet<string> {
  return guarded(() => {
    context.budget.spend(node.end - node.start);
    return canonicalize(context.map, node, { method, sink });
  });
}

/** Shortens a text of the file for messages. */
export function printable(text: string | undefined): string {
  const plain = (text ?? '').replace(/[\p{Cc}\p{Cf}]/gu, '?');
  return plain.length > 100 ? `${plain.slice(0, 100)}…` : plain;
}

/** Text that is not Base64; the message is the end of a sentence. */
class Base64Fault extends Error {}

/** Characters collected before decoding. */
const CHUNK_CHARACTERS = 64 * 1024;

class Base64Decoder {
  readonly #sink: ByteSink;
  #pending = '';
  #ended = false;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /** @throws {Base64Fault} for anything but the alphabet, white space and padding at the end */
  add(text: string): void {
    const bare = text.replace(/[ \t\r\n]+/g, '');
    if (bare === '') return;
    if (this.#ended || !/^[A-Za-z0-9+/]*={0,2}$/.test(bare)) throw new Base64Fault('it is not base64');
    // Padding can be split between chunks, so the end is known only in `finish`.
    this.#pending += bare;
    if (this.#pending.length >= CHUNK_CHARACTERS && !bare.endsWith('='))
      this.#decode(this.#pending.length & ~3);
  }

  /** @throws {Base64Fault} */
  finish(): void {
    if (this.#pending.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(this.#pending))
      throw new Base64Fault('it is not base64');
    this.#decode(this.#pending.length);
    this.#ended = true;
  }

  #decode(length: number): void {
    if (length > 0) this.#sink.update(Buffer.from(this.#pending.slice(0, length), 'base64'));
    this.#pending = this.#pending.slice(length);
  }
}

/**
 * Decodes the text of one element. Elements in it are not followed: the transform would drop their tags
 * (XML Signature 1.1 §6.6.2), so that anyone could change them.
 */
class Base64Element implements XmlListener {
  readonly #utf8: Buffer;
  readonly #decoder: Base64Decoder;
  #depth = 0;

  constructor(utf8: Buffer, decoder: Base64Decoder) {
    this.#utf8 = utf8;
    this.#decoder = decoder;
  }

  startElement(): void {
    if (++this.#depth > 1) throw new TransformFault('elements stand in the Base64 text');
  }

  endElement(): void {
    this.#depth--;
  }

  text(start: number, end: number): void {
    for (let at = start; at < end; at += CHUNK_CHARACTERS)
      this.#decoder.add(this.#utf8.toString('latin1', at, Math.min(end, at + CHUNK_CHARACTERS)));
  }

  character(code: number): void {
    this.#decoder.add(String.fromCodePoint(code));
  }

  instruction(): void {}
  comment(): void {}
}
