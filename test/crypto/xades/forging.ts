/** Builds XML signatures of any structure, valid or not, by hand, as attackers or faulty signers do. */
import { createHash, sign } from 'node:crypto';
import type { Finding, ValidationReport } from '#crypto/core/validation-report.js';
import { validateSignatures } from '#crypto/validation/validate-signature.js';
import { issuerSerialOf } from '#crypto/xades/elements/signature-text.js';
import { type InspectXadesOptions, inspectXadesDocument } from '#crypto/xades/validate.js';
import { pki, type TestSigner } from '../../pki/pki.ts';

export const DS = 'http://www.w3.org/2000/09/xmldsig#';
export const XADES = 'http://uri.etsi.org/01903/v1.3.2#';
export const EXC = 'http://www.w3.org/2001/10/xml-exc-c14n#';
export const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256';
export const ENVELOPED = `${DS}enveloped-signature`;
const ECDSA = 'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256';
const PROPERTIES_TYPE = 'http://uri.etsi.org/01903#SignedProperties';

export interface ForgedReference {
  readonly uri?: string;
  readonly id?: string;
  readonly type?: string;
  /** ds:Transform elements in canonical spelling. @default exclusive canonicalization */
  readonly transforms?: string;
  /** Bytes whose digest the reference contains. */
  readonly data: string | Buffer;
  /** URI of the DigestMethod. @default SHA-256, which makes the digest */
  readonly digestMethod?: string;
  /** Replaces the DigestValue element. */
  readonly digestValue?: string;
}

export interface Forgery {
  readonly references: readonly ForgedReference[];
  /** SignedProperties in canonical form; `false` for none. @default valid ones */
  readonly properties?: string | false;
  /** True if SignedInfo has a reference to them. @default true */
  readonly propertiesSigned?: boolean;
  readonly propertiesType?: string;
  readonly id?: string;
  readonly keyInfo?: string;
  /** Further ds:Object elements. */
  readonly objects?: string;
  readonly unsigned?: string;
  readonly method?: string;
  /** Content of SignatureMethod. */
  readonly parameters?: string;
  readonly value?: string;
  readonly signer?: TestSigner;
  readonly at?: number;
  /** Makes the value. @default ECDSA with SHA-256 */
  readonly sign?: (signedInfo: Buffer) => Buffer;
  /** Changes the canonical SignedInfo before it is signed. */
  readonly signedInfo?: (text: string) => string;
}

export function transform(uri: string, inside = ''): string {
  return `<ds:Transform Algorithm="${uri}">${inside}</ds:Transform>`;
}

export function goodProperties(
  id: string,
  formats: readonly string[],
  options: Pick<Forgery, 'signer' | 'at'> = {},
): string {
  const { signer = pki().signer('p-256'), at = Date.now() } = options;
  const digest = createHash('sha256').update(signer.certificate).digest('base64');
  return (
    `<xades:SignedProperties xmlns:xades="${XADES}" Id="${id}-properties"><xades:SignedSignatureProperties>` +
    `<xades:SigningTime>${new Date(at).toISOString().slice(0, 19)}Z</xades:SigningTime>` +
    `<xades:SigningCertificateV2><xades:Cert><xades:CertDigest><ds:DigestMethod xmlns:ds="${DS}" Algorithm="${SHA256}"></ds:DigestMethod>` +
    `<ds:DigestValue xmlns:ds="${DS}">${digest}</ds:DigestValue></xades:CertDigest>` +
    `<xades:IssuerSerialV2>${issuerSerialOf(signer.certificate).toString('base64')}</xades:IssuerSerialV2></xades:Cert></xades:SigningCertificateV2>` +
    `</xades:SignedSignatureProperties><xades:SignedDataObjectProperties>${formats
      .map(
        (format) =>
          `<xades:DataObjectFormat ObjectReference="#${format}"><xades:MimeType>text/xml</xades:MimeType></xades:DataObjectFormat>`,
      )
      .join('')}</xades:SignedDataObjectProperties></xades:SignedProperties>`
  );
}

/** Builds a ds:Signature element. */
export function forge(forgery: Forgery): string {
  const { signer = pki().signer('p-256'), id = 'sig', method = ECDSA, objects = '', unsigned = '' } = forgery;
  const named = forgery.references.map((reference, index) => ({ id: `${id}-r${index}`, ...reference }));
  const properties =
    forgery.properties ??
    goodProperties(
      id,
      named.map((one) => one.id),
      forgery,
    );
  const references = named.map(referenceText);
  if (properties !== false && forgery.propertiesSigned !== false) {
    const type = forgery.propertiesType ?? PROPERTIES_TYPE;
    references.push(referenceText({ uri: `#${id}-properties`, type, data: properties }));
  }
  const info =
    `<ds:SignedInfo xmlns:ds="${DS}"><ds:CanonicalizationMethod Algorithm="${EXC}"></ds:CanonicalizationMethod>` +
    `<ds:SignatureMethod Algorithm="${method}">${forgery.parameters ?? ''}</ds:SignatureMethod>${references.join('')}</ds:SignedInfo>`;
  const signedInfo = forgery.signedInfo?.(info) ?? info;
  const ecdsa = (data: Buffer): Buffer =>
    sign('sha256', data, { key: signer.key.keyObject, dsaEncoding: 'ieee-p1363' });
  const value = (forgery.sign ?? ecdsa)(Buffer.from(signedInfo));
  const certificates = [signer.certificate, ...signer.chain]
    .map((der) => `<ds:X509Certificate>${der.toString('base64')}</ds:X509Certificate>`)
    .join('');
  const keyInfo = forgery.keyInfo ?? `<ds:KeyInfo><ds:X509Data>${certificates}</ds:X509Data></ds:KeyInfo>`;
  const qualifying =
    properties === false
      ? ''
      : `<ds:Object><xades:QualifyingProperties xmlns:xades="${XADES}" Target="#${id}">${properties}${
          unsigned === ''
            ? ''
            : `<xades:UnsignedProperties><xades:UnsignedSignatureProperties>${unsigned}</xades:UnsignedSignatureProperties></xades:UnsignedProperties>`
        }</xades:QualifyingProperties></ds:Object>`;
  return (
    `<ds:Signature xmlns:ds="${DS}" Id="${id}">${signedInfo}` +
    `<ds:SignatureValue Id="${id}-value">${forgery.value ?? value.toString('base64')}</ds:SignatureValue>${keyInfo}${qualifying}${objects}</ds:Signature>`
  );
}

function referenceText(reference: ForgedReference): string {
  const { uri, id, type, data, digestMethod = SHA256 } = reference;
  const attributes = [
    id === undefined ? '' : ` Id="${id}"`,
    type === undefined ? '' : ` Type="${type}"`,
    uri === undefined ? '' : ` URI="${uri}"`,
  ].join('');
  const transforms = reference.transforms ?? transform(EXC);
  const value =
    reference.digestValue ??
    `<ds:DigestValue>${createHash('sha256').update(data).digest('base64')}</ds:DigestValue>`;
  return (
    `<ds:Reference${attributes}>${transforms === '' ? '' : `<ds:Transforms>${transforms}</ds:Transforms>`}` +
    `<ds:DigestMethod Algorithm="${digestMethod}"></ds:DigestMethod>${value}</ds:Reference>`
  );
}

/** Builds a valid enveloped signature over `<r>…</r>`, whose content must be canonical as written. */
export function enveloped(content: string, forgery: Partial<Forgery> = {}): string {
  const reference = { uri: '', data: `<r>${content}</r>`, transforms: transform(ENVELOPED) + transform(EXC) };
  return `<r>${content}${forge({ references: [reference], ...forgery })}</r>`;
}

/** Validates a file with the test root trusted and without revocation checks. */
export function reportOn(file: string | Buffer, options: InspectXadesOptions = {}): ValidationReport {
  return validateSignatures('Xades', inspectXadesDocument(Buffer.from(file), options), {
    at: Date.now(),
    trust: { anchors: [pki().root.certificate], intermediates: [], revocation: 'none' },
  });
}

/** Lists all findings that did not pass, as `status type subIndication`. */
export function complaints(file: string | Buffer, options: InspectXadesOptions = {}): string[] {
  const { signatures, findings } = inspectXadesDocument(Buffer.from(file), options);
  const all: Finding[] = [...findings, ...signatures.flatMap((one) => one.findings)];
  return all
    .filter(({ status }) => status !== 'passed')
    .map(({ status, type, subIndication }) => [status, type, subIndication].filter(Boolean).join(' '));
}
