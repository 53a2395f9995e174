/** Encodes OCSP responses as CMS carries them: whole, and beside CRLs (RFC 5940 §2.1). */
import { TAG } from '../asn1/tags.ts';
import { octetString, oid, sequence, tlv } from '../asn1/write.ts';

const OCSP_RESPONSE_FORMAT = oid('1.3.6.1.5.5.7.16.2');
const BASIC_RESPONSE = oid('1.3.6.1.5.5.7.48.1.1');

/** ENUMERATED 0. */
const SUCCESSFUL = Buffer.from([0x0a, 1, 0]);

/**
 * Encodes a successful OCSPResponse around a BasicOCSPResponse (RFC 6960 §4.2.1).
 *     OCSPResponse ::= SEQUENCE {
 *      responseStatus  ENUMERATED,
 *      responseBytes   [0] EXPLICIT SEQUENCE { responseType OBJECT IDENTIFIER, response OCTET STRING } }
 */
export function ocspResponse(basic: Buffer): Buffer {
  const bytes = sequence(BASIC_RESPONSE, octetString(basic));
  return sequence(SUCCESSFUL, tlv(TAG.context0Constructed, bytes));
}

/**
 * Encodes the response as a RevocationInfoChoice of format id-ri-ocsp-response. @param basic DER of a
 * BasicOCSPResponse
 *     RevocationInfoChoice ::= CHOICE { crl CertificateList, other [1] IMPLICIT OtherRevocationInfoFormat }
 */
export function ocspChoice(basic: Buffer): Buffer {
  return tlv(TAG.context1Constructed, OCSP_RESPONSE_FORMAT, ocspResponse(basic));
}
