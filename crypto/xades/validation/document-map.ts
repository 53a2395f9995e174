/**
 * First pass over a document: its signatures as small trees, and its elements by identifier. References are resolved
 * through this map; nothing else of the document is kept.
 */
import { WorkBudget } from '../../core/work-budget.ts';
import { type DecodedXml, decodeXml, Names, type RootPlace, readXml } from '../../xml/index.ts';
import { findElements } from '../elements/element-finder.ts';
import type { ElementPath } from '../elements/element-path.ts';
import { DS } from '../elements/identifiers.ts';
import { DocumentMapper, type ElementPlace } from './document-mapper.ts';
import { is, type SignatureNode } from './signature-node.ts';
import type { TextSplits } from './text-splits.ts';

export type { ElementPlace } from './document-mapper.ts';

export interface DocumentMap {
  readonly utf8: Buffer;
  readonly names: Names;
  readonly decoded: DecodedXml;
  readonly root: RootPlace;
  /** All signatures at any position, in document order. */
  readonly signatures: readonly SignatureNode[];
  /** Signatures outside any other signature. */
  readonly outermost: readonly SignatureNode[];
  /** Reasons why a signature can't be judged from its tree. */
  readonly faults: ReadonlyMap<SignatureNode, string>;
  /** Number of elements below the root outside all signatures. */
  readonly elementsOutside: number;
  /** Text outside of all signatures, or an attribute of the root that is no identifier. */
  readonly contentOutside: boolean;
  /** Number of signatures beyond the limit. */
  readonly unseen: number;
  /** Finds elements by identifier; of many, the first three. */
  elementsNamed(id: string): readonly ElementPlace[];
  /** Finds the elements of a location path, at most the first two; undefined: the budget for paths is exhausted. */
  elementsAt(path: ElementPath): readonly ElementPlace[] | undefined;
  /** Markup inside of text that canonicalization drops. */
  readonly splits: TextSplits;
}

/**
 * @throws {CryptoError} `xml.malformed`, `xml.dtd`, `xml.encoding`, `xml.too-deep`
 */
export function mapDocument(document: Buffer): DocumentMap {
  const decoded = decodeXml(document);
  const { utf8 } = decoded;
  const names = new Names();
  const mapper = new DocumentMapper(utf8);
  const root = readXml(utf8, mapper, names);
  const { signatures, faults, elementsOutside, contentOutside, unseen, splits } = mapper;
  let { ids } = mapper;
  if (mapper.idsMissing) {
    const again = new DocumentMapper(utf8, idsNamedIn(signatures));
    readXml(utf8, again, names);
    ids = again.ids;
  }
  return {
    utf8,
    names,
    decoded,
    root,
    signatures,
    outermost: outermostOf(signatures),
    faults,
    elementsOutside,
    contentOutside,
    unseen,
    splits,
    elementsNamed: (id) => ids.get(id) ?? [],
    elementsAt: pathFinder(utf8, names),
  };
}

/** Budget for following paths in bytes read: several passes over small documents, a few over large ones. */
const PATH_BUDGET = 2 ** 26;
const PATH_READINGS = 16;

/** Follows paths; each path takes one pass, however many references use it. */
function pathFinder(utf8: Buffer, names: Names): DocumentMap['elementsAt'] {
  const known = new Map<string, readonly ElementPlace[]>();
  const budget = new WorkBudget({ limit: PATH_BUDGET + PATH_READINGS * utf8.length });
  return (path) => {
    const key = JSON.stringify(path);
    let found = known.get(key);
    if (found === undefined && budget.trySpend(utf8.length)) {
      found = findElements(utf8, names, () => path);
      known.set(key, found);
    }
    return found;
  };
}

/** Selects the elements outside of any other one; they are in document order. */
export function outermostOf<Element extends { readonly start: number; readonly end: number }>(
  elements: readonly Element[],
): Element[] {
  let end = 0;
  return elements.filter((signature) => {
    if (signature.start < end) return false;
    end = signature.end;
    return true;
  });
}

/**
 * Collects the identifiers that elements of signatures have or point to; `pointers`: only the latter, without those of
 * references to signed data if `properties`.
 */
export function idsNamedIn(
  signatures: readonly SignatureNode[],
  which?: 'pointers' | 'properties',
): Set<string> {
  const named = new Set<string>();
  const left = [...signatures];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    left.push(...node.children);
    if (which === 'properties' && is(node, DS, 'Reference')) continue;
    for (const { value } of node.attributes) {
      if (which === undefined) named.add(value);
      const pointed = /^#(?:xpointer\(id\((["'])([^"']+)\1\)\)|(.*))$/s.exec(value);
      if (pointed !== null) named.add(pointed[2] ?? pointed[3] ?? '');
    }
  }
  return named;
}
