/**
 * Unsigned properties of a signature as text (EN 319 132-1 §5.2.7, §5.3 to §5.5).
 *
 * Each property declares its namespaces where exclusive canonicalization writes them, so that the text is its own
 * canonical form and can be inserted into any signature, with any prefixes.
 */

import { ocspResponse } from '../cms/amend.ts';
import type { Evidence } from '../evidence/authorities.ts';
import { DECLARE_XADES, DS, EXCLUSIVE_C14N, XADES_141 } from './elements/identifiers.ts';

const DECLARE_141 = ` xmlns:xades141="${XADES_141}"`;

/** Canonicalization of time-stamped elements. */
const METHOD = `<ds:CanonicalizationMethod xmlns:ds="${DS}" Algorithm="${EXCLUSIVE_C14N}"></ds:CanonicalizationMethod>`;

/**
 * Builds SignatureTimeStamp (§5.3).
 *
 * SignatureTimeStamp, ArchiveTimeStamp: XAdESTimeStampType
 * XAdESTimeStampType = Include*, ds:CanonicalizationMethod?, (EncapsulatedTimeStamp | XMLTimeStamp)+, @Id?
 *
 * @param token DER of the time-stamp over the canonical SignatureValue
 */
export function signatureTimestampText(id: string, token: Buffer): string {
  return (
    `<xades:SignatureTimeStamp${DECLARE_XADES} Id="${id}">${METHOD}` +
    `<xades:EncapsulatedTimeStamp>${token.toString('base64')}</xades:EncapsulatedTimeStamp></xades:SignatureTimeStamp>`
  );
}

/** Builds ArchiveTimeStamp of the namespace 1.4.1 (§5.5.2). */
export function archiveTimestampText(id: string, token: Buffer): string {
  return (
    `<xades141:ArchiveTimeStamp${DECLARE_141} Id="${id}">${METHOD}` +
    `<xades:EncapsulatedTimeStamp${DECLARE_XADES}>${token.toString('base64')}</xades:EncapsulatedTimeStamp>` +
    '</xades141:ArchiveTimeStamp>'
  );
}

/** Builds CertificateValues = (EncapsulatedX509Certificate | OtherCertificate)* (§5.4.1); '' when there are none. */
export function certificateValuesText({ certificates }: Pick<Evidence, 'certificates'>): string {
  if (certificates.length === 0) return '';
  const values = certificates.map((der) => encapsulated('EncapsulatedX509Certificate', der)).join('');
  return `<xades:CertificateValues${DECLARE_XADES}>${values}</xades:CertificateValues>`;
}

/**
 * Builds RevocationValues = CRLValues { EncapsulatedCRLValue+ }?, OCSPValues { EncapsulatedOCSPValue+ }? (§5.4.2),
 * with whole OCSPResponses; '' when there are none.
 */
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

/**
 * Builds TimeStampValidationData = CertificateValues?, RevocationValues?, @URI (§5.5.1) for the time-stamp with the
 * Id; '' when both are empty.
 */
export function timestampValidationText(timestampId: string, evidence: Evidence): string {
  const values = certificateValuesText(evidence) + revocationValuesText(evidence);
  if (values === '') return '';
  const uri = timestampId === '' ? '' : ` URI="#${timestampId}"`;
  return `<xades141:TimeStampValidationData${DECLARE_141}${uri}>${values}</xades141:TimeStampValidationData>`;
}

/** Builds CounterSignature = ds:Signature (§5.2.7.1). @param signature a whole ds:Signature */
export function counterSignatureText(signature: string): string {
  return `<xades:CounterSignature${DECLARE_XADES}>${signature}</xades:CounterSignature>`;
}

function encapsulated(name: string, der: Buffer): string {
  return `<xades:${name}>${der.toString('base64')}</xades:${name}>`;
}
