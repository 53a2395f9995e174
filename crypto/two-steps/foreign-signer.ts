/** A signer whose key is elsewhere, known by the certificate alone. */
import { readCertificate } from '../certificates/certificate.ts';
import { kindOf } from '../keys/local-key.ts';
import type { SignerIdentity } from '../types.ts';

/**
 * @param certificate DER
 * @param chain DER of what stands between it and its root, nearest first
 * @throws {CryptoError} `certificate.malformed`; `key.unsupported`
 */
export function signerOfCertificate(certificate: Buffer, chain: readonly Buffer[] = []): SignerIdentity {
  const { publicKey, fingerprint } = readCertificate(certificate);
  const { type, bits } = kindOf(publicKey);
  return { certificate, chain, keyType: type, keyBits: bits, fingerprint };
}
