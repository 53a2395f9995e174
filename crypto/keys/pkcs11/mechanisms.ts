/** How a token is asked for each kind of signature value (PKCS#11 mechanisms 2.40 §2.1, §2.3; 3.0 §2.3.14 for EdDSA). */
import { createHash } from 'node:crypto';
import { octetString, oid, sequence, tlv } from '../../asn1/write.ts';
import type { DigestName, KeyType, SignatureAlgorithm } from '../../types.ts';
import { derValue } from '../ecdsa-value.ts';
import type { Mechanism } from './module.ts';

const CKM = { rsaPkcs: 0x1, rsaPss: 0xd, ecdsa: 0x1041, eddsa: 0x1057 } as const;
const PSS_PARAMETERS = 5;

/** CKK_ values. */
export const KEY_TYPES: { readonly [type in KeyType]: number } = { rsa: 0x0, ec: 0x3, ed25519: 0x40 };

interface Digest {
  /** AlgorithmIdentifier, its parameters NULL as DigestInfo wants them (RFC 8017 §9.2). */
  readonly identifier: Buffer;
  /** CKM_ of the hash, CKG_ of the mask made with it. */
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

/** What to hand to a token, and what to make of its answer. */
export interface TokenOrder {
  readonly mechanism: Mechanism;
  readonly data: Buffer;
  /** The token's value in the form of `SigningKey.sign`. */
  value(answer: Buffer): Buffer;
}

/** Hashing is done here: nothing but a digest goes to the token, except for Ed25519, which hashes by itself. */
export function orderFor(data: Uint8Array, { scheme, digest }: SignatureAlgorithm): TokenOrder {
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
