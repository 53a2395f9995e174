/** Identifies the holder of a certificate. */
import { Asn1Error, contents, readElement } from '../asn1/read.ts';
import { type Certificate, readCertificate } from './certificate.ts';
import { nameFields } from './names.ts';

/** OtherName 2.16.76.1.3.1: birth date (8 digits) and national number (11 digits) of a person. */
const PERSON = Buffer.from('060560' + '4c010301', 'hex');

/** OtherName 2.16.76.1.3.4: the same for the person responsible for a company's certificate. */
const RESPONSIBLE = Buffer.from('060560' + '4c010304', 'hex');

/** OtherName 2.16.76.1.3.3: national number (14 digits) of a company. */
const COMPANY = Buffer.from('060560' + '4c010303', 'hex');

/** DER of a name without attributes. */
const EMPTY_NAME = Buffer.from('3000', 'hex');

/** Prefix of a number in serialNumber (ETSI EN 319 412-1 §5.1.3): `PNOBR-`, `TINPT-`. */
const PREFIX = /^[A-Z]{3}[A-Z]{2}-/;

/**
 * Returns the name of a certificate for people: its subject on one line, or, when that is empty (RFC 5280 §4.1.2.6),
 * the first of its alternative names that can be read.
 */
export function holderText({ subject, alternativeNames, serial }: Certificate): string {
  const { text } = nameFields(subject);
  if (text !== '') return text;
  for (const name of alternativeNames) {
    if ('text' in name && name.text !== '') return name.text;
    if (name.kind === 'directory' && nameFields(name.name).text !== '') return nameFields(name.name).text;
  }
  return `no name, serial number ${contents(readElement(serial)).toString('hex')}`;
}

/**
 * Returns the name that is shown of a holder: the common name, else given name and surname, else organization, unit or
 * address; never the identity number of a subject.
 */
export function holderName(certificate: Certificate): string {
  const subject = nameFields(certificate.subject);
  const person = [subject.givenName, subject.surname].filter((part) => part !== undefined).join(' ');
  const names = [subject.commonName, person, subject.organization, subject.organizationalUnit];
  const found = [...names, subject.emailAddress].find((name) => name !== undefined && name.trim() !== '');
  if (found !== undefined) return found;
  return holderText(
    subject.serialNumber === undefined ? certificate : { ...certificate, subject: EMPTY_NAME },
  );
}

/**
 * Returns numbers that identify the holder, without prefix and punctuation, the most specific first; may be empty.
 * Source: EN 319 412-1 §5.
 * @param der of the certificate @throws {CryptoError} `certificate.malformed`
 */
export function holderIdentifiers(der: Buffer): readonly string[] {
  const certificate = readCertificate(der);
  const { serialNumber, commonName } = nameFields(certificate.subject);
  const named = /:(\d{11})$/.exec(commonName ?? '')?.[1];
  const found = [
    personNumber(certificate),
    serialNumber?.replace(PREFIX, '').replace(/[\s.\-/]/g, ''),
    named,
  ];
  return [...new Set(found.filter((one): one is string => one !== undefined && one !== ''))];
}

/** Returns the national number of the person, from the alternative names; 11 digits. */
export function personNumber(certificate: Certificate): string | undefined {
  const found =
    numberIn(certificate, PERSON, /^\d{8}(\d{11})/) ?? numberIn(certificate, RESPONSIBLE, /^\d{8}(\d{11})/);
  return found === '00000000000' ? undefined : found;
}

/** Returns the national number of the company, from the alternative names; 14 digits. */
export function companyNumber(certificate: Certificate): string | undefined {
  return numberIn(certificate, COMPANY, /^(\d{14})/);
}

function numberIn({ der }: Certificate, type: Buffer, form: RegExp): string | undefined {
  const at = der.indexOf(type);
  if (at < 0) return undefined;
  try {
    const value = readElement(der, at + type.length);
    const text = contents(readElement(der, value.from, value.to)).toString('latin1');
    return form.exec(text)?.[1];
  } catch (error) {
    if (error instanceof Asn1Error) return undefined;
    throw error;
  }
}
