/** Names, AlgorithmIdentifiers and choice of digests and signature algorithms (RFC 5754, RFC 4056, RFC 8419). */
import { X509Certificate } from 'node:crypto';
import { DIGEST_BY_OID, DIGEST_ID, ECDSA_BY_OID, ECDSA_ID, ID, OID, RSA_BY_OID } from '../asn1/oids.ts';
import { TAG } from '../asn1/read.ts';
import { NULL, oid, sequence, small, tlv } from '../asn1/write.ts';
import {
  CryptoError,
  type DigestName,
  type SignatureAlgorithm,
  type SignatureParameters,
  type SignatureScheme,
  type SignerIdentity,
} from '../core/types.ts';

const ED25519_OID = '1.3.101.112';

/** Algorithms with hashes that this engine does not create: read so that the policy by date can judge them. */
const FOREIGN_RSA: ReadonlyMap<string, HashName> = new Map<string, HashName>([
  ...RSA_BY_OID,
  ['1.2.840.113549.1.1.4', 'md5'],
  ['1.2.840.113549.1.1.5', 'sha1'],
  ['1.2.840.113549.1.1.14', 'sha224'],
  ['2.16.840.1.101.3.4.3.14', 'sha3-256'],
  ['2.16.840.1.101.3.4.3.15', 'sha3-384'],
  ['2.16.840.1.101.3.4.3.16', 'sha3-512'],
]);
const FOREIGN_ECDSA: ReadonlyMap<string, HashName> = new Map<string, HashName>([
  ...ECDSA_BY_OID,
  ['1.2.840.10045.4.1', 'sha1'],
  ['1.2.840.10045.4.3.1', 'sha224'],
  ['2.16.840.1.101.3.4.3.10', 'sha3-256'],
  ['2.16.840.1.101.3.4.3.11', 'sha3-384'],
  ['2.16.840.1.101.3.4.3.12', 'sha3-512'],
]);

/** Scheme and hash of an AlgorithmIdentifier; the hash is undefined when the identifier does not include it. */
interface SignatureMethod {
  readonly scheme: SignatureScheme;
  readonly hash: HashName | undefined;
}

/** Returns scheme and hash of a signature algorithm; undefined for an unknown one. */
export function signatureMethod(id: string): SignatureMethod | undefined {
  if (id === OID.rsaPss) return { scheme: 'rsa-pss', hash: undefined };
  if (id === OID.rsaEncryption) return { scheme: 'rsa-pkcs1', hash: undefined };
  // RFC 5753 has no such form, but smart card programs write it, and other verifiers take the digest of the SignerInfo.
  if (id === OID.ecPublicKey) return { scheme: 'ecdsa', hash: undefined };
  if (id === ED25519_OID) return { scheme: 'ed25519', hash: undefined };
  const rsa = FOREIGN_RSA.get(id);
  if (rsa !== undefined) return { scheme: 'rsa-pkcs1', hash: rsa };
  const ecdsa = FOREIGN_ECDSA.get(id);
  return ecdsa === undefined ? undefined : { scheme: 'ecdsa', hash: ecdsa };
}

/** Bytes of a digest. */
export const DIGEST_LENGTH: { readonly [name in DigestName]: number } = {
  sha256: 32,
  sha384: 48,
  sha512: 64,
};

export const RSA_PSS = oid(OID.rsaPss);
export const MGF1 = oid(OID.mgf1);
const ED25519 = oid(ED25519_OID);

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
export const OID_BY_HASH: ReadonlyMap<HashName, string> = new Map(
  [...HASH_BY_OID].map(([id, name]): [HashName, string] => [name, id]),
);
export const SHA1 = '1.3.14.3.2.26';

/** Returns the hash function of this name, as time-stamps give it; undefined for an unknown one. */
export function hashNamed(name: string): HashName | undefined {
  return NAMES.has(name) ? (name as HashName) : undefined;
}
