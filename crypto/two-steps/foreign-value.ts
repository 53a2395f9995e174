/** Signature values that were made elsewhere, checked before anything is written with them. */
import { readCertificate } from '../certificates/certificate.ts';
import { derValue } from '../keys/ecdsa-value.ts';
import { valueFault } from '../keys/value-check.ts';
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
  // The length of a PSS salt is written into the signature before the value is there: that of the hash, and no other.
  const method = { scheme: algorithm.scheme, hash: algorithm.digest };
  const forms = [value];
  if (algorithm.scheme === 'ecdsa' && value.length === 2 * Math.ceil(signer.keyBits / 8)) {
    forms.push(derValue(value));
  }
  const good = forms.find((form) => valueFault(method, publicKey, toBeSigned, form) === undefined);
  if (good !== undefined) return good;
  throw new CryptoError(
    'signature.mismatch',
    'The signature value was not made by this key over these bytes.',
  );
}
