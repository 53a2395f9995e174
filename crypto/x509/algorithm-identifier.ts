/** Algorithms of keys, and AlgorithmIdentifiers of digests and signatures (RFC 5754, RFC 4056, RFC 8419). */

import { type KeyObject, X509Certificate } from 'node:crypto';
import { DIGEST_BY_OID, DIGEST_ID, ECDSA_ID, ID, OID } from '../asn1/oids.ts';
import { TAG } from '../asn1/read.ts';
import { NULL, oid, sequence, small, tlv } from '../asn1/write.ts';
import {
  CryptoError,
  type DigestName,
  type KeyType,
  type SignatureAlgorithm,
  type SignatureParameters,
  type SignerIdentity,
} from '../core/types.ts';

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

/**
 * Selects the algorithm of a signer's key for a digest and a padding (RFC 8419 §3.1 for Ed25519).
 * @throws {CryptoError} `key.unsupported` when an RSA-PSS key is bound to other parameters
 */
export function algorithmOf(
  { keyType, certificate }: Pick<SignerIdentity, 'keyType' | 'certificate'>,
  { digest, padding }: Pick<SignatureParameters, 'digest' | 'padding'>,
): SignatureAlgorithm {
  if (keyType === 'ed25519') return { scheme: 'ed25519', digest: 'sha512' };
  if (keyType === 'ec') return { scheme: 'ecdsa', digest: digest ?? 'sha256' };
  if (keyType === 'rsa-pss') return { scheme: 'rsa-pss', digest: boundDigest(certificate, digest) };
  return { scheme: padding === 'pss' ? 'rsa-pss' : 'rsa-pkcs1', digest: digest ?? 'sha256' };
}

/** Parameters in a public key restrict the digest and the salt of its signatures (RFC 4055 §3.3). */
function boundDigest(certificate: Buffer, wanted: DigestName | undefined): DigestName {
  const { publicKey } = new X509Certificate(certificate);
  const { hashAlgorithm, mgf1HashAlgorithm, saltLength = 0 } = publicKey.asymmetricKeyDetails ?? {};
  const bound = (['sha256', 'sha384', 'sha512'] as const).find((name) => name === hashAlgorithm);
  const digest = wanted ?? bound ?? 'sha256';
  const isFree = hashAlgorithm === undefined;
  const fits =
    digest === hashAlgorithm && mgf1HashAlgorithm === digest && saltLength <= DIGEST_LENGTH[digest];
  if (isFree || fits) return digest;
  throw new CryptoError(
    'key.unsupported',
    `The key signs with ${hashAlgorithm}, a mask of ${mgf1HashAlgorithm} and a salt of at least ${saltLength} bytes alone, not with ${digest} throughout.`,
  );
}

/** Names of `crypto.createHash`. Names outside of `DigestName` are verified, never created. */
export type HashName = DigestName | 'md5' | 'sha1' | 'sha224' | 'sha3-256' | 'sha3-384' | 'sha3-512';

/** By dotted identifier. */
export const HASH_BY_OID: ReadonlyMap<string, HashName> = new Map<string, HashName>([
  ...DIGEST_BY_OID,
  ['1.2.840.113549.2.5', 'md5'],
  ['1.3.14.3.2.26', 'sha1'],
  ['2.16.840.1.101.3.4.2.4', 'sha224'],
  ['2.16.840.1.101.3.4.2.8', 'sha3-256'],
  ['2.16.840.1.101.3.4.2.9', 'sha3-384'],
  ['2.16.840.1.101.3.4.2.10', 'sha3-512'],
]);

const NAMES: ReadonlySet<string> = new Set(HASH_BY_OID.values());

/** Returns the hash function of this name, as time-stamps give it; undefined for an unknown one. */
export function hashNamed(name: string): HashName | undefined {
  return NAMES.has(name) ? (name as HashName) : undefined;
}

/** Curves of at least 256 bits that OpenSSL has: NIST, SEC 2, and RFC 5639 in both forms. */
const CURVE_BITS: { readonly [curve: string]: number } = {
  prime256v1: 256,
  secp384r1: 384,
  secp521r1: 521,
  secp256k1: 256,
  brainpoolP256r1: 256,
  brainpoolP256t1: 256,
  brainpoolP320r1: 320,
  brainpoolP320t1: 320,
  brainpoolP384r1: 384,
  brainpoolP384t1: 384,
  brainpoolP512r1: 512,
  brainpoolP512t1: 512,
};

const SCHEME_KEYS: { readonly [scheme in SignatureAlgorithm['scheme']]: readonly KeyType[] } = {
  'rsa-pkcs1': ['rsa'],
  'rsa-pss': ['rsa', 'rsa-pss'],
  ecdsa: ['ec'],
  ed25519: ['ed25519'],
};

/** Checks that the key type matches the scheme. @throws {CryptoError} `key.unsupported` */
export function assertFits(type: KeyType, { scheme }: SignatureAlgorithm): void {
  if (SCHEME_KEYS[scheme].includes(type)) return;
  throw new CryptoError('key.unsupported', `A key of type ${type} makes no ${scheme} signatures.`);
}

/**
 * Returns type and size of a private or public key. @throws {CryptoError} `key.unsupported` for keys that `localKey`
 * refuses
 */
export function kindOf(key: KeyObject): { readonly type: KeyType; readonly bits: number } {
  const type = key.asymmetricKeyType;
  const details = key.asymmetricKeyDetails ?? {};
  if (type === 'rsa' || type === 'rsa-pss') {
    const bits = details.modulusLength ?? 0;
    if (bits >= 2048 && bits <= 4096) return { type, bits };
    throw new CryptoError('key.unsupported', `RSA keys have 2048 to 4096 bits here, this one has ${bits}.`);
  }
  if (type === 'ec') {
    const bits = CURVE_BITS[details.namedCurve ?? ''];
    if (bits !== undefined) return { type, bits };
    throw new CryptoError('key.unsupported', `The curve ${details.namedCurve} is not supported.`);
  }
  if (type === 'ed25519') return { type, bits: 255 };
  throw new CryptoError('key.unsupported', `Keys of type ${type} are not supported.`);
}
