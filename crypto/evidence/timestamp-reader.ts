/** Reads TimeStampToken (RFC 3161 §2.4.2). */

import { createHash } from 'node:crypto';
import {
  Asn1Error,
  Cursor,
  encoded,
  enter,
  octets,
  oidText,
  parseAlgorithm,
  readWhole,
  smallInteger,
  TAG,
} from '../asn1/read.ts';
import { readFractionalTime } from '../asn1/time.ts';
import { parseSignedData, type SignedData } from '../cms/parse.ts';
import { signerCertificate } from '../cms/signing-certificate.ts';
import { CryptoError } from '../core/types.ts';
import { type Certificate, readableCertificates } from '../x509/certificate.ts';
import { splitExtensions } from '../x509/extensions.ts';
import { HASH_BY_OID, hashNamed } from '../x509/signature-algorithms.ts';

/** id-ct-TSTInfo. */
export const TIMESTAMP_INFO = '1.2.840.113549.1.9.16.1.4';

/**
 * Parses a token without validation; `der` is exactly the ContentInfo, in DER or BER.
 *
 * TSTInfo ::= SEQUENCE { version INTEGER 1, policy OBJECT IDENTIFIER, messageImprint MessageImprint,
 *     serialNumber INTEGER, genTime GeneralizedTime, accuracy SEQUENCE { … } OPTIONAL, ordering BOOLEAN DEFAULT FALSE,
 *     nonce INTEGER OPTIONAL, tsa [0] GeneralName OPTIONAL, extensions [1] IMPLICIT Extensions OPTIONAL }
 *
 * @throws {CryptoError} `timestamp.malformed`
 */
export function readTimestampToken(der: Buffer): TimestampToken {
  try {
    return parse(der);
  } catch (error) {
    if (!(error instanceof Asn1Error)) throw error;
    throw new CryptoError('timestamp.malformed', `The time-stamp can't be read: ${error.message}.`);
  }
}

function parse(der: Buffer): TimestampToken {
  const signedData = parseSignedData(der);
  if (signedData.contentType !== TIMESTAMP_INFO) throw new Asn1Error('the content is not a TSTInfo', 0);
  const info = signedData.content;
  if (info === undefined) throw new Asn1Error('there is no content', 0);
  const [signer, ...more] = signedData.signers;
  // RFC 3161 §2.4.2: a token has only the signature of its authority.
  if (signer === undefined || more.length > 0) throw new Asn1Error('there is not exactly one signer', 0);
  const certificates = signedData.certificates.flatMap(readableCertificates);
  return {
    der,
    signedData,
    info,
    ...readInfo(info),
    certificate: signerCertificate(signer, certificates),
    certificates,
  };
}

type Info = Pick<TimestampToken, 'genTime' | 'imprint' | 'imprintAlgorithm' | 'policy' | 'serial' | 'nonce'>;

function readInfo(info: Buffer): Info {
  const fields = enter(readWhole(info), TAG.sequence);
  if (smallInteger(fields.next()) !== 1) throw new Asn1Error('the version is not 1', 0);
  const policy = oidText(fields.next());
  const messageImprint = enter(fields.next(), TAG.sequence);
  const algorithm = parseAlgorithm(messageImprint.next()).id;
  const imprint = octets(messageImprint.next());
  messageImprint.end();
  const serial = encoded(fields.next(TAG.integer));
  const genTime = readFractionalTime(fields.next());
  fields.nextIf(TAG.sequence);
  fields.nextIf(TAG.boolean);
  const nonce = fields.nextIf(TAG.integer);
  fields.nextIf(TAG.context0Constructed);
  const extensions = fields.nextIf(TAG.context1Constructed);
  fields.end();
  if (extensions !== undefined) refuseCritical(new Cursor(extensions));
  return {
    genTime,
    imprint,
    imprintAlgorithm: HASH_BY_OID.get(algorithm) ?? algorithm,
    policy,
    serial,
    nonce: nonce === undefined ? undefined : encoded(nonce),
  };
}

/** Refuses critical extensions; [1] IMPLICIT replaces the SEQUENCE tag. */
function refuseCritical(cursor: Cursor): void {
  const elements = [];
  while (!cursor.done && elements.length < 100) elements.push(cursor.next());
  const critical = splitExtensions(elements).find((extension) => extension.critical);
  if (critical !== undefined) throw new Asn1Error(`critical extension ${critical.id} is not understood`, 0);
}

/** Computes the digest that a time-stamp must cover, by hash function; undefined for an unknown one. */
export type ImprintSource = (algorithm: string) => Buffer | undefined;

/** Creates a source over bytes in memory; several chunks are concatenated. */
export function imprintOf(...parts: readonly Uint8Array[]): ImprintSource {
  return (algorithm) => {
    const name = hashNamed(algorithm);
    if (name === undefined) return undefined;
    const hash = createHash(name);
    for (const part of parts) hash.update(part);
    return hash.digest();
  };
}

/** TimeStampToken (RFC 3161 §2.4.2), parsed but not validated. */
export interface TimestampToken {
  readonly der: Buffer;
  readonly signedData: SignedData;
  /** DER of TSTInfo, which the token's signature covers. */
  readonly info: Buffer;
  /** Milliseconds since the epoch. */
  readonly genTime: number;
  readonly imprint: Buffer;
  /** Lower-case name (`sha256`, also `sha1`), or the dotted OID of an unknown algorithm. */
  readonly imprintAlgorithm: string;
  /** Dotted OID. */
  readonly policy: string;
  /** DER of the INTEGER. */
  readonly serial: Buffer;
  /** DER of the INTEGER; undefined when there is none. */
  readonly nonce: Buffer | undefined;
  /** Signer's certificate if the token contains it. */
  readonly certificate: Certificate | undefined;
  readonly certificates: readonly Certificate[];
}
