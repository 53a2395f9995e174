import { X509Certificate } from 'node:crypto';
import {
  CryptoError,
  type DigestName,
  type SignatureAlgorithm,
  type SignatureParameters,
  type SignerIdentity,
} from '../core/types.ts';
import { DIGEST_LENGTH } from './algorithm-identifier.ts';

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
