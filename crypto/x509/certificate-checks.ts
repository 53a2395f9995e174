/** Checks of a signer's certificate, as entries of a verification report. */
import type { Check } from '../core/types.ts';
import { type Certificate, readableCertificates, readCertificate } from './certificate.ts';
import { timeDefect } from './path-defects.ts';
import { findPath } from './path-search.ts';

/** Texts of periods of validity. */
const periods = new WeakMap<Certificate, string>();

/** Check `certificate-validity`: the certificate's own period holds `at`. */
export function checkValidity(certificate: Certificate, at: number): Check {
  let period = periods.get(certificate);
  if (period === undefined) {
    period = `${new Date(certificate.notBefore).toISOString()} to ${new Date(certificate.notAfter).toISOString()}`;
    periods.set(certificate, period);
  }
  return {
    name: 'certificate-validity',
    ok: timeDefect(certificate, at) === undefined,
    detail: `Valid ${period}, checked for ${new Date(at).toISOString()}.`,
  };
}

/** Check `key-usage`: the certificate may be used to sign documents (digitalSignature or nonRepudiation). */
export function checkKeyUsage({ keyUsage }: Certificate): Check {
  const ok = keyUsage === undefined || keyUsage.digitalSignature || keyUsage.nonRepudiation;
  return {
    name: 'key-usage',
    ok,
    detail: ok ? 'The key may sign documents.' : 'keyUsage allows neither signatures nor non-repudiation.',
  };
}

/** Check `signer`: the certificate is the one with this fingerprint (lower-case hex SHA-256). */
export function checkSigner(certificate: Certificate, expected: string): Check {
  const ok = certificate.fingerprint === expected;
  return {
    name: 'signer',
    ok,
    detail: ok ? `Signed by ${expected}.` : `Signed by ${certificate.fingerprint}, not by ${expected}.`,
  };
}

/**
 * Check `chain`: there is a path from the certificate to an anchor.
 * @param others DER; unreadable certificates among them are ignored
 * @param anchors DER
 * @throws {CryptoError} `certificate.malformed` for an anchor that can't be read
 */
export function checkChain(
  certificate: Certificate,
  others: readonly Buffer[],
  anchors: readonly Buffer[],
  at: number,
): Check {
  const result = findPath({
    certificate,
    others: others.flatMap(readableCertificates),
    anchors: anchors.map(readCertificate),
    at,
  });
  return {
    name: 'chain',
    ok: result.ok,
    detail: result.ok
      ? `A path of ${result.path.length} certificates ends in a trust anchor.`
      : `No path to a trust anchor: ${result.reason}.`,
  };
}
