/** Identifies the holder of a certificate. */
import { Asn1Error, contents, readElement } from '../asn1/read.ts';
import { type Certificate, readCertificate } from './certificate.ts';
import { shownName } from './display-name.ts';
import { nameFields } from './names.ts';

/** OtherName 2.16.76.1.3.1: birth date (8 digits) and national number (11 digits) of a person. */
const PERSON = Buffer.from('060560' + '4c010301', 'hex');

/** OtherName 2.16.76.1.3.4: the same for the person responsible for a company's certificate. */
const RESPONSIBLE = Buffer.from('060560' + '4c010304', 'hex');

/** OtherName 2.16.76.1.3.3: national number (14 digits) of a company. */
const COMPANY = Buffer.from('060560' + '4c010303', 'hex');

/** Prefix of a number in serialNumber (ETSI EN 319 412-1 §5.1.3): `PNOBR-`, `TINPT-`. */
const PREFIX = /^[A-Z]{3}[A-Z]{2}-/;

/** Returns the name that is shown of the holder, or its alternative name (RFC 5280 §4.1.2.6); never an identity number. */
export function holderName({ subject, alternativeNames, serial }: Certificate): string {
  const fields = nameFields(subject);
  const name = nameOf(fields);
  if (name !== '') return name;
  for (const other of alternativeNames) {
    if ('text' in other && other.text !== '') return other.text;
    const text = other.kind === 'directory' ? nameOf(nameFields(other.name)) : '';
    if (text !== '') return text;
  }
  return `no name, serial number ${contents(readElement(serial)).toString('hex')}`;
}

/** Returns the name that is shown of the issuer; empty when it has none. */
export function issuerName({ issuer }: Certificate): string {
  return nameOf(nameFields(issuer));
}

/** Returns a certificate's name for messages: the whole subject of an authority, which says which one it is. */
export function holderText(certificate: Certificate): string {
  const { text } = nameFields(certificate.subject);
  return certificate.ca && text !== '' ? text : holderName(certificate);
}

/** The shown name, else the whole name when it has no identity number. */
function nameOf(fields: ReturnType<typeof nameFields>): string {
  const { name, number } = shownName(fields);
  return name ?? (number === undefined && fields.serialNumber === undefined ? fields.text : '');
}

/**
 * Returns numbers that identify the holder, without prefix and punctuation, the most specific first; may be empty.
 * Source: EN 319 412-1 §5.
 * @param der of the certificate @throws {CryptoError} `certificate.malformed`
 */
export function holderIdentifiers(der: Buffer): readonly string[] {
  const certificate = readCertificate(der);
  const fields = nameFields(certificate.subject);
  const { serialNumber } = fields;
  const { number = '' } = shownName(fields);
  const named = /^\d{11}$/.test(number) ? number : undefined;
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
