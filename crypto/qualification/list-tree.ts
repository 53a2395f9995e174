/** Elements of a trusted list as a tree, within bounds; signatures are left out. */
import {
  attributeValue,
  decodeXml,
  type Name,
  readXml,
  type StartTag,
  type XmlListener,
} from '../xml/index.ts';

/** Bytes of one list; the longest in use have about five million. */
export const MAX_LIST_BYTES = 2 ** 24;
/** Elements of one list; the largest in use have about 60,000. */
const MAX_ELEMENTS = 400_000;
/** Attributes of one list. */
const MAX_ATTRIBUTES = 400_000;

const DS = 'http://www.w3.org/2000/09/xmldsig#';

/** Something that a trusted list may not have, or more than is read; the message completes `The list `. */
export class ListFault extends Error {}

export interface ListNode {
  readonly namespace: string;
  readonly local: string;
  /** Values by local name, those of a namespace included. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: ListNode[];
  /** Character data directly in the element. */
  text: string;
}

/** Reads a list. @throws {ListFault} for too much @throws {CryptoError} as `readXml` */
export function readListTree(document: Buffer): ListNode {
  if (document.length > MAX_LIST_BYTES) throw new ListFault(`has more than ${MAX_LIST_BYTES} bytes`);
  const { utf8 } = decodeXml(document);
  const builder = new TreeBuilder(utf8);
  readXml(utf8, builder);
  if (builder.root === undefined) throw new ListFault('has no element');
  return builder.root;
}

class TreeBuilder implements XmlListener {
  root: ListNode | undefined;
  readonly #bytes: Buffer;
  readonly #open: ListNode[] = [];
  #elements = 0;
  #attributes = 0;
  /** Open elements of signatures. */
  #inSignature = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  startElement(tag: StartTag): void {
    if (this.#inSignature > 0 || (tag.namespace.uri === DS && tag.name.local === 'Signature')) {
      this.#inSignature++;
      return;
    }
    this.#elements++;
    this.#attributes += tag.attributeCount;
    if (this.#elements > MAX_ELEMENTS || this.#attributes > MAX_ATTRIBUTES)
      throw new ListFault('has more elements than are read');
    const attributes = new Map<string, string>();
    for (const attribute of tag.attributes.slice(0, tag.attributeCount))
      attributes.set(attribute.name.local, attributeValue(this.#bytes, attribute));
    const node: ListNode = {
      namespace: tag.namespace.uri,
      local: tag.name.local,
      attributes,
      children: [],
      text: '',
    };
    this.#open.at(-1)?.children.push(node);
    this.root ??= node;
    this.#open.push(node);
  }

  endElement(_name: Name): void {
    if (this.#inSignature > 0) this.#inSignature--;
    else this.#open.pop();
  }

  text(start: number, end: number): void {
    this.#add(() => this.#bytes.toString('utf8', start, end));
  }

  character(code: number): void {
    this.#add(() => String.fromCodePoint(code));
  }

  instruction(): void {}

  comment(): void {}

  #add(text: () => string): void {
    const node = this.#open.at(-1);
    if (node !== undefined && this.#inSignature === 0) node.text += text();
  }
}

/** Children of that name, in any of the given namespaces. */
export function nodesNamed(node: ListNode | undefined, namespace: string, local: string): ListNode[] {
  return node?.children.filter((child) => child.local === local && child.namespace === namespace) ?? [];
}

/** The only child of that name; undefined when there is none. @throws {ListFault} when there are several */
export function nodeNamed(
  node: ListNode | undefined,
  namespace: string,
  local: string,
): ListNode | undefined {
  const [found, ...more] = nodesNamed(node, namespace, local);
  if (more.length > 0) throw new ListFault(`has several ${local} where one may stand`);
  return found;
}

/** @throws {ListFault} when there is not exactly one */
export function requiredNode(node: ListNode | undefined, namespace: string, local: string): ListNode {
  const found = nodeNamed(node, namespace, local);
  if (found === undefined) throw new ListFault(`has no ${local}`);
  return found;
}

/** Text without the white space around it. */
export function trimmed(node: ListNode | undefined): string {
  return node?.text.trim() ?? '';
}
