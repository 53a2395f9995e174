/**
 * Augments a signature from one baseline level to the next, whether it is new or already exists.
 *
 * References to all validation material of a signature (EN 319 132-1 §A.1.1 and §A.1.2; EN 319 132-2, level E-C, and
 * E-XL together with the values). Each reference identifies its certificate, CRL or OCSP response by digest.
 */
import { createHash, type Hash } from 'node:crypto';
import { Cursor, encoded, enter, readWhole, TAG } from '../asn1/read.ts';
import { readFractionalTime, readTime } from '../asn1/time.ts';
import { ocspResponse } from '../cms/amend.ts';
import { CryptoError, type DigestName, type SignatureLevel } from '../core/types.ts';
import {
  type Evidence,
  type EvidenceSource,
  NO_EVIDENCE,
  type SigningServices,
  servicesFor,
} from '../evidence/authorities.ts';
import { readCrl } from '../evidence/crl.ts';
import { readOcsp } from '../evidence/ocsp.ts';
import { readTimestampToken } from '../evidence/timestamp-reader.ts';
import { fingerprintOf } from '../x509/certificate.ts';
import type { ByteSink } from '../xml/index.ts';
import { DECLARE_XADES, DIGEST_URI, DS, XADES_141 } from './elements/identifiers.ts';
import { issuerSerialOf, nameText } from './elements/signature-text.ts';
import {
  archiveTimestampText,
  certificateValuesText,
  revocationValuesText,
  signatureTimestampText,
  timestampValidationText,
} from './unsigned-properties.ts';

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
function completeReferences(evidence: Evidence, signer: Buffer, digest: DigestName): readonly string[] {
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

function timeText(at: number): string {
  return `${new Date(at).toISOString().slice(0, -5)}Z`;
}

/** A time-stamp of the signature. */
export interface ExistingTimestamp {
  /** Id attribute; '' when it has none. */
  readonly id: string;
  /** Time-stamp token, DER. */
  readonly token: Buffer;
}

/** State of a signature that augmentation needs. */
export interface RaisableSignature {
  /** Prefix of the added identifiers; no other identifier in the document begins with it. */
  readonly id: string;
  /** Digest of the message imprints. */
  readonly digest: DigestName;
  /** DER of the signer's certificate. */
  readonly certificate: Buffer;
  /** DER of the certificates in KeyInfo. */
  readonly certificates: readonly Buffer[];
  /** Canonical form of SignatureValue. */
  readonly signatureValue: Buffer | string;
  readonly signatureTimestamps: readonly ExistingTimestamp[];
  readonly archiveTimestamps: readonly ExistingTimestamp[];
  /** True when the certificate values of the signer's chain are present. */
  readonly hasCertificateValues: boolean;
  readonly hasRevocationValues: boolean;
  /** True when references to the validation material are added with the values (`XadesFormat.completeReferences`). */
  readonly wantsReferences: boolean;
  /** True when validation data follows the last archive time-stamp. */
  readonly lastArchiveIsProven: boolean;
  /** Hash with `digest` over the data that an archive time-stamp covers, up to the unsigned properties. */
  archived(): Hash;
  /** Writes the data that an archive time-stamp covers after the unsigned properties. */
  writeObjects(sink: ByteSink): void;
}

/**
 * Builds the unsigned properties to append, in order. Existing ones are not added again, except that `LTA` always
 * adds another archive time-stamp.
 * @param at milliseconds since the epoch
 * @throws {CryptoError} `request.invalid` when a service that the level needs is not configured; errors of the
 *   services
 */
export async function raiseLevel(
  signature: RaisableSignature,
  to: Exclude<SignatureLevel, 'B'>,
  at: number,
  services: SigningServices,
): Promise<readonly string[]> {
  const { timestamps: authority, evidence } = servicesFor(to, services);
  const added: string[] = [];
  const timestamps = [...signature.signatureTimestamps];
  if (timestamps.length === 0) {
    const imprint = createHash(signature.digest).update(signature.signatureValue).digest();
    const made = { id: `${signature.id}-timestamp`, token: await authority.stamp(imprint, signature.digest) };
    timestamps.push(made);
    added.push(signatureTimestampText(made.id, made.token));
  }
  if (evidence === undefined) return added;
  added.push(...(await withLongTermValues(signature, timestamps, at, evidence)));
  if (to === 'LT') return added;
  const last = signature.archiveTimestamps.at(-1);
  if (last !== undefined && !signature.lastArchiveIsProven) {
    added.push(timestampValidationText(last.id, await evidenceFor(last.token, at, evidence)));
  }
  const hash = signature.archived();
  for (const text of added) hash.update(text);
  signature.writeObjects(hash);
  const token = await authority.stamp(hash.digest(), signature.digest);
  added.push(archiveTimestampText(`${signature.id}-archive-timestamp`, token));
  return added.filter((text) => text !== '');
}

/** Adds the values that make signer and time-stamps verifiable in the long term (EN 319 132-1 §6.3, level LT). */
async function withLongTermValues(
  signature: RaisableSignature,
  timestamps: readonly ExistingTimestamp[],
  at: number,
  source: EvidenceSource,
): Promise<string[]> {
  const isComplete = signature.hasCertificateValues && signature.hasRevocationValues;
  // Existing values do not cover a time-stamp made just now.
  const unproven = isComplete ? timestamps.slice(signature.signatureTimestamps.length) : timestamps;
  if (isComplete && unproven.length === 0) return [];
  const seen = new Set(signature.certificates.map(fingerprintOf));
  const fresh = (evidence: Evidence): Evidence => {
    const unseen = (der: Buffer): boolean => {
      const print = fingerprintOf(der);
      if (seen.has(print)) return false;
      seen.add(print);
      return true;
    };
    return {
      certificates: evidence.certificates.filter(unseen),
      crls: evidence.crls.filter(unseen),
      ocsps: evidence.ocsps.filter(unseen),
    };
  };
  const collected = isComplete
    ? NO_EVIDENCE
    : await source.collect([signature.certificate], signature.certificates, at);
  const ofSigner = fresh(collected);
  const ofTimestamps: string[] = [];
  for (const { id, token } of unproven) {
    ofTimestamps.push(timestampValidationText(id, fresh(await evidenceFor(token, at, source))));
  }
  // Each list may occur once; values missing in an existing list go into a separate property.
  const incomplete = signature.hasCertificateValues || signature.hasRevocationValues;
  const values = isComplete
    ? []
    : incomplete
      ? [timestampValidationText('', ofSigner)]
      : [certificateValuesText(ofSigner), revocationValuesText(ofSigner)];
  const references = signature.wantsReferences
    ? completeReferences(collected, signature.certificate, signature.digest)
    : [];
  // Validation data follows its time-stamp as closely as possible.
  return [...ofTimestamps, ...references, ...values].filter((text) => text !== '');
}

/** Collects the evidence for the signer of a time-stamp. */
function evidenceFor(token: Buffer, at: number, source: EvidenceSource): Promise<Evidence> {
  const { certificate, certificates } = readTimestampToken(token);
  if (certificate === undefined) {
    throw new CryptoError('revocation.missing', "A time-stamp's signer can't be found in it.");
  }
  return source.collect(
    [certificate.der],
    certificates.map(({ der }) => der),
    at,
  );
}
