/** OCSP responder (RFC 6960) and CRL issuer (RFC 5280 §5) with faults for tests. */
import { createHash, type KeyObject } from 'node:crypto';
import { childrenOf, contents, encoded, enter, oidText, readWhole, TAG } from '#crypto/asn1/read.js';
import { time, timeText } from '#crypto/asn1/time.js';
import { bitString, octetString, oid, sequence, small, TRUE, tlv, unsigned } from '#crypto/asn1/write.js';
import { readCertificate } from '#crypto/x509/certificate.js';
import { structureSigner } from './issuing.ts';

export interface Revocation {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** CRLReason. */
  readonly reason?: number;
}

/** Revocations by the hexadecimal value of the serial number. */
export type Revoked = ReadonlyMap<string, Revocation>;

export interface AnswerTimes {
  /** Milliseconds since the epoch. */
  readonly thisUpdate: number;
  readonly nextUpdate?: number | undefined;
}

export type OcspFault = 'try-later' | 'wrong-value' | 'other-serial' | 'unknown' | 'no-certificate';

export interface OcspRequest extends AnswerTimes {
  /** Milliseconds since the epoch. */
  readonly producedAt: number;
  readonly revoked: Revoked;
  readonly issuer: Buffer;
  /** Signing key: the issuer's, or that of a delegated responder, whose certificate is included in the response. */
  readonly responder: { readonly key: KeyObject; readonly certificate: Buffer };
  /** Form of the ResponderID. @default 'key' */
  readonly by?: 'key' | 'name';
  /** Hexadecimal serial numbers of certificates that were never issued. */
  readonly unknown?: ReadonlySet<string>;
  readonly fault?: OcspFault | undefined;
}

/** Returns the hexadecimal serial number of a certificate. */
export function serialOf(certificate: Buffer): string {
  return contents(readWhole(readCertificate(certificate).serial)).toString('hex');
}

/** Answers an OCSPRequest with the DER of an OCSPResponse. Throws when the request is malformed. */
export function answerOcspRequest(query: Buffer, request: OcspRequest): Buffer {
  if (request.fault === 'try-later') return sequence(Buffer.from([0x0a, 1, 3]));
  const body = enter(enter(readWhole(query), TAG.sequence).next(), TAG.sequence);
  body.nextIf(TAG.context0Constructed);
  body.nextIf(TAG.context1Constructed);
  const ids = childrenOf(body.next(TAG.sequence)).map((single) =>
    encoded(enter(single, TAG.sequence).next()),
  );
  const extensions = body.nextIf(TAG.context2Constructed);
  const nonce = (extensions === undefined ? [] : childrenOf(childrenOf(extensions)[0] ?? extensions)).filter(
    (extension) => oidText(enter(extension, TAG.sequence).next()) === '1.3.6.1.5.5.7.48.1.2',
  );
  const basic = makeBasicResponse(ids, request, nonce.map(encoded));
  const bytes = sequence(oid('1.3.6.1.5.5.7.48.1.1'), octetString(basic));
  return sequence(Buffer.from([0x0a, 1, 0]), tlv(TAG.context0Constructed, bytes));
}

/** Creates the DER of a BasicOCSPResponse about the CertIDs. */
export function makeBasicResponse(
  ids: readonly Buffer[],
  request: OcspRequest,
  extensions: readonly Buffer[] = [],
): Buffer {
  const responder = readCertificate(request.responder.certificate);
  const keyHash = createHash('sha1').update(responder.publicKeyBits).digest();
  const responderId =
    request.by === 'name'
      ? tlv(TAG.context1Constructed, responder.subject)
      : tlv(TAG.context2Constructed, octetString(keyHash));
  const data = sequence(
    responderId,
    tlv(TAG.generalizedTime, Buffer.from(timeText(request.producedAt))),
    sequence(...ids.map((id) => singleResponse(id, request))),
    ...(extensions.length === 0 ? [] : [tlv(TAG.context1Constructed, sequence(...extensions))]),
  );
  const signer = structureSigner(request.responder.key);
  const value = signer.sign(data);
  if (request.fault === 'wrong-value') value[value.length - 1] = (value[value.length - 1] ?? 0) ^ 1;
  const delegated =
    !request.responder.certificate.equals(request.issuer) && request.fault !== 'no-certificate';
  const certificates = delegated
    ? [tlv(TAG.context0Constructed, sequence(request.responder.certificate))]
    : [];
  return sequence(data, signer.algorithm, bitString(value), ...certificates);
}

function singleResponse(id: Buffer, request: OcspRequest): Buffer {
  const fields = enter(readWhole(id), TAG.sequence);
  const algorithm = encoded(fields.next());
  const nameHash = encoded(fields.next());
  const keyHash = encoded(fields.next());
  const serial = fields.next();
  const number = contents(serial).toString('hex');
  const answered =
    request.fault === 'other-serial'
      ? sequence(algorithm, nameHash, keyHash, unsigned(Buffer.from('other')))
      : id;
  const next = request.nextUpdate;
  return sequence(
    answered,
    statusOf(number, request),
    tlv(TAG.generalizedTime, Buffer.from(timeText(request.thisUpdate))),
    ...(next === undefined
      ? []
      : [tlv(TAG.context0Constructed, tlv(TAG.generalizedTime, Buffer.from(timeText(next))))]),
  );
}

function statusOf(serial: string, request: OcspRequest): Buffer {
  if (request.fault === 'unknown' || request.unknown?.has(serial)) return Buffer.from([0x82, 0]);
  const revocation = request.revoked.get(serial);
  if (revocation === undefined) return Buffer.from([0x80, 0]);
  const at = tlv(TAG.generalizedTime, Buffer.from(timeText(revocation.at)));
  const reason =
    revocation.reason === undefined
      ? []
      : [tlv(TAG.context0Constructed, Buffer.from([0x0a, 1, revocation.reason]))];
  return tlv(TAG.context1Constructed, at, ...reason);
}

export interface CrlRequest extends AnswerTimes {
  readonly issuer: { readonly key: KeyObject; readonly certificate: Buffer };
  readonly revoked: Revoked;
  readonly number?: number;
  /** Padding of an RSA issuer's signature. */
  readonly padding?: 'pkcs1' | 'pss';
  /** DER of the name in certificateIssuer of the first entry (RFC 5280 §5.3.3). */
  readonly certificateIssuer?: Buffer;
  /** DER of further crlExtensions. */
  readonly extensions?: readonly Buffer[];
}

/** Creates the DER of a CertificateList, version 2. */
export function makeCrl(request: CrlRequest): Buffer {
  const issuer = readCertificate(request.issuer.certificate);
  const signer = structureSigner(request.issuer.key, request.padding);
  const entries = [...request.revoked].map(([serial, { at, reason }], index) => {
    const code = reason === undefined ? [] : [crlExtension('2.5.29.21', Buffer.from([0x0a, 1, reason]))];
    if (request.certificateIssuer !== undefined && index === 0)
      code.push(crlExtension('2.5.29.29', sequence(tlv(0xa4, request.certificateIssuer)), true));
    const number = tlv(TAG.integer, Buffer.from(serial, 'hex'));
    return sequence(number, time(at), ...(code.length === 0 ? [] : [sequence(...code)]));
  });
  const keyId = issuer.subjectKeyId ?? Buffer.alloc(0);
  const extensions = sequence(
    crlExtension('2.5.29.35', sequence(tlv(TAG.context0, keyId))),
    crlExtension('2.5.29.20', small(request.number ?? 1)),
    ...(request.extensions ?? []),
  );
  const list = sequence(
    small(1),
    signer.algorithm,
    issuer.subject,
    time(request.thisUpdate),
    ...(request.nextUpdate === undefined ? [] : [time(request.nextUpdate)]),
    ...(entries.length === 0 ? [] : [sequence(Buffer.concat(entries))]),
    tlv(TAG.context0Constructed, extensions),
  );
  return sequence(list, signer.algorithm, bitString(signer.sign(list)));
}

/** Encodes one extension of a CRL or of an entry. */
export function crlExtension(id: string, value: Buffer, critical = false): Buffer {
  return sequence(oid(id), ...(critical ? [TRUE] : []), octetString(value));
}
