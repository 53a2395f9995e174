/** Makes archive-time-stamp-v3 with its ats-hash-index-v3 (EN 319 122-1 §5.5.2 and §5.5.3). */
import { createHash } from 'node:crypto';
import { OID } from '../asn1/oids.ts';
import { octetString, sequence } from '../asn1/write.ts';
import type { TimestampAuthority } from '../authorities.ts';
import { digestIdentifier } from '../cms/algorithm-identifier.ts';
import { amendSignedData } from '../cms/amend.ts';
import { archiveImprintData, indexedAttributes } from '../cms/archive-imprint.ts';
import { parseSignedData, type SignedData, type SignerInfo } from '../cms/parse.ts';
import { unsignedAttribute } from '../cms/unsigned-attributes.ts';
import type { DigestName } from '../types.ts';

/**
 * DER of the Attribute that proves one signature and all that stands in the SignedData now: certificates, revocation
 * values and the unsigned attributes of this signer.
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

/** ATSHashIndexV3; the algorithm has to be that of the imprint. */
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

/** The index travels as an unsigned attribute of the token's own signer; the imprint covers it. */
function withIndex(token: Buffer, index: Buffer): Buffer {
  const before = parseSignedData(token).signers[0]?.unsignedAttributes?.encodings ?? [];
  const attributes = [...before, unsignedAttribute(OID.hashIndexV3, index)];
  return amendSignedData(token, { unsigned: new Map([[0, attributes]]) });
}
