import type { Certificate } from '../certificates/certificate.ts';
import { companyNumber, personNumber } from '../certificates/holder.ts';
import { nameFields } from '../certificates/names.ts';
import type { CertificateRecord } from './report.ts';

/** Kept beside the parsed certificate, which is remembered too: names take longer to read than to look up. */
const records = new WeakMap<Certificate, CertificateRecord>();

/** What people read of a certificate. */
export function certificateRecord(certificate: Certificate): CertificateRecord {
  let record = records.get(certificate);
  if (record === undefined) {
    record = makeRecord(certificate);
    records.set(certificate, record);
  }
  return record;
}

function makeRecord(certificate: Certificate): CertificateRecord {
  const subject = nameFields(certificate.subject);
  const issuer = nameFields(certificate.issuer);
  const mail = certificate.alternativeNames.find((name) => name.kind === 'email');
  return {
    subjectName: subject.commonName ?? subject.text,
    issuerName: issuer.commonName ?? issuer.text,
    emailAddress: (mail?.kind === 'email' ? mail.text : undefined) ?? subject.emailAddress,
    identifier: subject.serialNumber,
    personNumber: personNumber(certificate),
    companyNumber: companyNumber(certificate),
    companyName: subject.organization,
    companyIdentifier: subject.organizationIdentifier,
    thumbprint: Buffer.from(certificate.fingerprint, 'hex').toString('base64'),
    validityStart: certificate.notBefore,
    validityEnd: certificate.notAfter,
  };
}
