/** Responder authorized for an issuer (RFC 6960 §4.2.2.2). */
import type { Certificate } from '../x509/certificate.ts';
import type { OcspAnswer } from './ocsp.ts';

const OCSP_SIGNING = '1.3.6.1.5.5.7.3.9';

/**
 * Returns the authorized signer of a response: the issuer, or a responder whose certificate the issuer signed for
 * this purpose; otherwise text without full stop why there is none.
 * @param others candidates for the responder's certificate outside the response
 * @param revocationOf reason why a responder is not accepted because of its own revocation; undefined when it is
 */
export function responderOf(
  answer: OcspAnswer,
  issuer: Certificate,
  others: () => readonly Certificate[],
  revocationOf: (responder: Certificate) => string | undefined,
): Certificate | string {
  if (answer.names(issuer) && answer.signatureFault(issuer) === undefined) return issuer;
  let reason = 'the responder of an OCSP answer is not authorized by the issuer';
  for (const place of [() => answer.certificates, others]) {
    for (const candidate of place()) {
      if (!answer.names(candidate)) continue;
      const objection = objectionTo(candidate, answer, issuer) ?? revocationOf(candidate);
      if (objection === undefined) return candidate;
      reason = `the responder of an OCSP answer ${objection}`;
    }
  }
  return reason;
}

function objectionTo(responder: Certificate, answer: OcspAnswer, issuer: Certificate): string | undefined {
  const { extendedKeyUsage, keyUsage, unknownCritical } = responder;
  if (responder.issuerKey !== issuer.subjectKey || !responder.signedBy(issuer)) {
    return 'has no certificate of the issuer';
  }
  if (extendedKeyUsage?.includes(OCSP_SIGNING) !== true) return 'has a certificate for something else';
  if (keyUsage !== undefined && !keyUsage.digitalSignature && !keyUsage.nonRepudiation) return 'may not sign';
  if (unknownCritical.length > 0) return `has the critical extension ${unknownCritical[0]}`;
  const { producedAt } = answer;
  if (producedAt < responder.notBefore || producedAt > responder.notAfter)
    return 'was not valid at that time';
  const fault = answer.signatureFault(responder);
  return fault === undefined ? undefined : `did not sign it: ${fault}`;
}
