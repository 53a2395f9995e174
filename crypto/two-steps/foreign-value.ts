/** Signature values that were made elsewhere, checked before anything is written with them. */
import { constants, type KeyObject, verify } from 'node:crypto';
import { readCertificate } from '../certificates/certificate.ts';
import { derValue } from '../keys/ecdsa-value.ts';
import { CryptoError, type SignatureAlgorithm, type SignerIdentity } from '../types.ts';

/**
 * The value as a `SigningKey` would have given it, ECDSA in DER; it may come in DER or as r and s in a row.
 * @throws {CryptoError} `signature.mismatch` when the key of the certificate didn't make it over `toBeSigned`
 */
export function acceptedValue(
  signer: SignerIdentity,
  algorithm: SignatureAlgorithm,
  toBeSigned: Buffer,
  value: Buffer,
): Buffer {
  const { publicKey } = readCertificate(signer.certificate);
  const forms = [value];
  if (algorithm.scheme === 'ecdsa' && value.length === 2 * Math.ceil(signer.keyBits / 8)) {
    forms.push(derValue(value));
  }
  const good = forms.find((form) => fits(publicKey, algorithm, toBeSigned, form));
  if (good !== undefined) return good;
  throw new CryptoError(
    'signature.mismatch',
    'The signature value was not made by this key over these bytes.',
  );
}

function fits(
  key: KeyObject,
  { scheme, digest }: SignatureAlgorithm,
  toBeSigned: Buffer,
  value: Buffer,
): boolean {
  try {
    if (scheme === 'ed25519') return verify(null, toBeSigned, key, value);
    if (scheme !== 'rsa-pss') return verify(digest, toBeSigned, key, value);
    const padding = constants.RSA_PKCS1_PSS_PADDING;
    // The salt's length is written into the signature before the value is there, so no other will do.
    const saltLength = constants.RSA_PSS_SALTLEN_DIGEST;
    return verify(digest, toBeSigned, { key, padding, saltLength }, value);
  } catch {
    return false; // another kind of key, or a value that is none
  }
}
