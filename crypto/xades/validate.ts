/** What is to be found out about the signatures of one XML file, before anybody is trusted. */
import { basename } from 'node:path';
import type { Source } from '../files/source.ts';
import { CryptoError } from '../types.ts';
import type { FileFacts, Finding } from '../validation/facts.ts';
import { UNUSED_CONTENT } from '../validation/unused-content.ts';
import { DS, XADES } from './identifiers.ts';
import { MAX_SIGNED_LENGTH, readDocument } from './read-document.ts';
import { type DocumentMap, mapDocument } from './validation/document-map.ts';
import { type ContentFinder, dataRoom, type SignedContent } from './validation/reference-data.ts';
import { targetOf } from './validation/references.ts';
import { signatureFacts } from './validation/signature-facts.ts';
import { attributeOf, childrenNamed, is, type SignatureNode } from './validation/signature-node.ts';

export type { ContentFinder, SignedContent } from './validation/reference-data.ts';

export interface XadesFactsOptions {
  /**
   * What detached signatures are over. One file stands for the one name that references use, or for its own among
   * several; a finder is asked for each name. Nothing else is opened, and nothing is fetched. @default nothing
   */
  readonly content?: (SignedContent & { readonly path?: string }) | ContentFinder;
  /** True: it is held against the file when no signature is over anything outside of it. @default false */
  readonly contentCounts?: boolean;
}

/**
 * One entry per ds:Signature, wherever it stands and whatever made it; counter-signatures stand below what they sign.
 * Bad bytes are findings.
 * @throws {CryptoError} `input.unreadable`, `input.changed`, `input.empty`, `input.too-large`
 */
export function xadesFacts(source: Source, options: XadesFactsOptions = {}): FileFacts {
  return xadesFactsOf(readDocument(source, MAX_SIGNED_LENGTH), options);
}

/** As `xadesFacts`, for a file in memory. @throws {CryptoError} of reading contents */
export function xadesFactsOf(document: Buffer, options: XadesFactsOptions = {}): FileFacts {
  const map = readable(document);
  if (!('utf8' in map)) return { signatures: [], findings: [map] };
  const room = dataRoom(map, finderOf(options.content, map));
  const signatures = topSignatures(map).map((node) => signatureFacts(room, node));
  const isUnused = options.contentCounts === true && outsideNames(map).size === 0;
  const findings = [...(map.unseen === 0 ? [] : [unseen(map)]), ...(isUnused ? [UNUSED_CONTENT] : [])];
  return { signatures, findings };
}

/** The map of a document, or why there is none. */
export function readable(document: Buffer): DocumentMap | Finding {
  try {
    return mapDocument(document);
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    return {
      status: 'failed',
      type: 'structure.xml',
      message: error.message,
      detail: error.code,
      subIndication: 'FORMAT_FAILURE',
    };
  }
}

/** Those that do not stand in CounterSignature of another one. */
export function topSignatures({ signatures }: DocumentMap): SignatureNode[] {
  return signatures.filter(({ parent }) => !isCounterSignature(parent));
}

/** Anywhere else an element of that name hides nothing. */
function isCounterSignature(holder: SignatureNode | undefined): boolean {
  return (
    holder !== undefined &&
    is(holder, XADES, 'CounterSignature') &&
    holder.parent?.local === 'UnsignedSignatureProperties' &&
    holder.parent.parent?.parent?.local === 'QualifyingProperties'
  );
}

function unseen({ unseen: count }: DocumentMap): Finding {
  return {
    status: 'failed',
    type: 'file.signatures',
    message: `The file has ${count} more signatures than are looked at.`,
    subIndication: 'FORMAT_FAILURE',
  };
}

/** How references of a document find what is outside of it. */
export function finderOf(content: XadesFactsOptions['content'], map: DocumentMap): ContentFinder {
  if (content === undefined) return () => undefined;
  if (typeof content === 'function') return content;
  const names = outsideNames(map);
  const own = content.path === undefined ? undefined : basename(content.path);
  return (uri) => (names.size === 1 || (own !== undefined && lastSegment(uri) === own) ? content : undefined);
}

/** Everything outside that references of the file's signatures name. */
function outsideNames({ signatures }: DocumentMap): Set<string | undefined> {
  const names = new Set<string | undefined>();
  for (const signature of signatures) {
    const lists = [
      ...childrenNamed(signature, DS, 'SignedInfo'),
      ...childrenNamed(signature, DS, 'Object').flatMap((object) => childrenNamed(object, DS, 'Manifest')),
    ];
    for (const reference of lists.flatMap((list) => childrenNamed(list, DS, 'Reference'))) {
      const target = targetOf(attributeOf(reference, 'URI'));
      if (target.kind === 'outside') names.add(target.uri);
    }
  }
  return names;
}

function lastSegment(uri: string | undefined): string | undefined {
  const segment = uri?.split(/[?#]/, 1)[0]?.split('/').at(-1);
  try {
    return segment === undefined ? undefined : decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
