/** TimeStampReq and TimeStampResp (RFC 3161 §2.4). */
import { Asn1Error } from '../asn1/asn1-error.ts';
import { DIGEST_ID } from '../asn1/oids.ts';
import { contents, encoded, enter, readElement, smallInteger } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import { NULL, octetString, sequence, small, TRUE, unsigned } from '../asn1/write.ts';
import type { DigestName } from '../core/types.ts';

/**
 * Encodes a request for a token that includes the signer's certificate.
 *
 * TimeStampReq ::= SEQUENCE { version INTEGER 1, messageImprint SEQUENCE { hashAlgorithm, hashedMessage OCTET STRING },
 *     reqPolicy OBJECT IDENTIFIER OPTIONAL, nonce INTEGER OPTIONAL, certReq BOOLEAN DEFAULT FALSE }
 *
 * @param nonce bytes of a positive number
 */
export function encodeTimestampRequest(imprint: Buffer, digest: DigestName, nonce: Buffer): Buffer {
  // Some authorities refuse an imprint algorithm without the NULL parameters of older standards.
  const messageImprint = sequence(sequence(DIGEST_ID[digest], NULL), octetString(imprint));
  return sequence(small(1), messageImprint, unsigned(nonce), TRUE);
}

export interface TimestampResponse {
  /** PKIStatus: 0 granted, 1 granted with modifications, 2 to 5 refused. */
  readonly status: number;
  /** Text of a refusal; empty when the authority gives none. */
  readonly text: string;
  /** DER or BER of the token; undefined when refused. */
  readonly token: Buffer | undefined;
}

/** PKIFailureInfo by bit (RFC 3161 §2.4.2). */
const FAILURES: ReadonlyMap<number, string> = new Map([
  [0, 'unknown algorithm'],
  [2, 'request not permitted'],
  [5, 'malformed request'],
  [14, 'no time source'],
  [15, 'policy not supported'],
  [16, 'extension not supported'],
  [17, 'additional information not available'],
  [25, 'system failure'],
]);

/**
 * Reads a response.
 *
 * TimeStampResp ::= SEQUENCE { status PKIStatusInfo, timeStampToken ContentInfo OPTIONAL }
 * PKIStatusInfo ::= SEQUENCE { status INTEGER, statusString PKIFreeText OPTIONAL, failInfo BIT STRING OPTIONAL }
 *
 * @throws {Asn1Error}
 */
export function readTimestampResponse(der: Buffer): TimestampResponse {
  // Ignores trailing bytes: some servers append a line break.
  const fields = enter(readElement(der), TAG.sequence);
  const info = enter(fields.next(), TAG.sequence);
  const status = smallInteger(info.next());
  const words: string[] = [];
  const free = info.nextIf(TAG.sequence);
  if (free !== undefined) {
    const texts = enter(free, TAG.sequence);
    while (!texts.done && words.length < 5) words.push(contents(texts.next()).toString('utf8').slice(0, 200));
  }
  const failure = info.nextIf(TAG.bitString);
  if (failure !== undefined) words.push(...failuresIn(contents(failure)));
  const token = fields.done ? undefined : fields.next();
  if (token !== undefined && token.tag !== TAG.sequence)
    throw new Asn1Error('the token is malformed', token.start);
  return { status, text: words.join('; '), token: token === undefined ? undefined : encoded(token) };
}

function failuresIn(bits: Buffer): string[] {
  return [...FAILURES].flatMap(([bit, meaning]) => {
    const octet = bits[1 + (bit >> 3)] ?? 0;
    return (octet & (0x80 >> (bit & 7))) !== 0 ? [meaning] : [];
  });
}
