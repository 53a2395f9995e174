/** XML listener that collects signatures as small trees and elements with identifiers. */
import {
  type Attribute,
  attributeValue,
  type Name,
  type Scope,
  ScopeTracker,
  type StartTag,
  type XmlListener,
} from '../../xml/index.ts';
import { ANY_XADES, DS, DSIG11, OLDER_XADES, XADES, XADES_141 } from '../elements/identifiers.ts';
import type { SignatureNode } from './signature-node.ts';
import { isBlank, isSpace, TextSplitFinder } from './text-splits.ts';

/** An element with an identifier. */
export interface ElementPlace {
  readonly start: number;
  end: number;
  readonly scope: Scope | undefined;
  /** Names from the root down as written: `/order/item`. */
  readonly path: string;
  /** 1 for the root. */
  readonly depth: number;
  readonly namespace: string;
  readonly local: string;
  /** Range of the parent; undefined for the root. */
  readonly parent?: { readonly start: number; readonly end: number } | undefined;
}

/** Limit of signatures in one document; each costs a public-key operation. */
const MAX_SIGNATURES = 256;
/** Limit of elements in one signature; a long chain with evidence has a few hundred. */
const MAX_NODES = 5000;
/** Limit of characters in all signatures of a document; each can contain CRLs of some megabytes. */
const MAX_TEXT = 2 ** 27;
/** Limit of identifiers kept in one pass; in a document with more, a second pass looks up the requested ones. */
const MAX_IDS = 50_000;

/** Elements kept of those with one identifier: two that differ, and the reference that names them. */
const MAX_SAME_ID = 3;

/** Elements of ds:Object that are examined; other elements are content. */
const IN_OBJECT: ReadonlySet<string> = new Set([`${DS} Manifest`, `${DS} SignatureProperties`]);
const NODE_NAMESPACES: ReadonlySet<string> = new Set([DS, DSIG11, XADES, XADES_141]);

export class DocumentMapper implements XmlListener {
  readonly signatures: SignatureNode[] = [];
  readonly faults = new Map<SignatureNode, string>();
  readonly ids = new Map<string, ElementPlace[]>();
  readonly splits: TextSplitFinder;
  elementsOutside = 0;
  /** Text outside of all signatures, or an attribute of the root that is no identifier. */
  contentOutside = false;
  unseen = 0;
  idsMissing = false;
  readonly #bytes: Buffer;
  readonly #only: ReadonlySet<string> | undefined;
  readonly #scopes: ScopeTracker;
  /** Open elements that are kept, with their depth; content of foreign elements is not kept. */
  readonly #open: { readonly node: SignatureNode; readonly depth: number; readonly foreign: boolean }[] = [];
  /** Open signatures, each with its number of elements. */
  readonly #inside: { readonly signature: SignatureNode; nodes: number }[] = [];
  readonly #named: ElementPlace[] = [];
  readonly #path: string[] = [];
  /** By depth: start of the open element, and its range if a child has an identifier. */
  readonly #starts: number[] = [];
  readonly #parents: ({ readonly start: number; end: number } | undefined)[] = [];
  #text = 0;

  /** @param only identifiers to collect; nothing else is collected */
  constructor(bytes: Buffer, only?: ReadonlySet<string>) {
    this.#bytes = bytes;
    this.#only = only;
    this.#scopes = new ScopeTracker(bytes);
    this.splits = new TextSplitFinder(bytes);
  }

  startElement(tag: StartTag): void {
    const scope = this.#scopes.current;
    this.#scopes.enter(tag);
    this.#path.push(tag.name.text);
    this.#starts[this.#scopes.depth] = tag.start;
    this.#parents[this.#scopes.depth] = undefined;
    this.#identify(tag, scope);
    if (this.#only !== undefined) return;
    const top = this.#open.at(-1);
    const isSignature = tag.namespace.uri === DS && tag.name.local === 'Signature';
    if (isSignature && this.signatures.length < MAX_SIGNATURES) this.splits.enterSignature(tag.start);
    else this.splits.startElement();
    if (!isSignature && this.#inside.length === 0) {
      if (this.#scopes.depth > 1) this.elementsOutside++;
      else if (hasPlainAttribute(tag)) this.contentOutside = true;
    }
    if (isSignature && this.signatures.length >= MAX_SIGNATURES) this.unseen++;
    else if (isSignature || (top !== undefined && this.#retains(tag, top)))
      this.#retain(tag, scope, isSignature);
  }

  endElement(_name: Name, start: number, end: number): void {
    const { depth } = this.#scopes;
    this.splits.endElement();
    const parent = this.#parents[depth];
    if (parent !== undefined) parent.end = end;
    if (this.#named.at(-1)?.depth === depth) {
      const place = this.#named.pop();
      if (place !== undefined) place.end = end;
    }
    if (this.#open.at(-1)?.depth === depth) {
      const node = this.#open.pop()?.node;
      if (node !== undefined) {
        node.end = end;
        node.contentEnd = start;
      }
      if (node !== undefined && this.#inside.at(-1)?.signature === node) {
        this.#inside.pop();
        this.splits.leaveSignature();
      }
    }
    this.#scopes.leave();
    this.#path.pop();
  }

  text(start: number, end: number): void {
    this.splits.text(start, end);
    if (!this.contentOutside && this.#inside.length === 0)
      this.contentOutside = !isBlank(this.#bytes, start, end);
    const node = this.#holder(end - start);
    if (node !== undefined) node.text += this.#bytes.toString('utf8', start, end);
  }

  character(code: number): void {
    this.splits.character(code);
    if (this.#inside.length === 0 && !isSpace(code)) this.contentOutside = true;
    const node = this.#holder(1);
    if (node !== undefined) node.text += String.fromCodePoint(code);
  }

  instruction(): void {
    this.#interrupt();
  }

  comment(start: number): void {
    this.#interrupt();
    this.splits.comment(start);
  }

  section(at: number): void {
    this.splits.section(at);
  }

  #interrupt(): void {
    const top = this.#open.at(-1);
    if (top?.depth === this.#scopes.depth) top.node.interrupted = true;
  }

  /** Returns the element that the text belongs to, if it is kept. */
  #holder(length: number): SignatureNode | undefined {
    const top = this.#open.at(-1);
    if (top === undefined || top.depth !== this.#scopes.depth) return undefined;
    if (top.node.namespace === DS && top.node.local === 'Object') return undefined;
    this.#text += length;
    if (this.#text <= MAX_TEXT) return top.node;
    this.#fault('the signatures hold too much text');
    return undefined;
  }

  #fault(message: string): void {
    const signature = this.#inside.at(-1)?.signature;
    if (signature !== undefined && !this.faults.has(signature)) this.faults.set(signature, message);
  }

  #retains(
    tag: StartTag,
    { node, depth, foreign }: { node: SignatureNode; depth: number; foreign: boolean },
  ): boolean {
    if (foreign || depth !== this.#scopes.depth - 1) return false;
    if (node.namespace !== DS || node.local !== 'Object') return true;
    const { uri } = tag.namespace;
    if (tag.name.local === 'QualifyingProperties') return ANY_XADES.test(uri);
    return IN_OBJECT.has(`${uri} ${tag.name.local}`);
  }

  #retain(tag: StartTag, scope: Scope | undefined, isSignature: boolean): void {
    const top = this.#open.at(-1);
    const inside = this.#inside.at(-1);
    if (inside !== undefined && ++inside.nodes > MAX_NODES) {
      this.#fault(`the signature has more than ${MAX_NODES} elements`);
      if (!isSignature) return;
    }
    const parent = top?.depth === this.#scopes.depth - 1 ? top.node : undefined;
    const older = OLDER_XADES.get(tag.namespace.uri);
    const node: SignatureNode = {
      namespace: older === undefined ? tag.namespace.uri : namespaceOfOlder(tag.name.local),
      local: tag.name.local,
      ...(older !== undefined && { older }),
      attributes: tag.attributes.slice(0, tag.attributeCount).map((attribute) => ({
        namespace: attribute.namespace.uri,
        local: attribute.name.local,
        value: attributeValue(this.#bytes, attribute),
      })),
      children: [],
      parent,
      text: '',
      interrupted: false,
      start: tag.start,
      end: 0,
      contentStart: tag.end,
      contentEnd: 0,
      scope,
      inner: this.#scopes.current,
    };
    parent?.children.push(node);
    const foreign = !isSignature && !NODE_NAMESPACES.has(node.namespace);
    this.#open.push({ node, depth: this.#scopes.depth, foreign });
    if (!isSignature) return;
    this.signatures.push(node);
    this.#inside.push({ signature: node, nodes: 0 });
  }

  #identify(tag: StartTag, scope: Scope | undefined): void {
    // Limit reached: a second pass looks up the requested identifiers.
    if (this.idsMissing) return;
    let place: ElementPlace | undefined;
    for (let index = 0; index < tag.attributeCount; index++) {
      const attribute = tag.attributes[index] as Attribute;
      if (!ID_NAMES.has(attribute.name.local)) continue;
      const id = attributeValue(this.#bytes, attribute);
      if (this.#only?.has(id) === false) continue;
      if (place === undefined) {
        place = {
          start: tag.start,
          end: 0,
          scope,
          path: pathOf(this.#path),
          depth: this.#scopes.depth,
          namespace: tag.namespace.uri,
          local: tag.name.local,
          parent: this.#parent(),
        };
        this.#named.push(place);
      }
      const known = this.ids.get(id);
      if (known !== undefined) {
        if (known.length < MAX_SAME_ID && known.at(-1) !== place) known.push(place);
      } else if (this.ids.size < MAX_IDS || this.#only !== undefined) this.ids.set(id, [place]);
      else this.idsMissing = true;
    }
  }

  #parent(): ElementPlace['parent'] {
    const depth = this.#scopes.depth - 1;
    const start = this.#starts[depth];
    if (start === undefined) return undefined;
    this.#parents[depth] ??= { start, end: 0 };
    return this.#parents[depth];
  }
}

/** Version 1.1.1 has its own elements of the types of XML Signature. */
function namespaceOfOlder(local: string): string {
  return local === 'DigestMethod' || local === 'DigestValue' ? DS : XADES;
}

/** Length of a path in reports. A small document can have very many elements with paths of a megabyte. */
const MAX_PATH_LENGTH = 1000;

/** Formats names from the root down; a long path is cut. */
export function pathOf(names: readonly string[]): string {
  let path = '';
  for (const name of names) {
    if (path.length + name.length >= MAX_PATH_LENGTH) return `${path}/…`;
    path += `/${name}`;
  }
  return path;
}

/** Local names of identifying attributes in any namespace, such as `xml:id` and `wsu:Id`. */
const ID_NAMES: ReadonlySet<string> = new Set(['Id', 'ID', 'id']);

/** True for an element with an attribute that has no namespace and does not identify it. */
export function hasPlainAttribute({ attributes, attributeCount }: StartTag): boolean {
  return attributes
    .slice(0, attributeCount)
    .some(({ namespace, name }) => namespace.uri === '' && !ID_NAMES.has(name.local));
}
