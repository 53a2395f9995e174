/** Maps signature algorithms to PKCS#11 mechanisms (2.40 §2.1, §2.3; 3.0 §2.3.14 for EdDSA). */
import { createHash } from 'node:crypto';
import { derValue } from '../../algorithms/ecdsa-value.ts';
import { octetString, oid, sequence, tlv } from '../../asn1/write.ts';
import type { DigestName, KeyType, SignatureAlgorithm } from '../../core/types.ts';
import type { Mechanism } from './module.ts';

const CKM = { rsaPkcs: 0x1, rsaPss: 0xd, ecdsa: 0x1041, eddsa: 0x1057 } as const;
const PSS_PARAMETERS = 5;

/** CKK_ values. */
export const KEY_TYPES: { readonly [type in KeyType]: number } = {
  rsa: 0x0,
  'rsa-pss': 0x0,
  ec: 0x3,
  ed25519: 0x40,
};

interface Digest {
  /** AlgorithmIdentifier with NULL parameters, for DigestInfo (RFC 8017 §9.2). */
  readonly identifier: Buffer;
  /** CKM_ value of the hash, CKG_ value of the mask generation function with it. */
  readonly hash: number;
  readonly mask: number;
  readonly length: number;
}

const NULL = tlv(0x05);
const DIGESTS: { readonly [name in DigestName]: Digest } = {
  sha256: {
    identifier: sequence(oid('2.16.840.1.101.3.4.2.1'), NULL),
    hash: 0x250,
    mask: 0x2,
    length: 32,
  },
  sha384: {
    identifier: sequence(oid('2.16.840.1.101.3.4.2.2'), NULL),
    hash: 0x260,
    mask: 0x3,
    length: 48,
  },
  sha512: {
    identifier: sequence(oid('2.16.840.1.101.3.4.2.3'), NULL),
    hash: 0x270,
    mask: 0x4,
    length: 64,
  },
};

/** Input of C_Sign, and the conversion of its result. */
export interface TokenMechanism {
  readonly mechanism: Mechanism;
  readonly data: Buffer;
  /** Converts the token's value to the form of `SigningKey.sign`. */
  value(answer: Buffer): Buffer;
}

/**
 * Prepares a signature: hashes here and sends a digest to the token, except for Ed25519, which hashes internally.
 *     DigestInfo ::= SEQUENCE { digestAlgorithm AlgorithmIdentifier, digest OCTET STRING }
 */
export function mechanismFor(data: Uint8Array, { scheme, digest }: SignatureAlgorithm): TokenMechanism {
  if (scheme === 'ed25519') {
    return { mechanism: { mechanism: CKM.eddsa }, data: Buffer.from(data), value: Buffer.from };
  }
  const hash = createHash(digest).update(data).digest();
  const { identifier, hash: hashAlg, mask: mgf, length: saltLen } = DIGESTS[digest];
  switch (scheme) {
    case 'ecdsa':
      return { mechanism: { mechanism: CKM.ecdsa }, data: hash, value: derValue };
    case 'rsa-pss':
      return {
        mechanism: {
          mechanism: CKM.rsaPss,
          parameter: { type: PSS_PARAMETERS, hashAlg, mgf, saltLen },
        },
        data: hash,
        value: Buffer.from,
      };
    case 'rsa-pkcs1':
      return {
        mechanism: { mechanism: CKM.rsaPkcs },
        data: sequence(identifier, octetString(hash)),
        value: Buffer.from,
      };
  }
}
