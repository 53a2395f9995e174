/**
 * Signer of a CRL: the issuer of the certificate, or another key that the same CA, or one above it on the path,
 * certified for CRLs (RFC 5280 §6.3.3 (f)).
 */
import type { Certificate } from '../x509/certificate.ts';
import type { Crl } from './crl.ts';

export interface CrlSignerRequest {
  readonly certificate: Certificate;
  readonly issuer: Certificate;
  /** Certificates above the issuer on the path, the anchor last: trusted like the path. */
  readonly above: readonly Certificate[];
  /** Untrusted candidates for the certificates of CRL keys. */
  readonly others: () => readonly Certificate[];
  /** Reason why the certificate of a CRL key is not accepted; undefined when it is. */
  readonly revocationOf: (signer: Certificate) => string | undefined;
}

/** Limit of keys tried for one CRL; each costs a public-key operation. */
const MAX_CANDIDATES = 8;

/** Returns the signer, or text without full stop why there is none. */
export function crlSignerOf(crl: Crl, request: CrlSignerRequest): Certificate | string {
  const { issuer, above, certificate } = request;
  let reason: string | undefined;
  const own = [issuer, ...above].filter(({ subjectKey }) => subjectKey === crl.issuerKey);
  for (const candidate of own) {
    const fault = mayNotSign(candidate) ?? forgeryOf(crl, candidate);
    if (fault === undefined) return candidate;
    reason ??= fault;
  }
  const candidates = request
    .others()
    .filter((one) => one.subjectKey === crl.issuerKey && one !== certificate && !own.includes(one))
    .sort((one, other) => rank(crl, one) - rank(crl, other));
  for (const candidate of candidates.slice(0, MAX_CANDIDATES)) {
    const fault = objectionTo(crl, candidate, request) ?? forgeryOf(crl, candidate);
    if (fault === undefined) {
      const revoked = request.revocationOf(candidate);
      if (revoked === undefined) return candidate;
      reason = `its signer ${revoked}`;
    } else reason ??= fault;
  }
  return reason ?? 'its issuer is not known';
}

function rank({ authorityKeyId }: Crl, { subjectKeyId }: Certificate): number {
  if (authorityKeyId === undefined || subjectKeyId === undefined) return 1;
  return authorityKeyId.equals(subjectKeyId) ? 0 : 2;
}

function mayNotSign({ keyUsage }: Certificate): string | undefined {
  return keyUsage !== undefined && !keyUsage.cRLSign ? 'its issuer may not sign CRLs' : undefined;
}

function objectionTo(
  { thisUpdate }: Crl,
  candidate: Certificate,
  { issuer, above }: CrlSignerRequest,
): string | undefined {
  if (candidate.keyUsage?.cRLSign !== true) return 'its issuer may not sign CRLs';
  if (candidate.unknownCritical.length > 0)
    return 'its issuer has a critical extension that is not understood';
  if (thisUpdate < candidate.notBefore || thisUpdate > candidate.notAfter) return 'its issuer was not valid';
  const certified = [issuer, ...above].some(
    (one) => one.subjectKey === candidate.issuerKey && one.ca && candidate.signedBy(one),
  );
  return certified ? undefined : 'its issuer is not certified on the path';
}

function forgeryOf(crl: Crl, signer: Certificate): string | undefined {
  const fault = crl.signatureFault(signer);
  return fault === undefined ? undefined : `its signature is not that of the issuer (${fault})`;
}
