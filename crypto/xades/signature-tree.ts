/**
 * First reading of a signed document: the newest signature as a small tree, since its structure has to be judged as
 * a whole. Nothing else of the document is kept.
 */
import { attributeValue, type Name, type StartTag, type XmlListener } from '../xml/index.ts';
import { DS } from './identifiers.ts';

/** An element inside a signature. */
export interface SignatureNode {
  readonly namespace: string;
  readonly local: string;
  readonly attributes: readonly {
    readonly namespace: string;
    readonly local: string;
    readonly value: string;
  }[];
  readonly children: SignatureNode[];
  /** Character data directly in it. */
  text: string;
  /** Byte offsets of the element in the UTF-8 document. */
  readonly start: number;
  end: number;
}

/** Elements one signature may have; a signature with a long chain and evidence has a few hundred. */
const MAX_NODES = 5000;

export class SignatureFinder implements XmlListener {
  readonly #bytes: Buffer;
  readonly #open: SignatureNode[] = [];
  #depth = 0;
  #nodes = 0;
  #fault: string | undefined;
  #newest: SignatureNode | undefined;
  #signatures = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Signatures anywhere in the document. */
  get signatures(): number {
    return this.#signatures;
  }

  /** The last signature that is a child of the root. */
  get newest(): SignatureNode | undefined {
    return this.#newest;
  }

  /** Why the newest signature cannot be judged from its tree. */
  get fault(): string | undefined {
    return this.#fault;
  }

  startElement(tag: StartTag): void {
    this.#depth++;
    const isSignature = tag.namespace.uri === DS && tag.name.local === 'Signature';
    if (isSignature) this.#signatures++;
    const parent = this.#open.at(-1);
    if (parent === undefined) {
      if (!isSignature || this.#depth !== 2) return;
      this.#nodes = 0;
      this.#fault = undefined;
    } else if (++this.#nodes > MAX_NODES) {
      this.#fault = `the signature has more than ${MAX_NODES} elements`;
    }
    const keeps = this.#nodes <= MAX_NODES;
    const node: SignatureNode = {
      namespace: tag.namespace.uri,
      local: tag.name.local,
      attributes: keeps ? this.#attributesOf(tag) : [],
      children: [],
      text: '',
      start: tag.start,
      end: 0,
    };
    if (parent === undefined) this.#newest = node;
    else if (keeps) parent.children.push(node);
    this.#open.push(node);
  }

  endElement(_name: Name, _start: number, end: number): void {
    this.#depth--;
    const node = this.#open.pop();
    if (node !== undefined) node.end = end;
  }

  text(start: number, end: number): void {
    const node = this.#open.at(-1);
    if (node !== undefined) node.text += this.#bytes.toString('utf8', start, end);
  }

  character(code: number): void {
    const node = this.#open.at(-1);
    if (node !== undefined) node.text += String.fromCodePoint(code);
  }

  instruction(): void {
    this.#refuse('a processing instruction');
  }

  comment(): void {
    this.#refuse('a comment');
  }

  /** Neither belongs into a signature, and both have been used to make two readers see two different texts. */
  #refuse(what: string): void {
    if (this.#open.length > 0) this.#fault ??= `there is ${what} inside the signature`;
  }

  #attributesOf(tag: StartTag): SignatureNode['attributes'] {
    return tag.attributes.slice(0, tag.attributeCount).map((attribute) => ({
      namespace: attribute.namespace.uri,
      local: attribute.name.local,
      value: attributeValue(this.#bytes, attribute),
    }));
  }
}
