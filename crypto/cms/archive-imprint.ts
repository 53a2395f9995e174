/**
 * Input of the message imprint of an archive-time-stamp-v3: the hash of the content, the fields of one SignerInfo,
 * and an
 * index of hashes of all other values in the SignedData at that time (EN 319 122-1 §5.5.2 and §5.5.3).
 */
import { createHash } from 'node:crypto';
import { OID } from '../asn1/oids.ts';
import {
  Asn1Error,
  childrenOf,
  type Element,
  encoded,
  enter,
  octets,
  parseAlgorithm,
  readWhole,
  TAG,
} from '../asn1/read.ts';
import { oid } from '../asn1/write.ts';
import { HASH_BY_OID, type HashName } from '../x509/signature-algorithms.ts';
import type { Attributes, SignedData, SignerInfo } from './parse.ts';

/** Hashes of the values that an archive time-stamp covers in addition to the signature itself. */
export interface HashIndex {
  /** DER of the attribute's value. */
  readonly encoding: Buffer;
  readonly hash: HashName;
  readonly certificates: readonly Buffer[];
  readonly revocation: readonly Buffer[];
  readonly unsignedAttributes: readonly Buffer[];
  /** The first version hashes whole attributes, the third one value by value. */
  readonly version: 1 | 3;
}

/**
 * Reads the hash index from the unsigned attributes of the time-stamp's signer (EN 319 122-1 §5.5.2).
 * @throws {Asn1Error} when it is missing or malformed
 *     ATSHashIndexV3 ::= SEQUENCE {
 *      hashIndAlgorithm             AlgorithmIdentifier,   -- version 1: DEFAULT id-sha256
 *      certificatesHashIndex        SEQUENCE OF OCTET STRING,
 *      crlsHashIndex                SEQUENCE OF OCTET STRING,
 *      unsignedAttrValuesHashIndex  SEQUENCE OF OCTET STRING }
 */
export function readHashIndex(token: SignedData): HashIndex {
  const values = token.signers[0]?.unsignedAttributes?.values;
  const third = values?.get(OID.hashIndexV3);
  const found = third ?? values?.get(OID.hashIndexV1);
  const [value] = found ?? [];
  if (value === undefined || found?.length !== 1) throw new Asn1Error('the hash index is missing', 0);
  const version = third === undefined ? 1 : 3;
  const fields = enter(value, TAG.sequence);
  const start = fields.next(TAG.sequence);
  // Version 1 may omit its algorithm, which is then SHA-256; an AlgorithmIdentifier begins with an OID.
  const named = childrenOf(start)[0]?.tag === TAG.oid;
  if (!named && version === 3) throw new Asn1Error('the hash index names no algorithm', start.start);
  const hash = named ? HASH_BY_OID.get(parseAlgorithm(start).id) : 'sha256';
  if (hash === undefined) throw new Asn1Error('the hash index uses an unknown algorithm', start.start);
  const certificates = named ? fields.next(TAG.sequence) : start;
  const revocation = fields.next(TAG.sequence);
  const unsignedAttributes = fields.next(TAG.sequence);
  fields.end();
  return {
    encoding: encoded(value),
    hash,
    certificates: hashesIn(certificates),
    revocation: hashesIn(revocation),
    unsignedAttributes: hashesIn(unsignedAttributes),
    version,
  };
}

function hashesIn(element: Element): Buffer[] {
  return childrenOf(element).map(octets);
}

/**
 * Returns the reason why the index does not match this SignedData: it lists a value that is missing; undefined when
 * it matches. Values added after the time-stamp are not in the index.
 */
export function indexFault(index: HashIndex, data: SignedData, signer: SignerInfo): string | undefined {
  const hash = (bytes: Buffer) => createHash(index.hash).update(bytes).digest('hex');
  const present = (all: readonly Buffer[], named: readonly Buffer[]) => {
    if (named.length === 0) return true;
    const digests = new Set(all.map(hash));
    return named.every((one) => digests.has(one.toString('hex')));
  };
  if (!present(data.certificateChoices, index.certificates)) return 'a certificate it covers is gone';
  if (!present(data.revocationChoices, index.revocation)) return 'a revocation value it covers is gone';
  const attributes = indexedAttributes(signer.unsignedAttributes, index.version);
  return present(attributes, index.unsignedAttributes) ? undefined : 'an attribute it covers is gone';
}

/**
 * Returns every value in the SignedData that the index covers, and the signed attributes. Other values may have been
 * added at any time.
 */
export function coveredElements(index: HashIndex, data: SignedData, signer: SignerInfo): readonly Buffer[] {
  const named = (all: readonly Buffer[], hashes: readonly Buffer[]): Buffer[] =>
    all.filter((bytes) => {
      const own = createHash(index.hash).update(bytes).digest();
      return hashes.some((one) => one.equals(own));
    });
  return [
    ...(signer.attributes?.encodings ?? []),
    ...named(data.certificateChoices, index.certificates),
    ...named(data.revocationChoices, index.revocation),
    ...named(indexedAttributes(signer.unsignedAttributes, index.version), index.unsignedAttributes),
  ];
}

/**
 * Returns the inputs of the hashes of the unsigned attributes: type and value for each value, or the whole attribute.
 */
export function indexedAttributes(attributes: Attributes | undefined, version: 1 | 3): Buffer[] {
  if (attributes === undefined) return [];
  if (version === 1) return [...attributes.encodings];
  return [...attributes.values].flatMap(([type, values]) =>
    values.map((value) => Buffer.concat([oid(type), encoded(value)])),
  );
}

/**
 * Returns the bytes whose digest is the message imprint of the time-stamp (EN 319 122-1 §5.5.3).
 * @param contentDigest of the signed content, made with the algorithm of the imprint
 */
export function archiveImprintData(
  data: SignedData,
  signer: SignerInfo,
  contentDigest: Buffer,
  index: Buffer,
): Buffer {
  // version, sid, digestAlgorithm, signedAttrs, signatureAlgorithm and signature as encoded; unsignedAttrs are left
  // out.
  const fields = childrenOf(readWhole(signer.encoding)).filter(({ tag }) => tag !== TAG.context1Constructed);
  return Buffer.concat([oid(data.contentType), contentDigest, ...fields.map(encoded), index]);
}
