import { type Certificate, readableCertificates, readCertificate } from '../certificates/certificate.ts';
import type { TrustSettings } from './trust.ts';

export interface TrustedCertificates {
  readonly anchors: readonly Certificate[];
  readonly intermediates: readonly Certificate[];
}

const known = new WeakMap<readonly Buffer[], readonly Certificate[]>();

/**
 * The certificates of trust settings, each list read once for as long as it lives.
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
  let certificates = known.get(list);
  if (certificates === undefined) {
    certificates = list.flatMap(read);
    known.set(list, certificates);
  }
  return certificates;
}
