/** Asks a time-stamp authority over HTTP (RFC 3161 §3.4), and believes nothing it has not checked. */
import { Asn1Error } from '../asn1/error.ts';
import { DIGEST_BY_OID } from '../asn1/oids.ts';
import { readWhole } from '../asn1/read.ts';
import { unsigned } from '../asn1/write.ts';
import type { AuthorityTransport, TimestampAuthority } from '../authorities.ts';
import { HASH_BY_OID } from '../cms/hashes.ts';
import { publicName } from '../revocation/address.ts';
import { type RetrySettings, withRetries } from '../revocation/retry.ts';
import { CryptoError, type DigestName } from '../types.ts';
import { checkToken } from './check.ts';
import { encodeTimestampRequest, readTimestampResponse } from './exchange.ts';
import { readTimestampToken } from './read.ts';
import type { TimestampToken } from './token.ts';

export interface TimestampAuthorityOptions extends RetrySettings {
  /** Absolute, http or https. */
  readonly url: string;
  /** For HTTP Basic authentication; with `password`. */
  readonly username?: string;
  readonly password?: string;
  /** For one exchange, milliseconds. */
  readonly timeoutMs: number;
  readonly transport: AuthorityTransport;
  /** Gives that many random bytes, for nonces. */
  readonly random: (length: number) => Buffer;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** How far the authority's clock may be from ours, milliseconds. @default 300,000 (5 minutes) */
  readonly clockSkewMs?: number;
}

/** Bytes an answer may have; tokens have 2 to 10 thousand. */
const MAX_ANSWER = 256 * 1024;

/** A token with three RSA-4096 certificates inside, rounded up: what is reserved before the first one was seen. */
const GENEROUS_TOKEN = 8192;

const CLOCK_SKEW = 300_000;
const NONCE_BYTES = 12;
const MIN_MODULUS = 2048;

/** @throws {CryptoError} `request.invalid` when the URL is not one for HTTP */
export function createTimestampAuthority(options: TimestampAuthorityOptions): TimestampAuthority {
  const name = publicName(options.url);
  const headers = headersOf(options);
  let longest = 0;

  const tryOnce = async (imprint: Buffer, digest: DigestName): Promise<Buffer> => {
    const nonce = options.random(NONCE_BYTES);
    const answer = await options.transport.exchange({
      url: options.url,
      method: 'POST',
      headers,
      body: encodeTimestampRequest(imprint, digest, nonce),
      timeout: options.timeoutMs,
      maxBytes: MAX_ANSWER,
    });
    const token = tokenIn(answer, name);
    checkAnswer(token, { imprint, digest, nonce: unsigned(nonce), name, options });
    return token;
  };

  return {
    name,
    get tokenLength() {
      return longest === 0 ? GENEROUS_TOKEN : longest;
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

/** PKIStatus of an authority that has no time for us now, and may have later (RFC 3161 §2.4.2). */
const WAITING = 3;

function tokenIn(answer: Buffer, name: string): Buffer {
  try {
    const { status, text, token } = readTimestampResponse(answer);
    if (status <= 1 && token !== undefined) {
      // The whole token must be readable before anything rests on it.
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
  readonly options: TimestampAuthorityOptions;
}

/** RFC 3161 §2.2: what the one who asked has to check. @throws {CryptoError} `authority.refused` */
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
    if (off > (options.clockSkewMs ?? CLOCK_SKEW)) {
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

/** A token made today with yesterday's algorithms would not last; old ones are judged by date elsewhere. */
function weaknessOf({ signedData, certificate }: TimestampToken): string | undefined {
  const [signer] = signedData.signers;
  if (signer !== undefined && !DIGEST_BY_OID.has(signer.digestAlgorithm)) {
    return `it is signed with the digest ${HASH_BY_OID.get(signer.digestAlgorithm) ?? signer.digestAlgorithm}`;
  }
  const modulus = certificate?.publicKey.asymmetricKeyDetails?.modulusLength;
  return modulus !== undefined && modulus < MIN_MODULUS ? `its RSA key has ${modulus} bits` : undefined;
}
