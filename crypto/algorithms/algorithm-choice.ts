import type { SignatureAlgorithm, SignatureParameters, SignerIdentity } from '../core/types.ts';

/** Selects the algorithm of a signer's key for a digest and a padding (RFC 8419 §3.1 for Ed25519). */
export function algorithmOf(
  { keyType }: Pick<SignerIdentity, 'keyType'>,
  { digest, padding }: Pick<SignatureParameters, 'digest' | 'padding'>,
): SignatureAlgorithm {
  if (keyType === 'ed25519') return { scheme: 'ed25519', digest: 'sha512' };
  if (keyType === 'ec') return { scheme: 'ecdsa', digest: digest ?? 'sha256' };
  return { scheme: padding === 'pss' ? 'rsa-pss' : 'rsa-pkcs1', digest: digest ?? 'sha256' };
}
