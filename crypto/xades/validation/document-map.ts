/**
 * First reading of a document: its signatures as small trees, and which elements have which identifiers. Everything a
 * signature covers is found through this map; nothing else of the document is kept.
 */
import { type DecodedXml, decodeXml, Names, type RootPlace, readXml } from '../../xml/index.ts';
import { findElements } from '../element-finder.ts';
import type { ElementPath } from '../element-path.ts';
import { DocumentMapper, type ElementPlace } from './document-mapper.ts';
import type { SignatureNode } from './signature-node.ts';

export type { ElementPlace } from './document-mapper.ts';

export interface DocumentMap {
  readonly utf8: Buffer;
  readonly names: Names;
  readonly decoded: DecodedXml;
  readonly root: RootPlace;
  /** All of them, whatever they stand in, in document order. */
  readonly signatures: readonly SignatureNode[];
  /** Those that stand in no other one. */
  readonly outermost: readonly SignatureNode[];
  /** Why a signature can't be judged from its tree. */
  readonly faults: ReadonlyMap<SignatureNode, string>;
  /** Elements below the root that are in no signature. */
  readonly elementsOutside: number;
  /** Signatures beyond the number that is looked at. */
  readonly unseen: number;
  /** Elements by identifier; one that several elements have gives the first two. */
  elementsNamed(id: string): readonly ElementPlace[];
  /** Elements a location path names, of several the first two; undefined: too many paths are asked for. */
  elementsAt(path: ElementPath): readonly ElementPlace[] | undefined;
  /** Offsets of comments in the document, of those that stand in the middle of text first. */
  readonly comments: { readonly inText: readonly number[]; readonly all: readonly number[] };
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
  const { signatures, faults, elementsOutside, unseen, comments } = mapper;
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
    unseen,
    comments,
    elementsNamed: (id) => ids.get(id) ?? [],
    elementsAt: pathFinder(utf8, names),
  };
}

/** Bytes read to follow paths: some for small documents, a few readings of large ones. */
const PATH_BUDGET = 2 ** 26;
const PATH_READINGS = 16;

/** Each path takes another reading, and is followed once however many references have it. */
function pathFinder(utf8: Buffer, names: Names): DocumentMap['elementsAt'] {
  const known = new Map<string, readonly ElementPlace[]>();
  let budget = PATH_BUDGET + PATH_READINGS * utf8.length;
  return (path) => {
    const key = JSON.stringify(path);
    let found = known.get(key);
    if (found === undefined && budget >= utf8.length) {
      budget -= utf8.length;
      found = findElements(utf8, names, () => path);
      known.set(key, found);
    }
    return found;
  };
}

function outermostOf(signatures: readonly SignatureNode[]): SignatureNode[] {
  let end = 0;
  return signatures.filter((signature) => {
    if (signature.start < end) return false;
    end = signature.end;
    return true;
  });
}

/** Every identifier that something in a signature has or names. */
function idsNamedIn(signatures: readonly SignatureNode[]): Set<string> {
  const named = new Set<string>();
  const left = [...signatures];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    left.push(...node.children);
    for (const { value } of node.attributes) {
      named.add(value);
      const pointed = /^#(?:xpointer\(id\((["'])([^"']+)\1\)\)|(.*))$/s.exec(value);
      if (pointed !== null) named.add(pointed[2] ?? pointed[3] ?? '');
    }
  }
  return named;
}
