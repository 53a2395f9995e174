/** Time-stamp authority (RFC 3161) with faults for tests. */
import { createHash, type KeyObject } from 'node:crypto';
import { DIGEST_ID, ID } from '#crypto/asn1/oids.js';
import { encoded, enter, octets, readWhole, TAG } from '#crypto/asn1/read.js';
import { timeText } from '#crypto/asn1/time.js';
import { bitString, octetString, oid, sequence, setOf, small, tlv, unsigned } from '#crypto/asn1/write.js';
import type { DigestName } from '#crypto/core/types.js';
import { readCertificate } from '#crypto/x509/certificate.js';
import { structureSigner } from './issuing.ts';
import { crlExtension } from './revocation-answers.ts';

export interface TokenMaker {
  readonly key: KeyObject;
  readonly certificate: Buffer;
  /** Additional certificates in the token. */
  readonly chain: readonly Buffer[];
}

/** Fault of a token. */
export type TokenFault =
  | 'wrong-nonce'
  | 'no-nonce'
  | 'wrong-imprint'
  | 'wrong-value'
  | 'wrong-time'
  | 'no-certificate'
  | 'no-binding'
  | 'wrong-binding'
  | 'weak-digest'
  | 'rejected';

export interface TokenRequest {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly serial: Buffer;
  readonly fault?: TokenFault | undefined;
  /** An extension of TSTInfo that nobody knows. */
  readonly extension?: { readonly critical: boolean };
}

const INFO = oid('1.2.840.113549.1.9.16.1.4');
const POLICY = oid('1.2.3.4.1');
const SHA1 = oid('1.3.14.3.2.26');

/** Answers a TimeStampReq with the DER of a TimeStampResp. Throws when the request is malformed. */
export function answerTimestampRequest(query: Buffer, maker: TokenMaker, request: TokenRequest): Buffer {
  if (request.fault === 'rejected') {
    const text = sequence(tlv(TAG.utf8String, Buffer.from('not today')));
    // badRequest is bit 2 of PKIFailureInfo.
    return sequence(sequence(small(2), text, bitString(Buffer.from([0x20]), 5)));
  }
  const fields = enter(readWhole(query), TAG.sequence);
  fields.next(TAG.integer);
  const imprint = fields.next(TAG.sequence);
  fields.nextIf(TAG.oid);
  const nonce = fields.nextIf(TAG.integer);
  const info = encodeInfo(encoded(imprint), nonce === undefined ? undefined : encoded(nonce), request);
  return sequence(sequence(small(0)), encodeToken(info, maker, request.fault));
}

/** Creates the DER of a token over `imprint` without a request, for a given time. */
export function makeToken(
  imprint: Buffer,
  digest: DigestName,
  maker: TokenMaker,
  request: TokenRequest,
): Buffer {
  const messageImprint = sequence(sequence(DIGEST_ID[digest]), octetString(imprint));
  return encodeToken(encodeInfo(messageImprint, undefined, request), maker, request.fault);
}

function encodeInfo(imprint: Buffer, nonce: Buffer | undefined, request: TokenRequest): Buffer {
  const { at, serial, fault, extension } = request;
  const time = fault === 'wrong-time' ? at - 86_400_000 : at;
  const text = Buffer.from(`${timeText(time).slice(0, 14)}.${fraction(time)}Z`.replace(/\.?0*Z$/, 'Z'));
  const nonces =
    fault === 'wrong-nonce' ? [unsigned(Buffer.from('another'))] : nonce === undefined ? [] : [nonce];
  return sequence(
    small(1),
    POLICY,
    fault === 'wrong-imprint' ? otherImprint(imprint) : imprint,
    unsigned(serial),
    tlv(TAG.generalizedTime, text),
    // accuracy: one second
    sequence(small(1)),
    ...(fault === 'no-nonce' ? [] : nonces),
    ...(extension === undefined
      ? []
      : [
          tlv(
            TAG.context1Constructed,
            crlExtension('1.2.3.4.5', octetString(Buffer.from('?')), extension.critical),
          ),
        ]),
  );
}

function fraction(at: number): string {
  return String(at % 1000).padStart(3, '0');
}

function otherImprint(imprint: Buffer): Buffer {
  const fields = enter(readWhole(imprint), TAG.sequence);
  const algorithm = encoded(fields.next());
  const hash = Buffer.from(octets(fields.next()));
  hash[0] = (hash[0] ?? 0) ^ 1;
  return sequence(algorithm, octetString(hash));
}

const KEY_DIGEST: { readonly [curve: string]: DigestName } = { secp384r1: 'sha384', secp521r1: 'sha512' };

function encodeToken(info: Buffer, maker: TokenMaker, fault: TokenFault | undefined): Buffer {
  const { key, chain } = maker;
  const ed25519 = key.asymmetricKeyType === 'ed25519';
  const digest = ed25519 ? 'sha512' : (KEY_DIGEST[key.asymmetricKeyDetails?.namedCurve ?? ''] ?? 'sha256');
  const digestAlgorithm = sequence(fault === 'weak-digest' ? SHA1 : DIGEST_ID[digest]);
  const certificate = readCertificate(maker.certificate);
  const attributes = setOf([
    attribute(ID.contentType, INFO),
    attribute(ID.messageDigest, octetString(createHash(digest).update(info).digest())),
    ...(fault === 'no-binding' ? [] : [binding(fault === 'wrong-binding' ? info : maker.certificate)]),
  ]);
  const signer = structureSigner(key);
  const value = signer.sign(attributes);
  if (fault === 'wrong-value') value[value.length - 1] = (value[value.length - 1] ?? 0) ^ 1;
  const implicit = Buffer.from(attributes);
  implicit[0] = TAG.context0Constructed;
  const signerInfo = sequence(
    small(1),
    sequence(certificate.issuer, certificate.serial),
    digestAlgorithm,
    implicit,
    signer.algorithm,
    octetString(value),
  );
  const certificates = fault === 'no-certificate' ? [...chain] : [maker.certificate, ...chain];
  const signedData = sequence(
    small(3),
    setOf([digestAlgorithm]),
    sequence(INFO, tlv(TAG.context0Constructed, octetString(info))),
    ...(certificates.length === 0 ? [] : [setOf(certificates, TAG.context0Constructed)]),
    setOf([signerInfo]),
  );
  return sequence(ID.signedData, tlv(TAG.context0Constructed, signedData));
}

function binding(certificate: Buffer): Buffer {
  const hash = octetString(createHash('sha256').update(certificate).digest());
  return attribute(ID.signingCertificateV2, sequence(sequence(sequence(hash))));
}

function attribute(id: Buffer, value: Buffer): Buffer {
  return sequence(id, setOf([value]));
}
