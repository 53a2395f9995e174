/**
 * Keys of Google Cloud KMS, over plain HTTP. The version of the key that belongs to the certificate signs; it has one
 * algorithm. Checksums find what was damaged on the way to the key.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Clock } from '@sealwright/runtime/core';
import { CryptoError, type ToBeSigned } from '@sealwright/signatures';
import { AccessTokens } from './access-tokens.ts';
import { crc32c } from './crc32c.ts';
import { googleTokenSource } from './google-credentials.ts';
import { isObject, type JsonAnswer, JsonClient, type JsonConnections } from './json-requests.ts';
import {
  type GoogleKmsPlace,
  type KeyDriver,
  keptVersion,
  mismatch,
  type RequestLimit,
  ServiceBusy,
  unavailable,
} from './key-service.ts';

const ADDRESS = 'https://cloudkms.googleapis.com';
/** Enabled versions of a key that are compared with the certificate, the newest ones. */
const MAX_VERSIONS = 25;

/** Algorithms of versions, as far as they sign digests of this kind. */
const ALGORITHM = /^(RSA_SIGN_PKCS1|RSA_SIGN_PSS|EC_SIGN)_\w+_SHA(256|384|512)$/;
const SCHEMES = { RSA_SIGN_PKCS1: 'rsa-pkcs1', RSA_SIGN_PSS: 'rsa-pss', EC_SIGN: 'ecdsa' } as const;

const REMEDIES: { readonly [status: string]: string } = {
  FAILED_PRECONDITION: 'Enable the version of the key.',
  PERMISSION_DENIED:
    'Give the account the roles Cloud KMS CryptoKey Signer/Verifier and Cloud KMS Viewer for the key.',
  UNAUTHENTICATED: 'Check the credentials of the process and the clock of the machine.',
};

interface KeyVersion {
  /** Resource name. */
  readonly name: string;
  readonly algorithm: string;
  readonly publicKey: KeyObject;
}

export function googleKmsDriver(
  { key, address = ADDRESS }: GoogleKmsPlace,
  connections: JsonConnections,
  publicKey: KeyObject,
  clock: Pick<Clock, 'elapsed' | 'now'>,
): KeyDriver {
  const client = new JsonClient(connections);
  const tokens = new AccessTokens(client, googleTokenSource(process.env, clock, client), clock);
  const name = `The key ${key}`;
  const send = (path: string, limit: RequestLimit, body?: object) =>
    tokens.json(`${address.replace(/\/$/, '')}/v1/${path}`, {
      limit,
      body,
      refused: (answer) => refused(name, answer),
    });
  const find = async (wanted: KeyObject, limit: RequestLimit): Promise<KeyVersion> => {
    const names = key.includes('/cryptoKeyVersions/')
      ? [key]
      : enabledVersions(
          name,
          await send(`${key}/cryptoKeyVersions?pageSize=100&filter=state%3DENABLED`, limit),
        );
    for (const one of names) {
      const found = readVersion(one, await send(`${one}/publicKey`, limit));
      if (found?.publicKey.equals(wanted) === true) return found;
    }
    throw mismatch(name);
  };
  const withVersion = keptVersion((limit) => find(publicKey, limit));
  return {
    name,
    async confirm(wanted, limit) {
      await find(wanted, limit);
    },
    async sign(data, limit) {
      const answer = await withVersion(limit, async (version) =>
        send(`${version.name}:asymmetricSign`, limit, signRequest(name, data, version)),
      );
      return signatureIn(name, answer);
    },
    close: () => client.close(),
  };
}

/** Names of the versions, the newest first. */
function enabledVersions(
  name: string,
  { cryptoKeyVersions: versions }: JsonAnswer['body'],
): readonly string[] {
  const names = (Array.isArray(versions) ? versions : []).flatMap((entry: unknown) =>
    isObject(entry) && entry['state'] === 'ENABLED' ? [String(entry['name'])] : [],
  );
  if (names.length === 0)
    throw unavailable(name, 'it has no enabled version', 'Enable the version of the certificate.');
  const numberOf = (one: string) => Number(one.split('/').at(-1));
  return names.sort((one, other) => numberOf(other) - numberOf(one)).slice(0, MAX_VERSIONS);
}

/** Undefined for a key of a kind that signs nothing here. @throws {ServiceBusy} when it was damaged on its way */
function readVersion(
  name: string,
  { pem, pemCrc32c, algorithm }: JsonAnswer['body'],
): KeyVersion | undefined {
  if (typeof pem !== 'string') return undefined;
  if (pemCrc32c !== undefined && Number(pemCrc32c) !== crc32c(Buffer.from(pem)))
    throw new ServiceBusy('its public key arrived damaged');
  try {
    return { name, algorithm: String(algorithm), publicKey: createPublicKey(pem) };
  } catch {
    return undefined;
  }
}

/** @throws {CryptoError} `key.unsupported`: the version has another algorithm */
function signRequest(name: string, { toBeSigned, hash, algorithm }: ToBeSigned, version: KeyVersion): object {
  const { scheme, digest } = algorithm;
  if (version.algorithm === 'EC_SIGN_ED25519' && scheme === 'ed25519')
    return { data: toBeSigned.toString('base64'), dataCrc32c: String(crc32c(toBeSigned)) };
  const [, kind, bits] = ALGORITHM.exec(version.algorithm) ?? [];
  const own = kind === undefined ? undefined : SCHEMES[kind as keyof typeof SCHEMES];
  if (own === scheme && digest === `sha${bits}`)
    return { digest: { [digest]: hash.toString('base64') }, digestCrc32c: String(crc32c(hash)) };
  throw new CryptoError(
    'key.unsupported',
    `${name} signs with ${version.algorithm}, not with ${scheme} and ${digest}. Set DigestAlgorithm${own?.startsWith('rsa') === true ? ` SHA${bits} and RsaPadding ${own === 'rsa-pss' ? 'Pss' : 'Pkcs1'}` : bits === undefined ? '' : ` SHA${bits}`}, or use another version.`,
  );
}

/** @throws {ServiceBusy} when digest or value was damaged on its way */
function signatureIn(name: string, answer: JsonAnswer['body']): Buffer {
  const { signature, signatureCrc32c, verifiedDigestCrc32c, verifiedDataCrc32c } = answer;
  const value = typeof signature === 'string' ? Buffer.from(signature, 'base64') : Buffer.alloc(0);
  if (value.length === 0)
    throw unavailable(name, 'its answer holds no signature', 'Check KeyService:Address.');
  if (verifiedDigestCrc32c !== true && verifiedDataCrc32c !== true)
    throw new ServiceBusy('it did not check the digest that it received');
  if (Number(signatureCrc32c) !== crc32c(value)) throw new ServiceBusy('its signature arrived damaged');
  return value;
}

function refused(name: string, { status, body }: JsonAnswer): Error {
  const error = isObject(body['error']) ? body['error'] : {};
  const code = String(error['status'] ?? 'no code');
  const message = String(error['message'] ?? '').slice(0, 300);
  const reason = `HTTP status ${status}, ${code}: ${message}`;
  if (code === 'INVALID_ARGUMENT' && /crc32c|checksum/i.test(message))
    return new ServiceBusy('the digest arrived damaged');
  if (status === 404)
    return new CryptoError(
      'key.not-found',
      `${name} does not exist (${reason}). Check project, location, ring and name in KeyService:Key.`,
    );
  if (status === 400 && code === 'INVALID_ARGUMENT')
    return new CryptoError(
      'key.unsupported',
      `${name} makes no such signature (${reason}). Its purpose must be ASYMMETRIC_SIGN.`,
    );
  const remedy = Object.hasOwn(REMEDIES, code) ? REMEDIES[code] : undefined;
  return unavailable(name, reason, remedy ?? 'Check KeyService:Address and the credentials of the process.');
}
