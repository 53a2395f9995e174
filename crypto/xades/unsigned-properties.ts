/**
 * Unsigned properties of a signature as text (EN 319 132-1 §5.2.7, §5.3 to §5.5).
 *
 * Each declares the namespaces it uses where exclusive canonicalization writes them, so that the text is its own canonical
 * form, and may be put into any signature whatever prefixes are used there.
 */
import type { Evidence } from '../authorities.ts';
import { ocspResponse } from '../cms/ocsp-choice.ts';
import { DS, EXCLUSIVE_C14N, XADES, XADES_141 } from './identifiers.ts';

const DECLARE_XADES = ` xmlns:xades="${XADES}"`;
const DECLARE_141 = ` xmlns:xades141="${XADES_141}"`;

/** How time-stamped elements are canonicalized. */
const METHOD = `<ds:CanonicalizationMethod xmlns:ds="${DS}" Algorithm="${EXCLUSIVE_C14N}"></ds:CanonicalizationMethod>`;

/** SignatureTimeStamp (§5.3). @param token DER of the time-stamp over the canonical SignatureValue */
export function signatureTimestampText(id: string, token: Buffer): string {
  return (
    `<xades:SignatureTimeStamp${DECLARE_XADES} Id="${id}">${METHOD}` +
    `<xades:EncapsulatedTimeStamp>${token.toString('base64')}</xades:EncapsulatedTimeStamp></xades:SignatureTimeStamp>`
  );
}

/** ArchiveTimeStamp of the namespace 1.4.1 (§5.5.2). */
export function archiveTimestampText(id: string, token: Buffer): string {
  return (
    `<xades141:ArchiveTimeStamp${DECLARE_141} Id="${id}">${METHOD}` +
    `<xades:EncapsulatedTimeStamp${DECLARE_XADES}>${token.toString('base64')}</xades:EncapsulatedTimeStamp>` +
    '</xades141:ArchiveTimeStamp>'
  );
}

/** CertificateValues (§5.4.1); '' when there are none. */
export function certificateValuesText({ certificates }: Pick<Evidence, 'certificates'>): string {
  if (certificates.length === 0) return '';
  const values = certificates.map((der) => encapsulated('EncapsulatedX509Certificate', der)).join('');
  return `<xades:CertificateValues${DECLARE_XADES}>${values}</xades:CertificateValues>`;
}

/** RevocationValues (§5.4.2), OCSP answers whole; '' when there are none. */
export function revocationValuesText({ crls, ocsps }: Pick<Evidence, 'crls' | 'ocsps'>): string {
  if (crls.length + ocsps.length === 0) return '';
  const list = (name: string, values: readonly string[]): string =>
    values.length === 0 ? '' : `<xades:${name}>${values.join('')}</xades:${name}>`;
  return (
    `<xades:RevocationValues${DECLARE_XADES}>` +
    list(
      'CRLValues',
      crls.map((der) => encapsulated('EncapsulatedCRLValue', der)),
    ) +
    list(
      'OCSPValues',
      ocsps.map((basic) => encapsulated('EncapsulatedOCSPValue', ocspResponse(basic))),
    ) +
    '</xades:RevocationValues>'
  );
}

/** TimeStampValidationData (§5.5.1) for the time-stamp with the Id; '' when there is nothing to say. */
export function timestampValidationText(timestampId: string, evidence: Evidence): string {
  const values = certificateValuesText(evidence) + revocationValuesText(evidence);
  if (values === '') return '';
  const uri = timestampId === '' ? '' : ` URI="#${timestampId}"`;
  return `<xades141:TimeStampValidationData${DECLARE_141}${uri}>${values}</xades141:TimeStampValidationData>`;
}

/** CounterSignature (§5.2.7.1). @param signature a whole ds:Signature */
export function counterSignatureText(signature: string): string {
  return `<xades:CounterSignature${DECLARE_XADES}>${signature}</xades:CounterSignature>`;
}

function encapsulated(name: string, der: Buffer): string {
  return `<xades:${name}>${der.toString('base64')}</xades:${name}>`;
}
