/**
 * Reads the existing signatures of a document, made by any software, as far as adding unsigned properties requires.
 */
import { createHash } from 'node:crypto';
import { CryptoError, type DigestName } from '../core/types.ts';
import { integrityFailure } from '../validation/soundness.ts';
import type { Certificate } from '../x509/certificate.ts';
import { type ByteSink, EXCLUSIVE } from '../xml/index.ts';
import { DS, XADES, XADES_141 } from './elements/identifiers.ts';
import { ID_PREFIX } from './elements/signature-survey.ts';
import type { ExistingTimestamp, RaisableSignature } from './raise-level.ts';
import { signatureReport } from './signature-report.ts';
import { valueMethodOf } from './validation/algorithms.ts';
import type { DocumentMap } from './validation/document-map.ts';
import { type QualifyingProperties, readQualifyingProperties } from './validation/qualifying-properties.ts';
import {
  DataFault,
  type FoundData,
  findData,
  type ReferenceContext,
  writeNode,
} from './validation/reference-data.ts';
import {
  attributeOf,
  base64Of,
  childrenNamed,
  FormFault,
  holds,
  is,
  onlyChild,
  optionalChild,
  requiredAttribute,
  type SignatureNode,
} from './validation/signature-node.ts';
import { readableBase64, readKeyInfo, readReference } from './validation/signed-info.ts';
import { writeArchivedObjects, writeArchivedStart } from './validation/timestamps.ts';
import { TransformFault } from './validation/transforms.ts';

export interface ExistingSignature {
  readonly node: SignatureNode;
  readonly properties: QualifyingProperties;
  /** Certificate of the signer. */
  readonly certificate: Certificate;
  readonly certificates: readonly Certificate[];
  readonly digest: DigestName;
  readonly value: Buffer;
  /** Data of each reference; undefined for a file that is not available. */
  readonly references: readonly (FoundData | undefined)[];
}

/** Lists the outermost XAdES signatures of a document, in document order. */
export function existingNodes({ signatures }: DocumentMap): SignatureNode[] {
  return signatures.filter(
    (node) =>
      !signatures.some((other) => other !== node && holds(other, node)) &&
      childrenNamed(node, DS, 'Object').some(
        (object) => childrenNamed(object, XADES, 'QualifyingProperties').length > 0,
      ),
  );
}

/**
 * Reads an intact signature; references to unavailable files are not checked.
 * @throws {CryptoError} `signature.mismatch` when it is broken or not supported
 */
export function readExisting(context: ReferenceContext, node: SignatureNode): ExistingSignature {
  const facts = signatureReport(context, node);
  const fault =
    facts.certificate === undefined ? 'no certificate in it is that of its signer' : integrityFailure(facts);
  if (fault !== undefined || facts.certificate === undefined) throw mismatch(fault ?? '');
  try {
    return read(context, node, facts.certificate);
  } catch (error) {
    if (error instanceof FormFault || error instanceof DataFault || error instanceof TransformFault) {
      throw mismatch(error.message);
    }
    throw error;
  }
}

function mismatch(fault: string): CryptoError {
  return new CryptoError('signature.mismatch', `Nothing can be added to a signature: ${fault}.`);
}

function read(context: ReferenceContext, node: SignatureNode, certificate: Certificate): ExistingSignature {
  const properties = readQualifyingProperties(node);
  if (properties === undefined) throw new FormFault('it has no qualifying properties');
  const { older } = properties;
  if (older !== undefined) throw new FormFault(`its properties are those of XAdES ${older}`);
  const signedInfo = onlyChild(node, DS, 'SignedInfo');
  const method = valueMethodOf(requiredAttribute(onlyChild(signedInfo, DS, 'SignatureMethod'), 'Algorithm'));
  const { certificates } = readKeyInfo(optionalChild(node, DS, 'KeyInfo'));
  return {
    node,
    properties,
    certificate,
    certificates,
    digest: method?.hash === 'sha384' || method?.hash === 'sha512' ? method.hash : 'sha256',
    value: base64Of(onlyChild(node, DS, 'SignatureValue')),
    references: childrenNamed(signedInfo, DS, 'Reference').map((one) => signedData(context, one)),
  };
}

function signedData(context: ReferenceContext, node: SignatureNode): FoundData | undefined {
  const reference = readReference(node);
  try {
    return findData(context, reference);
  } catch (error) {
    const outside = reference.uri === undefined || !/^(#|$)/.test(reference.uri);
    if (error instanceof DataFault && error.subIndication === 'SIGNED_DATA_NOT_FOUND' && outside) {
      return undefined;
    }
    throw error;
  }
}

/**
 * Describes an existing signature for augmentation.
 * @param at milliseconds since the epoch
 */
export function raisableExisting(
  context: ReferenceContext,
  present: ExistingSignature,
  at: number,
): RaisableSignature {
  const { node, properties, certificate, certificates, digest, value } = present;
  const { unsigned } = properties;
  const stamps = (namespace: string, local: string): ExistingTimestamp[] =>
    unsigned
      .filter((property) => is(property, namespace, local))
      .flatMap((property) =>
        childrenNamed(property, XADES, 'EncapsulatedTimeStamp').flatMap((one) =>
          readableBase64(one).map((token) => ({ id: attributeOf(property, 'Id') ?? '', token })),
        ),
      );
  const has = (local: string): boolean => unsigned.some((property) => is(property, XADES, local));
  const lastArchive = unsigned.findLastIndex((one) => is(one, XADES_141, 'ArchiveTimeStamp'));
  return {
    id: freeId(context.map, value, at),
    digest,
    certificate: certificate.der,
    certificates: certificates.map(({ der }) => der),
    signatureValue: bytesOf((sink) => {
      writeNode(context, onlyChild(node, DS, 'SignatureValue'), EXCLUSIVE, sink);
    }),
    signatureTimestamps: stamps(XADES, 'SignatureTimeStamp'),
    archiveTimestamps: stamps(XADES_141, 'ArchiveTimeStamp'),
    hasCertificateValues: has('CertificateValues'),
    hasRevocationValues: has('RevocationValues'),
    wantsReferences: false,
    lastArchiveIsProven: unsigned
      .slice(lastArchive + 1)
      .some(
        (one) => is(one, XADES_141, 'TimeStampValidationData') || is(one, XADES_141, 'AnyValidationData'),
      ),
    archived: () => {
      const hash = createHash(digest);
      writeArchivedStart(context, node, {
        references: existingEvidence(present),
        unsigned,
        method: EXCLUSIVE,
        sink: hash,
      });
      return hash;
    },
    writeObjects: (sink) => writeArchivedObjects(context, node, EXCLUSIVE, sink),
  };
}

function existingEvidence({ references }: ExistingSignature): FoundData[] {
  return references.map((data) => {
    if (data !== undefined) return data;
    throw new CryptoError(
      'request.invalid',
      'An archive time-stamp covers the signed file too, and it is not at hand.',
    );
  });
}

/** Finds an identifier that no identifier of the document begins with; equal requests give the same one. */
export function freeId(map: DocumentMap, value: Buffer, at: number): string {
  for (let number = 1; ; number++) {
    const seed = createHash('sha256').update(value).update(`${at} ${number}`);
    const id = ID_PREFIX + seed.digest('hex').slice(0, 32);
    if (map.utf8.indexOf(id) < 0) return id;
  }
}

function bytesOf(write: (sink: ByteSink) => void): Buffer {
  const parts: Buffer[] = [];
  write({ update: (bytes) => parts.push(Buffer.from(bytes)) });
  return Buffer.concat(parts);
}
