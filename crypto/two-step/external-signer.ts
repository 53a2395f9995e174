/** A signer with an external key, known by its certificate. */

import { kindOf } from '../algorithms/local-key.ts';
import type { SignerIdentity } from '../core/types.ts';
import { readCertificate } from '../x509/certificate.ts';

/**
 * @param certificate DER
 * @param chain DER of the certificates between it and its root, nearest first
 * @throws {CryptoError} `certificate.malformed`; `key.unsupported`
 */
export function externalSigner(certificate: Buffer, chain: readonly Buffer[] = []): SignerIdentity {
  const { publicKey, fingerprint } = readCertificate(certificate);
  const { type, bits } = kindOf(publicKey);
  return { certificate, chain, keyType: type, keyBits: bits, fingerprint };
}
