/** Reads TimeStampToken (RFC 3161 §2.4.2). */
import { Asn1Error } from '../asn1/error.ts';
import { Cursor, encoded, enter, octets, oidText, readWhole, smallInteger } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import { readFractionalTime } from '../asn1/time.ts';
import { readableCertificates } from '../certificates/certificate.ts';
import { splitExtensions } from '../certificates/extensions.ts';
import { HASH_BY_OID } from '../cms/hashes.ts';
import { parseAlgorithm, parseSignedData } from '../cms/parse.ts';
import { signerCertificate } from '../cms/signing-certificate.ts';
import { CryptoError } from '../types.ts';
import type { TimestampToken } from './token.ts';

/** id-ct-TSTInfo. */
export const TIMESTAMP_INFO = '1.2.840.113549.1.9.16.1.4';

/**
 * Reads a token without judging it; `der` is the ContentInfo alone, in DER or BER.
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
  // RFC 3161 §2.4.2: a token has the signature of its authority and no other.
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
  if (smallInteger(fields.take()) !== 1) throw new Asn1Error('the version is not 1', 0);
  const policy = oidText(fields.take());
  const messageImprint = enter(fields.take(), TAG.sequence);
  const algorithm = parseAlgorithm(messageImprint.take()).id;
  const imprint = octets(messageImprint.take());
  messageImprint.end();
  const serial = encoded(fields.take(TAG.integer));
  const genTime = readFractionalTime(fields.take());
  fields.takeIf(TAG.sequence);
  fields.takeIf(TAG.boolean);
  const nonce = fields.takeIf(TAG.integer);
  fields.takeIf(TAG.context0Constructed);
  const extensions = fields.takeIf(TAG.context1Constructed);
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

/** Extensions [1] IMPLICIT: the elements follow each other without a SEQUENCE around them. */
function refuseCritical(cursor: Cursor): void {
  const elements = [];
  while (!cursor.done && elements.length < 100) elements.push(cursor.take());
  const critical = splitExtensions(elements).find((extension) => extension.critical);
  if (critical !== undefined) throw new Asn1Error(`critical extension ${critical.id} is not understood`, 0);
}
