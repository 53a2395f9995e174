/**
 * Keys of Azure Key Vault and of its Managed HSM, over plain HTTP. The version of the key that belongs to the certificate
 * signs, also after a rotation.
 */
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { Clock } from '@sealwright/runtime/core';
import { CryptoError, type SignatureAlgorithm, type ToBeSigned } from '@sealwright/signatures';
import { AccessTokens } from './access-tokens.ts';
import { azureTokenSource } from './azure-credentials.ts';
import { isObject, type JsonAnswer, JsonClient, type JsonConnections } from './json-requests.ts';
import {
  type AzureKeyVaultPlace,
  type KeyDriver,
  keptVersion,
  mismatch,
  type RequestLimit,
  unavailable,
} from './key-service.ts';

const API_VERSION = '7.4';
/** Versions on a page of their list; the service allows no more. */
const PAGE_VERSIONS = 25;
/** Pages that are read: each version on them takes a request. */
const MAX_PAGES = 4;

const PREFIXES = { 'rsa-pkcs1': 'RS', 'rsa-pss': 'PS', ecdsa: 'ES' } as const;

/** Remedies by the innermost code of a refusal. */
const REMEDIES: { readonly [code: string]: string } = {
  KeyDisabled: 'Enable the version of the key.',
  KeyExpired: 'Use a version of the key that is valid now.',
  KeyNotYetValid: 'Use a version of the key that is valid now.',
  ForbiddenByRbac: 'Give the identity the role Key Vault Crypto User.',
  AccessDenied: 'Give the identity the permissions get, list and sign in the access policy.',
  ForbiddenByFirewall: 'Allow this machine in the firewall of the vault.',
  ForbiddenByConnection: 'Allow this network in the firewall of the vault.',
  Unauthorized: 'Check the tenant of the credentials: it must be that of the vault.',
  Conflict: 'Recover the key, or wait until its deletion is over.',
};

export function azureKeyVaultDriver(
  { address, key }: AzureKeyVaultPlace,
  connections: JsonConnections,
  publicKey: KeyObject,
  clock: Pick<Clock, 'elapsed'>,
): KeyDriver {
  const client = new JsonClient(connections);
  const tokens = new AccessTokens(client, azureTokenSource(address, process.env), clock);
  const name = `The key ${key} of ${address}`;
  const [keyName = '', ownVersion] = key.split('/');
  const base = `${address.replace(/\/$/, '')}/keys/${encodeURIComponent(keyName)}`;
  const send = (path: string, limit: RequestLimit, body?: object) =>
    tokens.json(`${base}/${path}${path.includes('?') ? '&' : '?'}api-version=${API_VERSION}`, {
      limit,
      body,
      refused: (answer) => refused(name, answer),
    });
  /** @throws {CryptoError} `key.mismatch` after the last page that is read, where there are more */
  const versionsOf = async function* (limit: RequestLimit): AsyncGenerator<string> {
    let path: string | undefined = `versions?maxresults=${PAGE_VERSIONS}`;
    for (let page = 0; path !== undefined; page += 1) {
      if (page === MAX_PAGES)
        throw new CryptoError(
          'key.mismatch',
          `${name} has more than ${MAX_PAGES * PAGE_VERSIONS} versions, and those that were compared have another public key than the certificate. Name the version of the certificate in KeyService:Key: ${keyName}/version.`,
        );
      const { value, nextLink }: JsonAnswer['body'] = await send(path, limit);
      for (const entry of (Array.isArray(value) ? value : []).slice(0, PAGE_VERSIONS))
        if (isObject(entry)) yield lastPart(entry['kid']);
      path = nextPath(nextLink);
    }
  };
  /** The version named, or the newest; else one that the vault lists. */
  const find = async (wanted: KeyObject, limit: RequestLimit): Promise<string> => {
    const found = readKey(await send(encodeURIComponent(ownVersion ?? ''), limit));
    if (found.publicKey?.equals(wanted) === true) return enabled(name, found);
    if (ownVersion !== undefined) throw mismatch(name);
    for await (const other of versionsOf(limit)) {
      if (other === found.version) continue;
      const older = readKey(await send(encodeURIComponent(other), limit));
      if (older.publicKey?.equals(wanted) === true) return enabled(name, older);
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
      const order = signRequest(name, data);
      const { value } = await withVersion(limit, (version) =>
        send(`${encodeURIComponent(version)}/sign`, limit, order),
      );
      if (typeof value === 'string' && /^[\w-]+$/.test(value)) return Buffer.from(value, 'base64url');
      throw unavailable(name, 'its answer holds no signature', 'Check that the address is that of a vault.');
    },
    close: () => client.close(),
  };
}

function signRequest(name: string, { hash, algorithm }: ToBeSigned): object {
  if (algorithm.scheme === 'ed25519')
    throw new CryptoError('key.unsupported', `${name} makes no Ed25519 signature. Use an RSA or EC key.`);
  return { alg: algorithmName(algorithm.scheme, algorithm), value: hash.toString('base64url') };
}

function algorithmName(
  scheme: keyof typeof PREFIXES,
  { digest }: Pick<SignatureAlgorithm, 'digest'>,
): string {
  return `${PREFIXES[scheme]}${digest.slice(3)}`;
}

interface FoundKey {
  readonly version: string;
  /** Undefined: of a kind that signs nothing here. */
  readonly publicKey: KeyObject | undefined;
  readonly isEnabled: boolean;
}

function readKey({ key, attributes }: JsonAnswer['body']): FoundKey {
  const members = isObject(key) ? key : {};
  return {
    version: lastPart(members['kid']),
    publicKey: readPublicKey(members),
    isEnabled: !isObject(attributes) || attributes['enabled'] !== false,
  };
}

function enabled(name: string, { version, isEnabled }: FoundKey): string {
  if (isEnabled) return version;
  throw unavailable(name, `its version ${version} is disabled`, 'Enable the version of the key.');
}

/** Only the query is taken from a link: the token is for the own address alone. */
function nextPath(link: unknown): string | undefined {
  if (!URL.canParse(String(link))) return undefined;
  const { searchParams } = new URL(String(link));
  searchParams.delete('api-version');
  return `versions?${searchParams}`;
}

function lastPart(kid: unknown): string {
  return String(kid).split('/').at(-1) ?? '';
}

function readPublicKey({ kty, n, e, crv, x, y }: JsonAnswer['body']): KeyObject | undefined {
  try {
    const jwk = { kty: String(kty).replace(/-HSM$/, ''), n, e, crv, x, y };
    return createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
  } catch {
    return undefined;
  }
}

function refused(name: string, { status, body }: JsonAnswer): CryptoError {
  const error = isObject(body['error']) ? body['error'] : {};
  const inner = isObject(error['innererror']) ? error['innererror'] : {};
  const code = String(inner['code'] ?? error['code'] ?? 'no code');
  const reason = `HTTP status ${status}, ${code}: ${String(error['message'] ?? '').slice(0, 300)}`;
  if (status === 404)
    return new CryptoError(
      'key.not-found',
      `${name} does not exist (${reason}). Check KeyService:Key and Address.`,
    );
  if (status === 400)
    return new CryptoError(
      'key.unsupported',
      `${name} makes no such signature (${reason}). Check DigestAlgorithm, RsaPadding and the type of the key; its operations must hold sign.`,
    );
  const remedy = Object.hasOwn(REMEDIES, code) ? REMEDIES[code] : undefined;
  return unavailable(name, reason, remedy ?? 'Check KeyService:Address and the permissions of the identity.');
}
