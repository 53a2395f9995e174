import { createHash } from 'node:crypto';
import { NULL, octetString, oid, sequence } from '../asn1/write.ts';
import type { Certificate } from '../x509/certificate.ts';

/**
 * SHA-1 as an identifier for certificates without security relevance; every responder supports it (RFC 5019 §2.1.1).
 */
const SHA1 = sequence(oid('1.3.14.3.2.26'), NULL);

/**
 * Encodes CertID ::= SEQUENCE { hashAlgorithm, issuerNameHash, issuerKeyHash OCTET STRING, serialNumber } (RFC 6960
 * §4.1.1).
 */
export function encodeCertId(certificate: Certificate, issuer: Certificate): Buffer {
  const hash = (bytes: Buffer) => octetString(createHash('sha1').update(bytes).digest());
  return sequence(SHA1, hash(issuer.subject), hash(issuer.publicKeyBits), certificate.serial);
}

/**
 * Encodes an OCSPRequest about one certificate, without a nonce, so that responders can send prepared responses (RFC
 * 5019 §2.1.1); their times show old ones.
 *
 * OCSPRequest ::= SEQUENCE { tbsRequest SEQUENCE { requestList SEQUENCE OF SEQUENCE { reqCert CertID } } }
 */
export function encodeOcspRequest(certificate: Certificate, issuer: Certificate): Buffer {
  return sequence(sequence(sequence(sequence(encodeCertId(certificate, issuer)))));
}
