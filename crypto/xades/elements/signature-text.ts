/**
 * Text of an XAdES baseline signature (EN 319 132-1 §5 and §6.3) and the canonical form of its parts that are
 * digested, signed or time-stamped.
 *
 * Both come from one template in canonical spelling; the parts differ from their canonical form only in the position
 * of namespace declarations. Signing therefore neither parses nor canonicalizes its own signature.
 *
 * ds:Signature  = SignedInfo, SignatureValue, KeyInfo?, Object*, @Id?
 * ds:SignedInfo = CanonicalizationMethod, SignatureMethod, Reference+
 * ds:Reference  = Transforms?, DigestMethod, DigestValue, @URI?, @Type?, @Id?
 * ds:KeyInfo    = X509Data { X509Certificate+ }
 * ds:Object     = QualifyingProperties { SignedProperties, UnsignedProperties? }, @Target
 */
import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { contents, readWhole, TAG } from '../../asn1/read.ts';
import { sequence, tlv } from '../../asn1/write.ts';
import { checkedRole } from '../../core/request-checks.ts';
import {
  CryptoError,
  type DigestName,
  type SignatureAlgorithm,
  type SignatureParameters,
  type SignaturePolicy,
  type SignerIdentity,
} from '../../core/types.ts';
import { policyKind } from '../../validation/icp-brasil.ts';
import { type Certificate, readCertificate } from '../../x509/certificate.ts';
import { nameFields } from '../../x509/names.ts';
import { MAX_LISTED_PREFIXES } from '../../xml/index.ts';
import {
  DECLARE_XADES,
  DIGEST_URI,
  DS,
  EXCLUSIVE_C14N,
  SIGNED_PROPERTIES_TYPE,
  signatureUriOf,
} from './identifiers.ts';

/** Reference to one signed item other than the signed properties. */
export interface DataReference {
  /** URI as written in the attribute: `&` is escaped, no other character needs it. */
  readonly uri: string;
  readonly type?: string;
  /** ds:Transform elements in canonical spelling; '' for none. */
  readonly transforms: string;
  /** Prefixes in XPath expressions of the transforms. @default none */
  readonly expressionPrefixes?: readonly string[];
  readonly digest: Buffer;
  /** Media type; left out when the properties do not describe the data (as in a counter-signature). */
  readonly mimeType?: string;
}

interface SignatureTextRequest
  extends Pick<SignatureParameters, 'at' | 'includeChain' | 'policy' | 'claimedRole'> {
  readonly signer: SignerIdentity;
  /** Signature algorithm; its digest is used for the references as well. */
  readonly algorithm: SignatureAlgorithm;
  /** Identifier, unique in the document together with everything that starts with it and `-`. */
  readonly id: string;
  readonly references: readonly DataReference[];
}

/** A signature without its value: three of its parts in canonical form, and as written in the signature. */
export interface SignatureText {
  readonly id: string;
  /** True for a signature without properties and without a prefix. @default false */
  readonly isPlain?: boolean;
  /** Data that the key signs: the canonical form of SignedInfo. */
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

export function signatureText(request: SignatureTextRequest): SignatureText {
  const { signer, algorithm, id, includeChain = true } = request;
  const parts = signerTexts(signer, algorithm.digest, includeChain);
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

/** Builds the canonical SignatureValue element, which a signature time-stamp covers. */
export function signatureValueText({ id }: SignatureText, value: Buffer): string {
  return `<ds:SignatureValue${DECLARE_DS} Id="${id}-value">${value.toString('base64')}</ds:SignatureValue>`;
}

/**
 * Builds the `ds:Signature` element in ASCII without its end tag, so that further objects can follow.
 * @param value in the encoding of XML Signature: ECDSA as r and s concatenated (XML Signature 1.1 §6.4.3)
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
    `${ascii(written.signedProperties)}${unsignedText}</xades:QualifyingProperties></ds:Object>`
  );
}

export const CLOSE_SIGNATURE = '</ds:Signature>';

/**
 * Writes characters outside ASCII as character references, since the document's encoding may lack them: those in the Ids
 * of elements in references, and in a claimed role.
 */
function ascii(text: string): string {
  if (Buffer.byteLength(text) === text.length) return text;
  return text.replace(/[^\0-\x7f]/gu, (found) => `&#${found.codePointAt(0)};`);
}

/** Texts that depend on the signer and the digest only, built once. */
interface SignerTexts {
  /** KeyInfo in canonical form, and as written in the signature. */
  readonly keyInfo: string;
  readonly keyInfoWritten: string;
  readonly certificateDigest: string;
  readonly issuerSerial: string;
  /** As the older property has them. */
  readonly issuer: string;
  readonly serial: string;
}

const cache = new WeakMap<SignerIdentity, Map<string, SignerTexts>>();

function signerTexts(signer: SignerIdentity, digest: DigestName, includeChain: boolean): SignerTexts {
  let parts = cache.get(signer);
  if (parts === undefined) {
    parts = new Map();
    cache.set(signer, parts);
  }
  const key = includeChain ? digest : `${digest} alone`;
  let made = parts.get(key);
  if (made === undefined) {
    made = createSignerTexts(signer, digest, includeChain);
    parts.set(key, made);
  }
  return made;
}

function createSignerTexts(signer: SignerIdentity, digest: DigestName, includeChain: boolean): SignerTexts {
  const certificate = readCertificate(signer.certificate);
  const certificates = [signer.certificate, ...(includeChain ? signer.chain : [])]
    .map((der) => `<ds:X509Certificate>${der.toString('base64')}</ds:X509Certificate>`)
    .join('');
  return {
    keyInfo: `<ds:KeyInfo${DECLARE_DS}><ds:X509Data>${certificates}</ds:X509Data></ds:KeyInfo>`,
    keyInfoWritten: `<ds:KeyInfo><ds:X509Data>${certificates}</ds:X509Data></ds:KeyInfo>`,
    certificateDigest: createHash(digest).update(signer.certificate).digest('base64'),
    issuerSerial: issuerSerialOf(signer.certificate).toString('base64'),
    issuer: nameText(certificate.issuer),
    serial: serialText(certificate),
  };
}

/**
 * Builds IssuerSerial ::= SEQUENCE { issuer GeneralNames, serialNumber INTEGER } (RFC 5035 §4) as DER: the content of
 * IssuerSerialV2 (EN 319 132-1 §5.2.2).
 */
export function issuerSerialOf(certificate: Buffer): Buffer {
  const { issuer, serial } = readCertificate(certificate);
  return sequence(sequence(tlv(TAG.context4Constructed, issuer)), serial);
}

/** Formats a name by RFC 4514; characters that are not ASCII or need escaping in XML become hex pairs of their bytes. */
export function nameText(der: Buffer): string {
  return nameFields(der).text.replace(/\\?([&<>]|[^ -~])/gu, (_, character: string) =>
    Buffer.from(character).toString('hex').replace(/../g, '\\$&'),
  );
}

/** Formats the serial number in decimal. */
export function serialText({ serial }: Pick<Certificate, 'serial'>): string {
  const value = contents(readWhole(serial));
  return BigInt.asIntN(value.length * 8, BigInt(`0x${value.toString('hex') || '0'}`)).toString();
}

/**
 * Builds SignedProperties (EN 319 132-1 §5.2).
 *
 * SignedProperties = SignedSignatureProperties, SignedDataObjectProperties?, @Id
 * SignedSignatureProperties  = SigningTime?, SigningCertificateV2?, SignaturePolicyIdentifier?, SignerRoleV2?, …
 * SignedDataObjectProperties = DataObjectFormat { MimeType?, @ObjectReference }*, …
 * SigningCertificateV2 = Cert { CertDigest, IssuerSerialV2? }+; under policies of ICP-Brasil, which know no other,
 * SigningCertificate = Cert { CertDigest, IssuerSerial { X509IssuerName, X509SerialNumber } }+
 *
 * @param xades, ds declarations to write on the outermost element and on those of XML Signature
 */
function propertiesText(
  { id, at, algorithm: { digest }, policy, claimedRole, references }: SignatureTextRequest,
  { certificateDigest, issuerSerial, issuer, serial }: SignerTexts,
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
  const isOlder = policy !== undefined && policyKind(policy.oid)?.form === 'Xades';
  const named = `xades:SigningCertificate${isOlder ? '' : 'V2'}`;
  const issued = isOlder
    ? `<xades:IssuerSerial><ds:X509IssuerName${ds}>${issuer}</ds:X509IssuerName>` +
      `<ds:X509SerialNumber${ds}>${serial}</ds:X509SerialNumber></xades:IssuerSerial>`
    : `<xades:IssuerSerialV2>${issuerSerial}</xades:IssuerSerialV2>`;
  return (
    `<xades:SignedProperties${xades} Id="${id}-properties"><xades:SignedSignatureProperties>` +
    `<xades:SigningTime>${time}</xades:SigningTime><${named}><xades:Cert><xades:CertDigest>` +
    `<ds:DigestMethod${ds} Algorithm="${DIGEST_URI[digest]}"></ds:DigestMethod>` +
    `<ds:DigestValue${ds}>${certificateDigest}</ds:DigestValue></xades:CertDigest>` +
    `${issued}</xades:Cert></${named}>` +
    `${policy === undefined ? '' : policyText(policy, ds)}${claimedRole === undefined ? '' : roleText(claimedRole)}` +
    '</xades:SignedSignatureProperties>' +
    `${formats === '' ? '' : `<xades:SignedDataObjectProperties>${formats}</xades:SignedDataObjectProperties>`}` +
    '</xades:SignedProperties>'
  );
}

function referenceId(id: string, index: number): string {
  return index === 0 ? `${id}-document` : `${id}-document-${index + 1}`;
}

/** Builds a ds:Transform in canonical spelling, with a PrefixList of exclusive canonicalization when there is one. */
export function transformText(algorithm: string, prefixes: readonly string[] = []): string {
  return `<ds:Transform Algorithm="${algorithm}">${prefixListText(prefixes)}</ds:Transform>`;
}

/**
 * Names prefixes in values, so that exclusive canonicalization keeps their declarations
 * (Exclusive XML Canonicalization 1.0 §3 item 2). '' is the default namespace.
 * @throws {CryptoError} `input.too-large`
 */
export function prefixListText(prefixes: readonly string[]): string {
  if (prefixes.length === 0) return '';
  if (prefixes.length > MAX_LISTED_PREFIXES) {
    const message = `Values of the document use more than ${MAX_LISTED_PREFIXES} prefixes, more than a signature can name.`;
    throw new CryptoError('input.too-large', message);
  }
  const list = prefixes.map((prefix) => (prefix === '' ? '#default' : prefix)).join(' ');
  return `<ec:InclusiveNamespaces xmlns:ec="${EXCLUSIVE_C14N}" PrefixList="${list}"></ec:InclusiveNamespaces>`;
}

function signedInfoText(
  { algorithm, id, references }: SignatureTextRequest,
  propertiesDigest: Buffer,
  ds: string,
): string {
  const method = `<ds:DigestMethod Algorithm="${DIGEST_URI[algorithm.digest]}"></ds:DigestMethod>`;
  const value = (digest: Buffer): string =>
    `${method}<ds:DigestValue>${digest.toString('base64')}</ds:DigestValue></ds:Reference>`;
  const prefixes = [...new Set(references.flatMap(({ expressionPrefixes = [] }) => expressionPrefixes))];
  let data = '';
  references.forEach(({ uri, type, transforms, digest }, index) => {
    data +=
      `<ds:Reference Id="${referenceId(id, index)}"${type === undefined ? '' : ` Type="${type}"`} URI="${uri}">` +
      `${transforms === '' ? '' : `<ds:Transforms>${transforms}</ds:Transforms>`}${value(digest)}`;
  });
  return (
    `<ds:SignedInfo${ds}>` +
    `<ds:CanonicalizationMethod Algorithm="${EXCLUSIVE_C14N}">${prefixListText(prefixes)}</ds:CanonicalizationMethod>` +
    `<ds:SignatureMethod Algorithm="${signatureUriOf(algorithm)}"></ds:SignatureMethod>${data}` +
    `<ds:Reference Type="${SIGNED_PROPERTIES_TYPE}" URI="#${id}-properties">` +
    `<ds:Transforms>${transformText(EXCLUSIVE_C14N)}</ds:Transforms>${value(propertiesDigest)}</ds:SignedInfo>`
  );
}

/**
 * Builds SignaturePolicyIdentifier for SignedProperties, which makes a signature an EPES one (EN 319 132-1 §5.2.9).
 *
 * SignaturePolicyIdentifier = SignaturePolicyId | SignaturePolicyImplied
 * SignaturePolicyId = SigPolicyId { Identifier }, ds:Transforms?, SigPolicyHash, SigPolicyQualifiers { SPURI … }?
 *
 * @param ds declaration to write on the elements of XML Signature
 * @throws {CryptoError} `request.invalid` for an identifier that is not a dotted OID, or a location that is not a URI
 */
function policyText({ oid, digest, hash, uri }: SignaturePolicy, ds: string): string {
  if (!/^[0-2](\.\d+)+$/.test(oid)) {
    throw new CryptoError('request.invalid', `The policy identifier "${oid}" is not dotted numbers.`);
  }
  const qualifiers =
    uri === undefined
      ? ''
      : '<xades:SigPolicyQualifiers><xades:SigPolicyQualifier>' +
        `<xades:SPURI>${uriText(uri, "the policy's location")}</xades:SPURI>` +
        '</xades:SigPolicyQualifier></xades:SigPolicyQualifiers>';
  return (
    '<xades:SignaturePolicyIdentifier><xades:SignaturePolicyId><xades:SigPolicyId>' +
    `<xades:Identifier Qualifier="OIDAsURN">urn:oid:${oid}</xades:Identifier></xades:SigPolicyId>` +
    `<xades:SigPolicyHash><ds:DigestMethod${ds} Algorithm="${DIGEST_URI[digest]}"></ds:DigestMethod>` +
    `<ds:DigestValue${ds}>${hash.toString('base64')}</ds:DigestValue></xades:SigPolicyHash>` +
    `${qualifiers}</xades:SignaturePolicyId></xades:SignaturePolicyIdentifier>`
  );
}

/** Builds SignerRoleV2 with one claimed role (EN 319 132-1 §5.2.6). @throws {CryptoError} `request.invalid` */
function roleText(claimedRole: string): string {
  const text = checkedRole(claimedRole)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
  return `<xades:SignerRoleV2><xades:ClaimedRoles><xades:ClaimedRole>${text}</xades:ClaimedRole></xades:ClaimedRoles></xades:SignerRoleV2>`;
}

const BY_EXTENSION: { readonly [extension: string]: string } = {
  '.csv': 'text/csv',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.txt': 'text/plain',
  '.xml': 'application/xml',
  '.zip': 'application/zip',
};

/** Checks a media type and escapes it for an attribute or text. @throws {CryptoError} `request.invalid` */
export function mimeTypeText(given: string): string {
  if (/^[A-Za-z0-9.+-]+\/[A-Za-z0-9.+-]+(?:; ?[A-Za-z0-9-]+=[A-Za-z0-9._-]+)*$/.test(given)) return given;
  throw new CryptoError('request.invalid', `"${given}" is not a media type.`);
}

/** Returns the media type for the extension of a file's name (RFC 2046 §4.5.1 for unknown ones). */
export function mimeTypeOf(path: string): string {
  return BY_EXTENSION[extname(path).toLowerCase()] ?? 'application/octet-stream';
}

/** Characters of a URI reference (RFC 3986 appendix A). */
const URI_REFERENCE = /^(?:[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+$/;

/**
 * Writes a URI in canonical form, for an attribute or text.
 * @param what name of the value in the error message: `the policy's location`
 * @throws {CryptoError} `request.invalid` for anything that is not a URI reference
 */
export function uriText(uri: string, what: string): string {
  if (URI_REFERENCE.test(uri)) return uri.replaceAll('&', '&amp;');
  throw new CryptoError(
    'request.invalid',
    `"${uri}" is not a URI, as ${what} has to be; characters outside of it are percent-encoded.`,
  );
}
