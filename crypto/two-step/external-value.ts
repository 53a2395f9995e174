/** Checks signature values of external keys before they are written. */

import { derValue } from '../algorithms/ecdsa-value.ts';
import { valueFault } from '../algorithms/value-check.ts';
import { CryptoError, type SignatureAlgorithm, type SignerIdentity } from '../core/types.ts';
import { readCertificate } from '../x509/certificate.ts';

/**
 * Returns the value in the form of `SigningKey.sign`, ECDSA in DER; accepts DER or r and s concatenated.
 * @throws {CryptoError} `signature.mismatch` when the key of the certificate didn't make it over `toBeSigned`
 */
export function checkedSignatureValue(
  signer: SignerIdentity,
  algorithm: SignatureAlgorithm,
  toBeSigned: Buffer,
  value: Buffer,
): Buffer {
  const { publicKey } = readCertificate(signer.certificate);
  // The signed attributes contain the PSS salt length before the value exists: only that of the hash is accepted.
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
