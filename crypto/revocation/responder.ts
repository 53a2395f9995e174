/** Who may answer for an issuer (RFC 6960 §4.2.2.2). */
import type { Certificate } from '../certificates/certificate.ts';
import type { OcspAnswer } from './ocsp.ts';

const OCSP_SIGNING = '1.3.6.1.5.5.7.3.9';

/**
 * Who signed an answer and was allowed to: the issuer, or a responder whose certificate the issuer signed for this
 * purpose. Text says why nobody was; no full stop.
 * @param others certificates from outside the answer among which the responder's may be
 * @param revocationOf why a responder can't be believed for its own revocation; undefined when it can
 */
export function responderOf(
  answer: OcspAnswer,
  issuer: Certificate,
  others: () => readonly Certificate[],
  revocationOf: (responder: Certificate) => string | undefined,
): Certificate | string {
  if (answer.names(issuer) && answer.signatureFault(issuer) === undefined) return issuer;
  let because = 'the responder of an OCSP answer is not authorized by the issuer';
  for (const place of [() => answer.certificates, others]) {
    for (const candidate of place()) {
      if (!answer.names(candidate)) continue;
      const objection = objectionTo(candidate, answer, issuer) ?? revocationOf(candidate);
      if (objection === undefined) return candidate;
      because = `the responder of an OCSP answer ${objection}`;
    }
  }
  return because;
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
