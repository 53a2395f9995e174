/**
 * What an archive-time-stamp-v3 is over: the hash of the content, the fields of one SignerInfo, and an index of hashes
 * of everything else that stands in the SignedData at that time (EN 319 122-1 §5.5.2 and §5.5.3).
 */
import { createHash } from 'node:crypto';
import { Asn1Error } from '../asn1/error.ts';
import { OID } from '../asn1/oids.ts';
import { childrenOf, type Element, encoded, enter, octets, readWhole } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import { oid } from '../asn1/write.ts';
import { HASH_BY_OID, type HashName } from './hashes.ts';
import { type Attributes, parseAlgorithm, type SignedData, type SignerInfo } from './parse.ts';

/** Hashes of what an archive time-stamp covers beside the signature itself. */
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

/** The index in the unsigned attributes of a time-stamp's signer. @throws {Asn1Error} when it is missing or malformed */
export function readHashIndex(token: SignedData): HashIndex {
  const values = token.signers[0]?.unsignedAttributes?.values;
  const third = values?.get(OID.hashIndexV3);
  const found = third ?? values?.get(OID.hashIndexV1);
  const [value] = found ?? [];
  if (value === undefined || found?.length !== 1) throw new Asn1Error('the hash index is missing', 0);
  const version = third === undefined ? 1 : 3;
  const fields = enter(value, TAG.sequence);
  const start = fields.take(TAG.sequence);
  // The first version may leave its algorithm out, which then is SHA-256; an algorithm begins with an identifier.
  const named = childrenOf(start)[0]?.tag === TAG.oid;
  if (!named && version === 3) throw new Asn1Error('the hash index names no algorithm', start.start);
  const hash = named ? HASH_BY_OID.get(parseAlgorithm(start).id) : 'sha256';
  if (hash === undefined) throw new Asn1Error('the hash index uses an unknown algorithm', start.start);
  const certificates = named ? fields.take(TAG.sequence) : start;
  const revocation = fields.take(TAG.sequence);
  const unsignedAttributes = fields.take(TAG.sequence);
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
 * Why the index does not describe this SignedData: it names something that is not there any more. Undefined when it
 * does. What was added after the time-stamp is not in the index, and need not be.
 */
export function indexFault(index: HashIndex, data: SignedData, signer: SignerInfo): string | undefined {
  const hash = (bytes: Buffer) => createHash(index.hash).update(bytes).digest('hex');
  const present = (all: readonly Buffer[], named: readonly Buffer[]) => {
    if (named.length === 0) return true;
    const there = new Set(all.map(hash));
    return named.every((one) => there.has(one.toString('hex')));
  };
  if (!present(data.certificateChoices, index.certificates)) return 'a certificate it covers is gone';
  if (!present(data.revocationChoices, index.revocation)) return 'a revocation value it covers is gone';
  const attributes = indexedAttributes(signer.unsignedAttributes, index.version);
  return present(attributes, index.unsignedAttributes) ? undefined : 'an attribute it covers is gone';
}

/**
 * Everything in the SignedData that the index proves, as it stands there: what it names, and the signed attributes.
 * What is not in it may have been added at any time.
 */
export function coveredParts(index: HashIndex, data: SignedData, signer: SignerInfo): readonly Buffer[] {
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

/** What the index hashes for each unsigned attribute: type and value for every value, or the attribute as a whole. */
export function indexedAttributes(attributes: Attributes | undefined, version: 1 | 3): Buffer[] {
  if (attributes === undefined) return [];
  if (version === 1) return [...attributes.encodings];
  return [...attributes.values].flatMap(([type, values]) =>
    values.map((value) => Buffer.concat([oid(type), encoded(value)])),
  );
}

/**
 * The bytes whose digest the time-stamp holds.
 * @param contentDigest of the signed content, made with the imprint's algorithm
 */
export function archiveImprintData(
  data: SignedData,
  signer: SignerInfo,
  contentDigest: Buffer,
  index: Buffer,
): Buffer {
  // version, sid, digestAlgorithm, signedAttrs, signatureAlgorithm and signature as they stand; unsignedAttrs are left.
  const fields = childrenOf(readWhole(signer.encoding)).filter(({ tag }) => tag !== TAG.context1Constructed);
  return Buffer.concat([oid(data.contentType), contentDigest, ...fields.map(encoded), index]);
}
