/** Inspection of the signatures of one XML file, without trust decisions. */
import { basename } from 'node:path';
import type { Source } from '../core/files.ts';
import { CryptoError } from '../core/types.ts';
import { type Finding, failed } from '../core/validation-report.ts';
import type { FileSignatures } from '../validation/signature-info.ts';
import type { Certificate } from '../x509/certificate.ts';
import { UnreadXml } from '../xml/index.ts';
import { DS, XADES } from './elements/identifiers.ts';
import { MAX_SIGNED_LENGTH, readDocument } from './read-document.ts';
import { signatureReport } from './signature-report.ts';
import { type DocumentMap, mapDocument } from './validation/document-map.ts';
import { type ContentFinder, referenceContext, type SignedContent } from './validation/reference-data.ts';
import { attributeOf, childrenNamed, is, type SignatureNode } from './validation/signature-node.ts';
import { targetOf } from './validation/signed-info.ts';

export type { ContentFinder, SignedContent } from './validation/reference-data.ts';

export interface InspectXadesOptions {
  /**
   * Contents of detached signatures. A single file matches any single name that references use; with several names it
   * matches its own. A finder resolves each name. Nothing else is opened or fetched. @default none
   */
  readonly content?: (SignedContent & { readonly path?: string }) | ContentFinder;
  /** Candidates for certificates that the file lacks; untrusted. @default none */
  readonly given?: readonly Certificate[];
  /** Filled with the contents that signatures are over, those of counter-signatures left out. */
  readonly used?: Set<SignedContent>;
}

/**
 * Inspects a file: one entry per ds:Signature at any position; counter-signatures are nested below the signatures
 * they sign. Invalid bytes become findings.
 * @throws {CryptoError} `input.unreadable`, `input.changed`, `input.empty`, `input.too-large`
 */
export function inspectXades(source: Source, options: InspectXadesOptions = {}): FileSignatures {
  return inspectXadesDocument(readDocument(source, MAX_SIGNED_LENGTH), options);
}

/** Inspects a file in memory, as `inspectXades`. @throws {CryptoError} errors of reading contents */
export function inspectXadesDocument(document: Buffer, options: InspectXadesOptions = {}): FileSignatures {
  const map = readable(document);
  if (!('utf8' in map)) return { signatures: [], findings: [map] };
  const finder = finderOf(options.content, map);
  const counted: ContentFinder = (uri) => {
    const found = finder(uri);
    if (found !== undefined) options.used?.add(found);
    return found;
  };
  const context = { ...referenceContext(map, counted, finder), given: options.given ?? [] };
  const signatures = topSignatures(map).map((node) => signatureReport(context, node));
  const findings = map.unseen === 0 ? [] : [unseen(map)];
  if (signatures.length === 0 && /(?:^|:)EvidenceRecord$/.test(map.root.name)) findings.push(EVIDENCE_RECORD);
  return { signatures, findings };
}

/** Source: RFC 6283. */
const EVIDENCE_RECORD: Finding = failed(
  'file.unsupported',
  'This is an evidence record, a form that is not supported.',
  'GENERIC',
);

/** Maps a document, or returns the finding why that fails. */
export function readable(document: Buffer): DocumentMap | Finding {
  try {
    return mapDocument(document);
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    return failed(
      'structure.xml',
      error.message,
      error instanceof UnreadXml ? 'GENERIC' : 'FORMAT_FAILURE',
      error.code,
    );
  }
}

/** Selects the signatures outside any CounterSignature. */
export function topSignatures({ signatures }: DocumentMap): SignatureNode[] {
  return signatures.filter(({ parent }) => !isCounterSignature(parent));
}

/** True for a CounterSignature where `signatureReport` finds it; elsewhere, the element name hides no signature. */
function isCounterSignature(holder: SignatureNode | undefined): boolean {
  let node = holder;
  return PLACE_OF_COUNTERS.every(([namespace, local]) => {
    const isThere = node !== undefined && is(node, namespace, local);
    node = node?.parent;
    return isThere;
  });
}

/** From the inside out (EN 319 132-1 §5.2.7.2). */
const PLACE_OF_COUNTERS = [
  [XADES, 'CounterSignature'],
  [XADES, 'UnsignedSignatureProperties'],
  [XADES, 'UnsignedProperties'],
  [XADES, 'QualifyingProperties'],
  [DS, 'Object'],
  [DS, 'Signature'],
] as const;

function unseen({ unseen: count }: DocumentMap): Finding {
  return failed('file.signatures', `The file has ${count} more signatures than are looked at.`, 'GENERIC');
}

/** Builds the finder for contents that references name outside the document. */
export function finderOf(content: InspectXadesOptions['content'], map: DocumentMap): ContentFinder {
  if (content === undefined) return () => undefined;
  if (typeof content === 'function') return content;
  const names = outsideNames(map);
  const own = content.path === undefined ? undefined : basename(content.path);
  return (uri) =>
    (names.size === 1 && names.has(uri)) || (own !== undefined && lastSegment(uri) === own)
      ? content
      : undefined;
}

/** Collects the names outside the document that references use, those of counter-signatures left out. */
function outsideNames(map: DocumentMap): Set<string | undefined> {
  const names = new Set<string | undefined>();
  for (const signature of topSignatures(map)) {
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
