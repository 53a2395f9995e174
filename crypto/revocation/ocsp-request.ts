import { createHash } from 'node:crypto';
import { NULL, octetString, oid, sequence } from '../asn1/write.ts';
import type { Certificate } from '../certificates/certificate.ts';

/** SHA-1 names certificates here and protects nothing; it is what every responder understands (RFC 5019 §2.1.1). */
const SHA1 = sequence(oid('1.3.14.3.2.26'), NULL);

/** DER of CertID (RFC 6960 §4.1.1). */
export function encodeCertId(certificate: Certificate, issuer: Certificate): Buffer {
  const hash = (bytes: Buffer) => octetString(createHash('sha1').update(bytes).digest());
  return sequence(SHA1, hash(issuer.subject), hash(issuer.publicKeyBits), certificate.serial);
}

/**
 * DER of an OCSPRequest about one certificate. Without a nonce, so that responders may answer from what they prepared
 * (RFC 5019 §2.1.1); old answers are told by their times.
 */
export function encodeOcspRequest(certificate: Certificate, issuer: Certificate): Buffer {
  return sequence(sequence(sequence(sequence(encodeCertId(certificate, issuer)))));
}
