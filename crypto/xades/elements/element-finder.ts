/** Evaluates a location path while a document is read, with one bit per step for each open element. */
import {
  type Attribute,
  attributeValue,
  type Name,
  type Names,
  readXml,
  type Scope,
  ScopeTracker,
  type StartTag,
  type XmlListener,
} from '../../xml/index.ts';
import type { ElementPath, NamedPosition, NameTest, PathPredicate, PathTest } from './element-path.ts';
import { DS } from './identifiers.ts';

/** An element that a path names. Offsets are bytes of the UTF-8 document. */
export interface NamedElement {
  readonly start: number;
  end: number;
  /** Scope inherited from the ancestors. */
  readonly scope: Scope | undefined;
  /** Names from the root down, as written: `/order/item`. */
  readonly path: string;
  /** 1 for the root. */
  readonly depth: number;
  readonly namespace: string;
  readonly local: string;
  /** Value of its attribute `Id`, `ID`, `id` or `xml:id`, the first one. */
  readonly id: string | undefined;
  /** Ancestors from the root down, and the element itself. */
  readonly chain: readonly ChainElement[];
}

interface ChainElement {
  readonly start: number;
  readonly namespace: string;
  readonly local: string;
}

/** Matches kept; further ones are only counted, because the caller needs to know only that there are several. */
const CACHE_SIZE = 2;

/**
 * Finds the elements of a well-formed document that the path names, in document order; of many, the first two.
 * @param path called once the root's declarations are known, with the namespace bindings in scope there
 * @param withoutSignatures skips signatures with their content: authors of the path need not know about them
 * @throws {CryptoError} those of reading, and those of `path`
 */
export function findElements(
  utf8: Buffer,
  names: Names,
  path: (onRoot: (prefix: string) => string | undefined) => ElementPath,
  withoutSignatures = false,
): readonly NamedElement[] {
  const onRoot = (prefix: string): string | undefined => names.prefix(prefix)?.namespace?.uri;
  const finder = new ElementFinder(utf8, () => path(onRoot), withoutSignatures);
  readXml(utf8, finder, names);
  return finder.found;
}

/** State of an open element; the first one is the document node. */
interface Frame extends ChainElement {
  /** Bit 0: it is the document; bit n: the first n steps match it. */
  readonly reached: number;
  /** Union of `reached` over the element and its ancestors. */
  readonly around: number;
  /** Number of children that each position predicate counted. */
  counts: Map<PathPredicate, number> | undefined;
}

const DOCUMENT: Frame = { start: -1, namespace: '', local: '', reached: 1, around: 1, counts: undefined };

class ElementFinder implements XmlListener {
  readonly found: NamedElement[] = [];
  readonly #bytes: Buffer;
  readonly #resolve: () => ElementPath;
  readonly #withoutSignatures: boolean;
  /** Open elements inside a skipped signature, itself included. */
  #passed = 0;
  readonly #scopes: ScopeTracker;
  readonly #open: Frame[] = [{ ...DOCUMENT }];
  readonly #path: string[] = [];
  #steps: ElementPath = [];

  constructor(bytes: Buffer, resolve: () => ElementPath, withoutSignatures: boolean) {
    this.#bytes = bytes;
    this.#resolve = resolve;
    this.#withoutSignatures = withoutSignatures;
    this.#scopes = new ScopeTracker(bytes);
  }

  startElement(tag: StartTag): void {
    const isSignature = tag.namespace.uri === DS && tag.name.local === 'Signature';
    if (this.#passed > 0 || (this.#withoutSignatures && isSignature)) {
      this.#passed++;
      return;
    }
    const scope = this.#scopes.current;
    this.#scopes.enter(tag);
    this.#path.push(tag.name.text);
    const parent = this.#open.at(-1);
    if (parent === undefined) return;
    if (this.#open.length === 1) this.#steps = this.#resolve();
    const reached = this.#reached(tag, parent);
    this.#open.push({
      start: tag.start,
      namespace: tag.namespace.uri,
      local: tag.name.local,
      reached,
      around: parent.around | reached,
      counts: undefined,
    });
    if ((reached & (1 << this.#steps.length)) === 0 || this.found.length >= CACHE_SIZE) return;
    this.found.push({
      start: tag.start,
      end: 0,
      scope,
      path: `/${this.#path.join('/')}`,
      depth: this.#scopes.depth,
      namespace: tag.namespace.uri,
      local: tag.name.local,
      id: idOf(this.#bytes, tag),
      chain: this.#open.slice(1).map(({ start, namespace, local }) => ({ start, namespace, local })),
    });
  }

  endElement(_name: Name, _start: number, end: number): void {
    if (this.#passed > 0) {
      this.#passed--;
      return;
    }
    const start = this.#open.pop()?.start;
    for (const element of this.found) if (element.start === start) element.end = end;
    this.#scopes.leave();
    this.#path.pop();
  }

  text(): void {}
  character(): void {}
  instruction(): void {}
  comment(): void {}

  #reached(tag: StartTag, parent: Frame): number {
    let reached = 0;
    for (const [index, { deep, name, predicates }] of this.#steps.entries()) {
      const from = deep ? parent.around : parent.reached;
      if ((from & (1 << index)) === 0 || !isNamed(name, tag.namespace.uri, tag.name.local)) continue;
      if (predicates.every((predicate) => this.#passes(tag, parent, predicate))) reached |= 1 << (index + 1);
    }
    return reached;
  }

  #passes(tag: StartTag, parent: Frame, predicate: PathPredicate): boolean {
    if ('tests' in predicate) return predicate.tests.every((test) => holds(this.#bytes, tag, test));
    parent.counts ??= new Map();
    const count = (parent.counts.get(predicate) ?? 0) + 1;
    parent.counts.set(predicate, count);
    return count === predicate.position;
  }
}

/** True when the test holds for the element. */
export function holds(bytes: Buffer, tag: StartTag, test: PathTest): boolean {
  if (test.of !== 'attribute') {
    return test.value === (test.of === 'local-name' ? tag.name.local : tag.namespace.uri);
  }
  for (let index = 0; index < tag.attributeCount; index++) {
    const attribute = tag.attributes[index] as Attribute;
    if (!isNamed(test.name, attribute.namespace.uri, attribute.name.local)) continue;
    const { start, end, decoded } = attribute;
    if (test.value === undefined) return true;
    return decoded === undefined ? isWritten(bytes, start, end, test.value) : decoded.equals(test.value);
  }
  return false;
}

/** Compares without allocating: hostile paths cause millions of comparisons. */
function isWritten(bytes: Buffer, start: number, end: number, value: Buffer): boolean {
  if (end - start !== value.length) return false;
  for (let at = 0; at < value.length; at++) if (bytes[start + at] !== value[at]) return false;
  return true;
}

/** True when the test accepts the name. */
export function isNamed(test: NameTest, namespace: string, local: string): boolean {
  return (
    (test.local === undefined || test.local === local) &&
    (test.namespace === undefined || test.namespace === namespace)
  );
}

/** Attributes that identify an element. Few verifiers understand those of other namespaces. */
export const ID_ATTRIBUTES: ReadonlySet<string> = new Set(['Id', 'ID', 'id', 'xml:id']);

function idOf(bytes: Buffer, tag: StartTag): string | undefined {
  for (let index = 0; index < tag.attributeCount; index++) {
    const attribute = tag.attributes[index] as Attribute;
    if (ID_ATTRIBUTES.has(attribute.name.text)) return attributeValue(bytes, attribute);
  }
  return undefined;
}

/** Returns name and position among equals of an element and its ancestors, root first. Reads the document again. */
export function positionsOf(
  utf8: Buffer,
  names: Names,
  { chain }: Pick<NamedElement, 'chain'>,
): readonly NamedPosition[] {
  const steps: NamedPosition[] = [];
  let depth = 0;
  let position = 0;
  readXml(
    utf8,
    {
      startElement({ start, name, namespace }) {
        // Only children of the most recent chain element count.
        const wanted = depth++ === steps.length ? chain[steps.length] : undefined;
        if (wanted?.local !== name.local || wanted.namespace !== namespace.uri) return;
        position++;
        if (wanted.start !== start) return;
        steps.push({ namespace: wanted.namespace, local: wanted.local, position });
        position = 0;
      },
      endElement() {
        depth--;
      },
      text() {},
      character() {},
      instruction() {},
      comment() {},
    },
    names,
  );
  return steps;
}
