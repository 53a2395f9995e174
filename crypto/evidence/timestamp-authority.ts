/** Time-stamp client over HTTP (RFC 3161 §3.4); responses are verified. */

import { DIGEST_BY_OID, DIGEST_ID } from '../asn1/oids.ts';
import {
  Asn1Error,
  contents,
  encoded,
  enter,
  readElement,
  readWhole,
  smallInteger,
  TAG,
} from '../asn1/read.ts';
import { NULL, octetString, sequence, small, TRUE, unsigned } from '../asn1/write.ts';
import { machineRandom } from '../core/system-time.ts';
import { CryptoError, type DigestName } from '../core/types.ts';
import { HASH_BY_OID } from '../x509/signature-algorithms.ts';
import {
  type AuthorityTransport,
  publicName,
  type RetrySettings,
  type TimestampAuthority,
  withRetries,
} from './authorities.ts';
import { ASKING, createHttpTransport } from './http-transport.ts';
import { checkToken } from './timestamp-checks.ts';
import { readTimestampToken, type TimestampToken } from './timestamp-reader.ts';

export interface TimestampAuthorityOptions extends Partial<RetrySettings> {
  /** Absolute, http or https. */
  readonly url: string;
  /** User name for HTTP Basic authentication; requires `password`. */
  readonly username?: string;
  readonly password?: string;
  /** Time-out of one exchange, milliseconds. @default 10,000 */
  readonly timeoutMs?: number;
  /** @default a new one of `createHttpTransport` */
  readonly transport?: AuthorityTransport;
  /** Returns that many random bytes, for nonces. @default those of `node:crypto` */
  readonly random?: (length: number) => Buffer;
  /** Milliseconds since the epoch. @default the time of the machine */
  readonly now?: () => number;
  /**
   * Accepted difference between the authority's clock and the local one, milliseconds. @default 300,000 (5 minutes)
   */
  readonly clockSkewMs?: number;
}

/** Size limit of a response in bytes; tokens have 2,000 to 10,000. */
const MAX_RESPONSE_BYTES = 256 * 1024;

/** Initial token size estimate: three RSA-4096 certificates, rounded up. */
const INITIAL_TOKEN_BYTES = 8192;

const CLOCK_SKEW_MS = 300_000;
const NONCE_BYTES = 12;
const MIN_MODULUS = 2048;

/**
 * Creates a client. Source: RFC 3161 §2.2, §2.4, §3.4.
 * @throws {CryptoError} `request.invalid` when the URL is not http or https
 */
export function createTimestampAuthority(given: TimestampAuthorityOptions): TimestampAuthority {
  const { transport = createHttpTransport(), random = machineRandom } = given;
  const options = { ...ASKING, ...given };
  const name = publicName(options.url);
  const headers = headersOf(options);
  let longest = 0;

  const tryOnce = async (imprint: Buffer, digest: DigestName): Promise<Buffer> => {
    const nonce = random(NONCE_BYTES);
    const answer = await transport.exchange({
      url: options.url,
      method: 'POST',
      headers,
      body: encodeTimestampRequest(imprint, digest, nonce),
      timeout: options.timeoutMs,
      maxBytes: MAX_RESPONSE_BYTES,
      urlFrom: 'operator',
    });
    const token = tokenIn(answer, name);
    checkAnswer(token, { imprint, digest, nonce: unsigned(nonce), name, options });
    return token;
  };

  return {
    name,
    get tokenLength() {
      return longest === 0 ? INITIAL_TOKEN_BYTES : longest;
    },
    async stamp(imprint, digest) {
      const token = await withRetries(options, () => tryOnce(imprint, digest));
      longest = Math.max(longest, token.length);
      return token;
    },
  };
}

function headersOf({ username, password }: TimestampAuthorityOptions): Readonly<Record<string, string>> {
  const headers = { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' };
  if (username === undefined) return headers;
  const credentials = Buffer.from(`${username}:${password ?? ''}`, 'utf8').toString('base64');
  return { ...headers, authorization: `Basic ${credentials}` };
}

/** PKIStatus of an authority that is temporarily busy (RFC 3161 §2.4.2). */
const WAITING = 3;

function tokenIn(answer: Buffer, name: string): Buffer {
  try {
    const { status, text, token } = readTimestampResponse(answer);
    if (status <= 1 && token !== undefined) {
      // The whole token must be readable before it is used.
      readWhole(token);
      return token;
    }
    const reason = text === '' ? '' : `: ${text}`;
    const code = status === WAITING ? 'authority.unreachable' : 'authority.refused';
    throw new CryptoError(code, `The time-stamp authority ${name} answered with status ${status}${reason}.`);
  } catch (error) {
    if (!(error instanceof Asn1Error)) throw error;
    const message = `The time-stamp authority ${name} answered with something else: ${error.message}.`;
    throw new CryptoError('authority.refused', message);
  }
}

interface Expected {
  readonly imprint: Buffer;
  readonly digest: DigestName;
  /** DER of the INTEGER. */
  readonly nonce: Buffer;
  readonly name: string;
  readonly options: Pick<TimestampAuthorityOptions, 'clockSkewMs'> & { readonly now: () => number };
}

/** Performs the requester's checks of RFC 3161 §2.2. @throws {CryptoError} `authority.refused` */
function checkAnswer(der: Buffer, expected: Expected): void {
  const fault = faultOfAnswer(der, expected);
  if (fault === undefined) return;
  throw new CryptoError(
    'authority.refused',
    `The time-stamp of ${expected.name} can't be used: ${fault.replace(/\.$/, '')}.`,
  );
}

function faultOfAnswer(der: Buffer, { imprint, digest, nonce, options }: Expected): string | undefined {
  try {
    const token = readTimestampToken(der);
    if (token.imprintAlgorithm !== digest)
      return `it was asked for ${digest}, and is for ${token.imprintAlgorithm}`;
    if (token.nonce === undefined || !token.nonce.equals(nonce)) return 'its nonce is not the one asked with';
    const off = Math.abs(token.genTime - options.now());
    if (off > (options.clockSkewMs ?? CLOCK_SKEW_MS)) {
      return `its clock is ${Math.round(off / 1000)} seconds off ours`;
    }
    const weakness = weaknessOf(token);
    if (weakness !== undefined) return weakness;
    const { certificate } = token;
    if (
      certificate !== undefined &&
      (token.genTime < certificate.notBefore || token.genTime > certificate.notAfter)
    ) {
      return 'the certificate of its signer is not valid now';
    }
    return checkToken(token, () => imprint).find(({ status }) => status === 'failed')?.message;
  } catch (error) {
    if (error instanceof CryptoError) return error.message;
    throw error;
  }
}

/** Reason to refuse a new token with outdated algorithms; existing ones are judged by date elsewhere. */
function weaknessOf({ signedData, certificate }: TimestampToken): string | undefined {
  const [signer] = signedData.signers;
  if (signer !== undefined && !DIGEST_BY_OID.has(signer.digestAlgorithm)) {
    return `it is signed with the digest ${HASH_BY_OID.get(signer.digestAlgorithm) ?? signer.digestAlgorithm}`;
  }
  const modulus = certificate?.publicKey.asymmetricKeyDetails?.modulusLength;
  return modulus !== undefined && modulus < MIN_MODULUS ? `its RSA key has ${modulus} bits` : undefined;
}

// TimeStampReq and TimeStampResp (RFC 3161 §2.4).

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

interface TimestampResponse {
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
