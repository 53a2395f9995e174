import { type Certificate, readableCertificates, readCertificate } from '../certificates/certificate.ts';
import type { TrustSettings } from './trust.ts';

export interface TrustedCertificates {
  readonly anchors: readonly Certificate[];
  readonly intermediates: readonly Certificate[];
}

const known = new WeakMap<TrustSettings, TrustedCertificates>();

/**
 * The certificates of trust settings, read once for as long as the settings live.
 * @throws {CryptoError} `certificate.malformed` for an anchor that can't be read
 */
export function trustedCertificates(trust: TrustSettings): TrustedCertificates {
  let certificates = known.get(trust);
  if (certificates === undefined) {
    certificates = {
      anchors: trust.anchors.map(readCertificate),
      intermediates: trust.intermediates.flatMap(readableCertificates),
    };
    known.set(trust, certificates);
  }
  return certificates;
}
