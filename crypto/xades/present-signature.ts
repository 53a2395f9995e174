/**
 * Signatures that are in a document already, by whomever: intact ones are read as far as adding unsigned properties to
 * them asks.
 */
import { createHash } from 'node:crypto';
import type { Certificate } from '../certificates/certificate.ts';
import { CryptoError, type DigestName } from '../types.ts';
import { type ByteSink, EXCLUSIVE } from '../xml/index.ts';
import { writeArchivedObjects, writeArchivedStart } from './archive-data.ts';
import { DS, XADES, XADES_141 } from './identifiers.ts';
import type { PresentTimestamp, RaisableSignature } from './raise.ts';
import { ID_PREFIX } from './survey.ts';
import { hashOf, valueFault, valueMethodOf } from './validation/algorithms.ts';
import type { DocumentMap } from './validation/document-map.ts';
import { readableBase64, readKeyInfo } from './validation/key-info.ts';
import { type QualifyingProperties, readQualifyingProperties } from './validation/qualifying-properties.ts';
import {
  DataFault,
  type DataRoom,
  digestData,
  type FoundData,
  findData,
  writeNode,
} from './validation/reference-data.ts';
import { readReference } from './validation/references.ts';
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
import { canonicalMethod, TransformFault } from './validation/transforms.ts';

export interface PresentSignature {
  readonly node: SignatureNode;
  readonly properties: QualifyingProperties;
  /** Whose key made the value. */
  readonly certificate: Certificate;
  readonly certificates: readonly Certificate[];
  readonly digest: DigestName;
  readonly value: Buffer;
  /** What each reference is over; undefined for a file that is not at hand. */
  readonly references: readonly (FoundData | undefined)[];
}

/** The XAdES signatures of a document that stand in no other one, in document order. */
export function presentNodes({ signatures }: DocumentMap): SignatureNode[] {
  return signatures.filter(
    (node) =>
      !signatures.some((other) => other !== node && holds(other, node)) &&
      childrenNamed(node, DS, 'Object').some(
        (object) => childrenNamed(object, XADES, 'QualifyingProperties').length > 0,
      ),
  );
}

/**
 * Reads a signature and checks, as far as what it is over is at hand, that it is intact: nothing is added to others.
 * @throws {CryptoError} `signature.mismatch` when it is broken or not understood
 */
export function readPresent(room: DataRoom, node: SignatureNode): PresentSignature {
  try {
    const fault = room.map.faults.get(node);
    if (fault !== undefined) throw new FormFault(fault);
    return read(room, node);
  } catch (error) {
    if (error instanceof FormFault || error instanceof DataFault || error instanceof TransformFault) {
      throw new CryptoError('signature.mismatch', `Nothing can be added to a signature: ${error.message}.`);
    }
    throw error;
  }
}

function read(room: DataRoom, node: SignatureNode): PresentSignature {
  const properties = readQualifyingProperties(node);
  if (properties === undefined) throw new FormFault('it has no qualifying properties');
  const signedInfo = onlyChild(node, DS, 'SignedInfo');
  const method = valueMethodOf(requiredAttribute(onlyChild(signedInfo, DS, 'SignatureMethod'), 'Algorithm'));
  if (method === undefined) throw new FormFault('its algorithm is not known');
  const value = base64Of(onlyChild(node, DS, 'SignatureValue'));
  const bytes = bytesOf((sink) =>
    writeNode(room, signedInfo, canonicalMethod(onlyChild(signedInfo, DS, 'CanonicalizationMethod')), sink),
  );
  const { certificates } = readKeyInfo(optionalChild(node, DS, 'KeyInfo'));
  const certificate = certificates.find(
    ({ publicKey }) => valueFault(method, publicKey, bytes, value) === undefined,
  );
  if (certificate === undefined) throw new FormFault('no certificate in it fits its value');
  return {
    node,
    properties,
    certificate,
    certificates,
    digest: method.hash === 'sha384' || method.hash === 'sha512' ? method.hash : 'sha256',
    value,
    references: childrenNamed(signedInfo, DS, 'Reference').map((one) => intactData(room, node, one)),
  };
}

function intactData(room: DataRoom, signature: SignatureNode, node: SignatureNode): FoundData | undefined {
  const reference = readReference(node);
  let found: FoundData;
  try {
    found = findData(room, reference);
  } catch (error) {
    const outside = reference.uri === undefined || !/^(#|$)/.test(reference.uri);
    if (error instanceof DataFault && error.subIndication === 'SIGNED_DATA_NOT_FOUND' && outside) {
      return undefined;
    }
    throw error;
  }
  const hash = hashOf(reference.digestMethod);
  if (hash === undefined) throw new FormFault('the hash function of a reference is not known');
  if (!digestData(room, found, signature, hash).equals(reference.digest)) {
    throw new FormFault(`what its reference "${reference.uri ?? ''}" is over was changed`);
  }
  return found;
}

/**
 * A signature as `raise` wants it.
 * @param at milliseconds since the epoch
 */
export function raisablePresent(room: DataRoom, present: PresentSignature, at: number): RaisableSignature {
  const { node, properties, certificate, certificates, digest, value } = present;
  const { unsigned } = properties;
  const stamps = (namespace: string, local: string): PresentTimestamp[] =>
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
    id: freeId(room.map, value, at),
    digest,
    certificate: certificate.der,
    certificates: certificates.map(({ der }) => der),
    signatureValue: bytesOf((sink) => {
      writeNode(room, onlyChild(node, DS, 'SignatureValue'), EXCLUSIVE, sink);
    }),
    signatureTimestamps: stamps(XADES, 'SignatureTimeStamp'),
    archiveTimestamps: stamps(XADES_141, 'ArchiveTimeStamp'),
    hasCertificateValues: has('CertificateValues'),
    hasRevocationValues: has('RevocationValues'),
    lastArchiveIsProven: unsigned
      .slice(lastArchive + 1)
      .some(
        (one) => is(one, XADES_141, 'TimeStampValidationData') || is(one, XADES_141, 'AnyValidationData'),
      ),
    archived: () => {
      const hash = createHash(digest);
      writeArchivedStart(room, node, atHand(present), unsigned, EXCLUSIVE, hash);
      return hash;
    },
    writeObjects: (sink) => writeArchivedObjects(room, node, EXCLUSIVE, sink),
  };
}

function atHand({ references }: PresentSignature): FoundData[] {
  return references.map((data) => {
    if (data !== undefined) return data;
    throw new CryptoError(
      'request.invalid',
      'An archive time-stamp covers the signed file too, and it is not at hand.',
    );
  });
}

/** An identifier with which none in the document begins, the same for the same request. */
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
