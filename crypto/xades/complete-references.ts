/**
 * References to all validation material of a signature (EN 319 132-1 §A.1.1 and §A.1.2; EN 319 132-2, level E-C, and
 * E-XL together with the values). Each reference identifies its certificate, CRL or OCSP response by digest.
 */
import { createHash } from 'node:crypto';
import { Cursor, encoded, enter, readWhole, TAG } from '../asn1/read.ts';
import { readFractionalTime, readTime } from '../asn1/time.ts';
import { ocspResponse } from '../cms/amend.ts';
import type { DigestName } from '../core/types.ts';
import type { Evidence } from '../evidence/authorities.ts';
import { readCrl } from '../evidence/crl.ts';
import { readOcsp } from '../evidence/ocsp.ts';
import { nameFields } from '../x509/names.ts';
import { DIGEST_URI, DS, XADES, XADES_141 } from './elements/identifiers.ts';
import { issuerSerialOf } from './elements/signature-text.ts';

/**
 * Builds CompleteCertificateRefsV2 (§A.1.1) and CompleteRevocationRefs (§A.1.2), each in canonical form; an empty one
 * is left out.
 *
 * CompleteCertificateRefsV2 = CertRefs { Cert+ }            Cert = CertDigest, IssuerSerialV2?
 * CompleteRevocationRefs   = CRLRefs { CRLRef+ }?, OCSPRefs { OCSPRef+ }?
 * CRLRef  = DigestAlgAndValue, CRLIdentifier { Issuer, IssueTime, Number? }?
 * OCSPRef = OCSPIdentifier { ResponderID { ByName | ByKey }, ProducedAt }, DigestAlgAndValue?
 *
 * @param evidence of the signer's path, which must be in the signature too
 * @param signer DER of the signer's certificate, to which there is no reference
 * @throws {Asn1Error} for evidence that is not well-formed
 */
export function completeReferences(
  evidence: Evidence,
  signer: Buffer,
  digest: DigestName,
): readonly string[] {
  const certificates = evidence.certificates.filter((der) => !der.equals(signer));
  const certRefs = certificates.map((der) => certificateReference(der, digest));
  const crlRefs = evidence.crls.map((der) => crlReference(der, digest));
  const ocspRefs = evidence.ocsps.map((basic) => ocspReference(basic, digest));
  return [
    list('xades141:CompleteCertificateRefsV2', [list('xades141:CertRefs', certRefs)], DECLARE_141),
    list(
      'xades:CompleteRevocationRefs',
      [list('xades:CRLRefs', crlRefs), list('xades:OCSPRefs', ocspRefs)],
      DECLARE_XADES,
    ),
  ].filter((text) => text !== '');
}

const DECLARE_141 = ` xmlns:xades141="${XADES_141}"`;
const DECLARE_XADES = ` xmlns:xades="${XADES}"`;
const DECLARE_DS = ` xmlns:ds="${DS}"`;

/** Returns the list element, or '' when it has no children. */
function list(name: string, parts: readonly string[], declared = ''): string {
  const inside = parts.join('');
  return inside === '' ? '' : `<${name}${declared}>${inside}</${name}>`;
}

function certificateReference(der: Buffer, digest: DigestName): string {
  return (
    `<xades:Cert${DECLARE_XADES}><xades:CertDigest>${digestText(der, digest)}</xades:CertDigest>` +
    `<xades:IssuerSerialV2>${issuerSerialOf(der).toString('base64')}</xades:IssuerSerialV2></xades:Cert>`
  );
}

function crlReference(der: Buffer, digest: DigestName): string {
  const fields = enter(readWhole(readCrl(der).signature.data), TAG.sequence);
  fields.nextIf(TAG.integer);
  fields.next(TAG.sequence);
  const issuer = encoded(fields.next(TAG.sequence));
  const issued = readTime(fields.next());
  return (
    `<xades:CRLRef><xades:DigestAlgAndValue>${digestText(der, digest)}</xades:DigestAlgAndValue>` +
    `<xades:CRLIdentifier><xades:Issuer>${nameText(issuer)}</xades:Issuer>` +
    `<xades:IssueTime>${timeText(issued)}</xades:IssueTime></xades:CRLIdentifier></xades:CRLRef>`
  );
}

/** Builds an OCSPRef; the digest covers the OCSPResponse, as in RevocationValues. */
function ocspReference(basic: Buffer, digest: DigestName): string {
  const data = enter(readWhole(readOcsp(basic).signature.data), TAG.sequence);
  data.nextIf(TAG.context0Constructed);
  const responder = data.next();
  const producedAt = readFractionalTime(data.next());
  const inside = encoded(new Cursor(responder).next());
  const named =
    responder.tag === TAG.context1Constructed
      ? `<xades:ByName>${nameText(inside)}</xades:ByName>`
      : `<xades:ByKey>${inside.toString('base64')}</xades:ByKey>`;
  return (
    `<xades:OCSPRef><xades:OCSPIdentifier><xades:ResponderID>${named}</xades:ResponderID>` +
    `<xades:ProducedAt>${timeText(producedAt)}</xades:ProducedAt></xades:OCSPIdentifier>` +
    `<xades:DigestAlgAndValue>${digestText(ocspResponse(basic), digest)}</xades:DigestAlgAndValue></xades:OCSPRef>`
  );
}

function digestText(bytes: Buffer, digest: DigestName): string {
  const value = createHash(digest).update(bytes).digest('base64');
  return (
    `<ds:DigestMethod${DECLARE_DS} Algorithm="${DIGEST_URI[digest]}"></ds:DigestMethod>` +
    `<ds:DigestValue${DECLARE_DS}>${value}</ds:DigestValue>`
  );
}

/**
 * Formats a name by RFC 4514; characters that are not ASCII or need escaping in XML become hex pairs of their bytes.
 */
function nameText(der: Buffer): string {
  return nameFields(der).text.replace(/\\?([&<>]|[^ -~])/gu, (_, character: string) =>
    Buffer.from(character).toString('hex').replace(/../g, '\\$&'),
  );
}

function timeText(at: number): string {
  return `${new Date(at).toISOString().slice(0, -5)}Z`;
}
