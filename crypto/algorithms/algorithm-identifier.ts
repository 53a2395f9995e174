/** Encodes AlgorithmIdentifiers of digests and signature algorithms (RFC 5754, RFC 4056, RFC 8419). */

import { DIGEST_ID, ECDSA_ID, ID, OID } from '../asn1/oids.ts';
import { TAG } from '../asn1/tags.ts';
import { NULL, oid, sequence, small, tlv } from '../asn1/write.ts';
import type { DigestName, SignatureAlgorithm } from '../core/types.ts';

/** Bytes of a digest. */
export const DIGEST_LENGTH: { readonly [name in DigestName]: number } = {
  sha256: 32,
  sha384: 48,
  sha512: 64,
};

const RSA_PSS = oid(OID.rsaPss);
const MGF1 = oid(OID.mgf1);
const ED25519 = oid('1.3.101.112');

/** Encodes the AlgorithmIdentifier of a digest, without parameters (RFC 5754 §2). */
export function digestIdentifier(digest: DigestName): Buffer {
  return sequence(DIGEST_ID[digest]);
}

/**
 * Encodes the AlgorithmIdentifier of a signature algorithm.
 *     AlgorithmIdentifier ::= SEQUENCE { algorithm OBJECT IDENTIFIER, parameters ANY OPTIONAL }
 */
export function signatureIdentifier({ scheme, digest }: SignatureAlgorithm): Buffer {
  switch (scheme) {
    // RFC 5754 §3.2 permits the identifier of the key, with NULL parameters.
    case 'rsa-pkcs1':
      return sequence(ID.rsaEncryption, NULL);
    case 'rsa-pss':
      return sequence(RSA_PSS, pssParameters(digest));
    case 'ecdsa':
      return sequence(ECDSA_ID[digest]);
    case 'ed25519':
      return sequence(ED25519);
  }
}

/**
 * Encodes RSASSA-PSS-params with one hash and a salt of its length (RFC 4056 §3); hashes have NULL parameters (RFC
 * 4055 §6).
 *     RSASSA-PSS-params ::= SEQUENCE {
 *      hashAlgorithm     [0] AlgorithmIdentifier,
 *      maskGenAlgorithm  [1] AlgorithmIdentifier,
 *      saltLength        [2] INTEGER }
 */
function pssParameters(digest: DigestName): Buffer {
  const hash = sequence(DIGEST_ID[digest], NULL);
  return sequence(
    tlv(TAG.context0Constructed, hash),
    tlv(TAG.context1Constructed, sequence(MGF1, hash)),
    tlv(TAG.context2Constructed, small(DIGEST_LENGTH[digest])),
  );
}
