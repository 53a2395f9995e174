import type { CertificateRecord } from '../core/validation-report.ts';
import type { Certificate } from '../x509/certificate.ts';
import { companyNumber, holderText, personNumber } from '../x509/holder.ts';
import { nameFields } from '../x509/names.ts';

/** Cache by parsed certificate: formatting names takes longer than a lookup. */
const records = new WeakMap<Certificate, CertificateRecord>();

/** Builds the readable description of a certificate. */
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
  const isOfPerson =
    personNumber(certificate) !== undefined &&
    companyNumber(certificate) === undefined &&
    subject.organizationIdentifier === undefined;
  return {
    subjectName: subject.commonName ?? holderText(certificate),
    issuerName: issuer.commonName ?? issuer.text,
    emailAddress: (mail?.kind === 'email' ? mail.text : undefined) ?? subject.emailAddress,
    identifier: subject.serialNumber,
    personNumber: personNumber(certificate),
    companyNumber: companyNumber(certificate),
    // Some authorities write the name of their infrastructure into the certificates of persons.
    companyName:
      isOfPerson && subject.organization === issuer.organization ? undefined : subject.organization,
    companyIdentifier: subject.organizationIdentifier,
    thumbprint: Buffer.from(certificate.fingerprint, 'hex').toString('base64'),
    validityStart: certificate.notBefore,
    validityEnd: certificate.notAfter,
  };
}
