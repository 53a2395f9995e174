import { type Certificate, readableCertificates, readCertificate } from '../x509/certificate.ts';
import type { TrustSettings } from './trust.ts';

export interface TrustedCertificates {
  readonly anchors: readonly Certificate[];
  readonly intermediates: readonly Certificate[];
}

const cache = new WeakMap<readonly Buffer[], readonly Certificate[]>();

/**
 * Parses the certificates of trust settings; each array is parsed once and cached while it is alive.
 * @throws {CryptoError} `certificate.malformed` for an anchor that can't be read
 */
export function trustedCertificates({ anchors, intermediates }: TrustSettings): TrustedCertificates {
  return {
    anchors: readOnce(anchors, readCertificate),
    intermediates: readOnce(intermediates, readableCertificates),
  };
}

function readOnce(
  list: readonly Buffer[],
  read: (der: Buffer) => Certificate | readonly Certificate[],
): readonly Certificate[] {
  let certificates = cache.get(list);
  if (certificates === undefined) {
    certificates = list.flatMap(read);
    cache.set(list, certificates);
  }
  return certificates;
}
