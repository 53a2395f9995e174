/**
 * The text of an XAdES-B-B signature (EN 319 132-1 §5 and §6.3) and the canonical form of the two parts of it that
 * are digested or signed.
 *
 * Both come from one template: written out in canonical spelling, the parts differ from their canonical form only in
 * where the namespaces are declared. So nothing of the signature has to be parsed or canonicalized to make it.
 */
import { createHash } from 'node:crypto';
import { TAG } from '../asn1/tags.ts';
import { sequence, tlv } from '../asn1/write.ts';
import { readCertificate } from '../certificates/certificate.ts';
import { algorithmOf } from '../keys/algorithm.ts';
import { concatenatedValue } from '../keys/ecdsa-value.ts';
import type { DigestName, Signer } from '../types.ts';
import {
  DIGEST_URI,
  DS,
  ENVELOPED,
  EXCLUSIVE_C14N,
  SIGNED_PROPERTIES_TYPE,
  signatureUriOf,
  XADES,
} from './identifiers.ts';

export interface SignatureTextRequest {
  readonly signer: Signer;
  readonly digest: DigestName;
  /** Unique in the document, together with everything that begins with it and `-`. */
  readonly id: string;
  /** Digest of the canonical document. */
  readonly documentDigest: Buffer;
  /** Claimed signing time, milliseconds since the epoch; written to the second. */
  readonly at: number;
}

/** Signs, and gives the `ds:Signature` element in ASCII. */
export function signatureText(request: SignatureTextRequest): string {
  const { signer, digest, id } = request;
  const parts = partsOf(signer, digest);
  const propertiesDigest = createHash(digest)
    .update(signedProperties(request, parts, ` xmlns:xades="${XADES}"`, ` xmlns:ds="${DS}"`), 'latin1')
    .digest();
  const signedInfo = signedInfoText(request, propertiesDigest, '');
  const signedInfoCanonical = signedInfoText(request, propertiesDigest, ` xmlns:ds="${DS}"`);
  // XML Signature 1.1 §6.4.3: the value of ECDSA is r and s side by side, not their DER.
  const made = signer.key.sign(Buffer.from(signedInfoCanonical, 'latin1'), algorithmOf(signer, { digest }));
  const value = (signer.keyType === 'ec' ? concatenatedValue(made, signer.keyBits) : made).toString('base64');
  return (
    `<ds:Signature xmlns:ds="${DS}" Id="${id}">${signedInfo}` +
    `<ds:SignatureValue Id="${id}-value">${value}</ds:SignatureValue>${parts.keyInfo}` +
    `<ds:Object><xades:QualifyingProperties xmlns:xades="${XADES}" Target="#${id}">` +
    `${signedProperties(request, parts, '', '')}</xades:QualifyingProperties></ds:Object></ds:Signature>`
  );
}

/** What depends on the signer and the digest alone, written once. */
interface SignerParts {
  readonly keyInfo: string;
  readonly certificateDigest: string;
  readonly issuerSerial: string;
}

const known = new WeakMap<Signer, { [name in DigestName]?: SignerParts }>();

function partsOf(signer: Signer, digest: DigestName): SignerParts {
  let byDigest = known.get(signer);
  if (byDigest === undefined) {
    byDigest = {};
    known.set(signer, byDigest);
  }
  byDigest[digest] ??= makeParts(signer, digest);
  return byDigest[digest];
}

function makeParts(signer: Signer, digest: DigestName): SignerParts {
  const certificates = [signer.certificate, ...signer.chain]
    .map((der) => `<ds:X509Certificate>${der.toString('base64')}</ds:X509Certificate>`)
    .join('');
  return {
    keyInfo: `<ds:KeyInfo><ds:X509Data>${certificates}</ds:X509Data></ds:KeyInfo>`,
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
function signedProperties(
  { id, at, digest }: SignatureTextRequest,
  { certificateDigest, issuerSerial }: SignerParts,
  xades: string,
  ds: string,
): string {
  const time = `${new Date(at).toISOString().slice(0, -5)}Z`;
  return (
    `<xades:SignedProperties${xades} Id="${id}-properties"><xades:SignedSignatureProperties>` +
    `<xades:SigningTime>${time}</xades:SigningTime><xades:SigningCertificateV2><xades:Cert><xades:CertDigest>` +
    `<ds:DigestMethod${ds} Algorithm="${DIGEST_URI[digest]}"></ds:DigestMethod>` +
    `<ds:DigestValue${ds}>${certificateDigest}</ds:DigestValue></xades:CertDigest>` +
    `<xades:IssuerSerialV2>${issuerSerial}</xades:IssuerSerialV2></xades:Cert></xades:SigningCertificateV2>` +
    `</xades:SignedSignatureProperties><xades:SignedDataObjectProperties>` +
    `<xades:DataObjectFormat ObjectReference="#${id}-document"><xades:MimeType>application/xml</xades:MimeType>` +
    `</xades:DataObjectFormat></xades:SignedDataObjectProperties></xades:SignedProperties>`
  );
}

function signedInfoText(
  { signer, digest, id, documentDigest }: SignatureTextRequest,
  propertiesDigest: Buffer,
  ds: string,
): string {
  const exclusive = `<ds:Transform Algorithm="${EXCLUSIVE_C14N}"></ds:Transform></ds:Transforms>`;
  const method = `<ds:DigestMethod Algorithm="${DIGEST_URI[digest]}"></ds:DigestMethod>`;
  return (
    `<ds:SignedInfo${ds}>` +
    `<ds:CanonicalizationMethod Algorithm="${EXCLUSIVE_C14N}"></ds:CanonicalizationMethod>` +
    `<ds:SignatureMethod Algorithm="${signatureUriOf(algorithmOf(signer, { digest }))}"></ds:SignatureMethod>` +
    `<ds:Reference Id="${id}-document" URI=""><ds:Transforms>` +
    `<ds:Transform Algorithm="${ENVELOPED}"></ds:Transform>${exclusive}${method}` +
    `<ds:DigestValue>${documentDigest.toString('base64')}</ds:DigestValue></ds:Reference>` +
    `<ds:Reference Type="${SIGNED_PROPERTIES_TYPE}" URI="#${id}-properties"><ds:Transforms>${exclusive}${method}` +
    `<ds:DigestValue>${propertiesDigest.toString('base64')}</ds:DigestValue></ds:Reference></ds:SignedInfo>`
  );
}
