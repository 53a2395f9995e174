/** Makes archive-time-stamp-v3 with its ats-hash-index-v3 (EN 319 122-1 §5.5.2 and §5.5.3). */
import { createHash } from 'node:crypto';
import { digestIdentifier } from '../algorithms/algorithm-identifier.ts';
import { OID } from '../asn1/oids.ts';
import { octetString, sequence } from '../asn1/write.ts';
import { amendSignedData } from '../cms/amend.ts';
import { archiveImprintData, indexedAttributes } from '../cms/archive-imprint.ts';
import { parseSignedData, type SignedData, type SignerInfo } from '../cms/parse.ts';
import { unsignedAttribute } from '../cms/unsigned-attributes.ts';
import type { DigestName } from '../core/types.ts';
import type { TimestampAuthority } from '../evidence/authorities.ts';

/**
 * Requests an archive time-stamp over one signature and the present values of the SignedData: certificates,
 * revocation values and the unsigned attributes of this signer. Returns the DER of the Attribute.
 * @param contentDigest of the signed content, made with `digest`
 * @throws {CryptoError} `authority.unreachable`, `authority.refused`
 */
export async function archiveTimestamp(
  data: SignedData,
  signer: SignerInfo,
  contentDigest: Buffer,
  digest: DigestName,
  authority: TimestampAuthority,
): Promise<Buffer> {
  const index = hashIndex(data, signer, digest);
  const imprint = createHash(digest)
    .update(archiveImprintData(data, signer, contentDigest, index))
    .digest();
  const token = await authority.stamp(imprint, digest);
  return unsignedAttribute(OID.archiveTimestampV3, withIndex(token, index));
}

/**
 * Encodes the hash index (EN 319 122-1 §5.5.2); its algorithm must be that of the message imprint.
 *     ATSHashIndexV3 ::= SEQUENCE {
 *      hashIndAlgorithm             AlgorithmIdentifier,
 *      certificatesHashIndex        SEQUENCE OF OCTET STRING,
 *      crlsHashIndex                SEQUENCE OF OCTET STRING,
 *      unsignedAttrValuesHashIndex  SEQUENCE OF OCTET STRING }
 */
function hashIndex(data: SignedData, signer: SignerInfo, digest: DigestName): Buffer {
  const hashes = (all: readonly Buffer[]) =>
    sequence(...all.map((bytes) => octetString(createHash(digest).update(bytes).digest())));
  return sequence(
    digestIdentifier(digest),
    hashes(data.certificateChoices),
    hashes(data.revocationChoices),
    hashes(indexedAttributes(signer.unsignedAttributes, 3)),
  );
}

/** Adds the index as an unsigned attribute of the token's own signer; the message imprint covers it. */
function withIndex(token: Buffer, index: Buffer): Buffer {
  const before = parseSignedData(token).signers[0]?.unsignedAttributes?.encodings ?? [];
  const attributes = [...before, unsignedAttribute(OID.hashIndexV3, index)];
  return amendSignedData(token, { unsigned: new Map([[0, attributes]]) });
}
