/**
 * The text of an XAdES baseline signature (EN 319 132-1 §5 and §6.3) and the canonical form of the parts of it that are
 * digested, signed or time-stamped.
 *
 * Both come from one template: written out in canonical spelling, the parts differ from their canonical form only in
 * where the namespaces are declared. So nothing of the signature has to be parsed or canonicalized to make it.
 */
import { createHash } from 'node:crypto';
import { TAG } from '../asn1/tags.ts';
import { sequence, tlv } from '../asn1/write.ts';
import { readCertificate } from '../certificates/certificate.ts';
import type { DigestName, SignatureAlgorithm, SignatureParameters, SignerIdentity } from '../types.ts';
import {
  DIGEST_URI,
  DS,
  EXCLUSIVE_C14N,
  SIGNED_PROPERTIES_TYPE,
  signatureUriOf,
  XADES,
} from './identifiers.ts';
import { policyText } from './policy-text.ts';

/** One thing that is signed besides the signed properties. */
export interface DataReference {
  /** As it stands in the attribute, `&` escaped and no other character in need of it. */
  readonly uri: string;
  readonly type?: string;
  /** ds:Transform elements in canonical spelling; '' for none. */
  readonly transforms: string;
  readonly digest: Buffer;
  /** Left out, the properties say nothing about it (as in a counter-signature). */
  readonly mimeType?: string;
}

export interface SignatureTextRequest extends Pick<SignatureParameters, 'at' | 'includeChain' | 'policy'> {
  readonly signer: SignerIdentity;
  /** Its digest is that of the references too. */
  readonly algorithm: SignatureAlgorithm;
  /** Unique in the document, together with everything that begins with it and `-`. */
  readonly id: string;
  readonly references: readonly DataReference[];
}

/** A signature without its value: three of its parts in canonical form, and as they stand in the signature. */
export interface SignatureText {
  readonly id: string;
  /** What the key signs: the canonical form of SignedInfo. */
  readonly signedInfo: string;
  readonly signedProperties: string;
  readonly keyInfo: string;
  readonly written: {
    readonly signedInfo: string;
    readonly signedProperties: string;
    readonly keyInfo: string;
  };
}

const DECLARE_DS = ` xmlns:ds="${DS}"`;
const DECLARE_XADES = ` xmlns:xades="${XADES}"`;

export function signatureText(request: SignatureTextRequest): SignatureText {
  const { signer, algorithm, id, includeChain = true } = request;
  const parts = partsOf(signer, algorithm.digest, includeChain);
  const signedProperties = propertiesText(request, parts, DECLARE_XADES, DECLARE_DS);
  const digest = createHash(algorithm.digest).update(signedProperties).digest();
  return {
    id,
    signedInfo: signedInfoText(request, digest, DECLARE_DS),
    signedProperties,
    keyInfo: parts.keyInfo,
    written: {
      signedInfo: signedInfoText(request, digest, ''),
      signedProperties: propertiesText(request, parts, '', ''),
      keyInfo: parts.keyInfoWritten,
    },
  };
}

/** Canonical form of the SignatureValue element, which is what a signature time-stamp is over. */
export function signatureValueText({ id }: SignatureText, value: Buffer): string {
  return `<ds:SignatureValue${DECLARE_DS} Id="${id}-value">${value.toString('base64')}</ds:SignatureValue>`;
}

/**
 * The `ds:Signature` element in ASCII, without its end tag, before which further objects may stand.
 * @param value as XML Signature wants it: ECDSA as r and s side by side (XML Signature 1.1 §6.4.3)
 * @param unsigned unsigned properties of the signature, each in canonical form with all its declarations
 */
export function openSignature(text: SignatureText, value: Buffer, unsigned: readonly string[] = []): string {
  const { id, written } = text;
  const unsignedText =
    unsigned.length === 0
      ? ''
      : '<xades:UnsignedProperties><xades:UnsignedSignatureProperties>' +
        `${unsigned.join('')}</xades:UnsignedSignatureProperties></xades:UnsignedProperties>`;
  return (
    `<ds:Signature${DECLARE_DS} Id="${id}">${ascii(written.signedInfo)}` +
    `<ds:SignatureValue Id="${id}-value">${value.toString('base64')}</ds:SignatureValue>${written.keyInfo}` +
    `<ds:Object><xades:QualifyingProperties${DECLARE_XADES} Target="#${id}">` +
    `${written.signedProperties}${unsignedText}</xades:QualifyingProperties></ds:Object>`
  );
}

export const CLOSE_SIGNATURE = '</ds:Signature>';

/**
 * What the document's encoding may not have is written as character references, which mean the same. Only SignedInfo can
 * hold such: the Ids of elements in its references.
 */
function ascii(text: string): string {
  if (Buffer.byteLength(text) === text.length) return text;
  return text.replace(/[^\0-\x7f]/gu, (found) => `&#${found.codePointAt(0)};`);
}

/** What depends on the signer and the digest alone, written once. */
interface SignerParts {
  /** In canonical form, and as it stands in the signature. */
  readonly keyInfo: string;
  readonly keyInfoWritten: string;
  readonly certificateDigest: string;
  readonly issuerSerial: string;
}

const known = new WeakMap<SignerIdentity, Map<string, SignerParts>>();

function partsOf(signer: SignerIdentity, digest: DigestName, includeChain: boolean): SignerParts {
  let parts = known.get(signer);
  if (parts === undefined) {
    parts = new Map();
    known.set(signer, parts);
  }
  const key = includeChain ? digest : `${digest} alone`;
  let made = parts.get(key);
  if (made === undefined) {
    made = makeParts(signer, digest, includeChain);
    parts.set(key, made);
  }
  return made;
}

function makeParts(signer: SignerIdentity, digest: DigestName, includeChain: boolean): SignerParts {
  const certificates = [signer.certificate, ...(includeChain ? signer.chain : [])]
    .map((der) => `<ds:X509Certificate>${der.toString('base64')}</ds:X509Certificate>`)
    .join('');
  return {
    keyInfo: `<ds:KeyInfo${DECLARE_DS}><ds:X509Data>${certificates}</ds:X509Data></ds:KeyInfo>`,
    keyInfoWritten: `<ds:KeyInfo><ds:X509Data>${certificates}</ds:X509Data></ds:KeyInfo>`,
    certificateDigest: createHash(digest).update(signer.certificate).digest('base64'),
    issuerSerial: issuerSerialOf(signer.certificate).toString('base64'),
  };
}

/** IssuerSerial of RFC 5035 §4 as DER: the content of IssuerSerialV2 (EN 319 132-1 §5.2.2). */
export function issuerSerialOf(certificate: Buffer): Buffer {
  const { issuer, serial } = readCertificate(certificate);
  return sequence(sequence(tlv(TAG.context4Constructed, issuer)), serial);
}

/** @param xades @param ds declarations to write on the outermost element and on those of XML Signature */
function propertiesText(
  { id, at, algorithm: { digest }, policy, references }: SignatureTextRequest,
  { certificateDigest, issuerSerial }: SignerParts,
  xades: string,
  ds: string,
): string {
  const time = `${new Date(at).toISOString().slice(0, -5)}Z`;
  let formats = '';
  references.forEach(({ mimeType }, index) => {
    if (mimeType === undefined) return;
    formats +=
      `<xades:DataObjectFormat ObjectReference="#${referenceId(id, index)}">` +
      `<xades:MimeType>${mimeType}</xades:MimeType></xades:DataObjectFormat>`;
  });
  return (
    `<xades:SignedProperties${xades} Id="${id}-properties"><xades:SignedSignatureProperties>` +
    `<xades:SigningTime>${time}</xades:SigningTime><xades:SigningCertificateV2><xades:Cert><xades:CertDigest>` +
    `<ds:DigestMethod${ds} Algorithm="${DIGEST_URI[digest]}"></ds:DigestMethod>` +
    `<ds:DigestValue${ds}>${certificateDigest}</ds:DigestValue></xades:CertDigest>` +
    `<xades:IssuerSerialV2>${issuerSerial}</xades:IssuerSerialV2></xades:Cert></xades:SigningCertificateV2>` +
    `${policy === undefined ? '' : policyText(policy, ds)}</xades:SignedSignatureProperties>` +
    `${formats === '' ? '' : `<xades:SignedDataObjectProperties>${formats}</xades:SignedDataObjectProperties>`}` +
    '</xades:SignedProperties>'
  );
}

function referenceId(id: string, index: number): string {
  return index === 0 ? `${id}-document` : `${id}-document-${index + 1}`;
}

/** ds:Transform without parameters, in canonical spelling. */
export function transformText(algorithm: string): string {
  return `<ds:Transform Algorithm="${algorithm}"></ds:Transform>`;
}

function signedInfoText(
  { algorithm, id, references }: SignatureTextRequest,
  propertiesDigest: Buffer,
  ds: string,
): string {
  const method = `<ds:DigestMethod Algorithm="${DIGEST_URI[algorithm.digest]}"></ds:DigestMethod>`;
  const value = (digest: Buffer): string =>
    `${method}<ds:DigestValue>${digest.toString('base64')}</ds:DigestValue></ds:Reference>`;
  let data = '';
  references.forEach(({ uri, type, transforms, digest }, index) => {
    data +=
      `<ds:Reference Id="${referenceId(id, index)}"${type === undefined ? '' : ` Type="${type}"`} URI="${uri}">` +
      `${transforms === '' ? '' : `<ds:Transforms>${transforms}</ds:Transforms>`}${value(digest)}`;
  });
  return (
    `<ds:SignedInfo${ds}>` +
    `<ds:CanonicalizationMethod Algorithm="${EXCLUSIVE_C14N}"></ds:CanonicalizationMethod>` +
    `<ds:SignatureMethod Algorithm="${signatureUriOf(algorithm)}"></ds:SignatureMethod>${data}` +
    `<ds:Reference Type="${SIGNED_PROPERTIES_TYPE}" URI="#${id}-properties">` +
    `<ds:Transforms>${transformText(EXCLUSIVE_C14N)}</ds:Transforms>${value(propertiesDigest)}</ds:SignedInfo>`
  );
}
