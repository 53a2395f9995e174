/**
 * Keys of the transit engine of HashiCorp Vault and compatible servers, over plain HTTP. The version of the key that
 * belongs to the certificate signs, also after a rotation.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { CryptoError, type SignatureAlgorithm, type ToBeSigned } from '@sealwright/signatures';
import { isObject, type JsonAnswer, JsonClient, type JsonConnections } from './json-requests.ts';
import {
  type KeyDriver,
  keptVersion,
  mismatch,
  type RequestLimit,
  unavailable,
  type VaultPlace,
} from './key-service.ts';

const HASHES = { sha256: 'sha2-256', sha384: 'sha2-384', sha512: 'sha2-512' } as const;

export function vaultDriver(
  place: VaultPlace,
  connections: JsonConnections,
  publicKey: KeyObject,
): KeyDriver {
  const client = new JsonClient(connections);
  const name = `The key ${place.key} of ${place.address}`;
  const send = async (path: string, limit: RequestLimit, body?: object): Promise<JsonAnswer['body']> => {
    const { namespace } = place;
    const answer = await client.send(
      {
        method: body === undefined ? 'GET' : 'POST',
        url: `${place.address.replace(/\/$/, '')}/${path}/${encodeURIComponent(place.key)}`,
        headers: {
          authorization: `Bearer ${await tokenOf(place)}`,
          'x-vault-request': 'true',
          ...(namespace !== undefined && { 'x-vault-namespace': namespace }),
        },
        ...(body && { body }),
      },
      limit,
    );
    if (answer.status === 200 && isObject(answer.body['data'])) return answer.body['data'];
    throw refused(name, path, answer);
  };
  const find = async (wanted: KeyObject, limit: RequestLimit): Promise<number> => {
    const { keys } = await send('keys', limit);
    return versionOf(keys, wanted) ?? Promise.reject(mismatch(name));
  };
  const withVersion = keptVersion((limit) => find(publicKey, limit));
  return {
    name,
    async confirm(wanted, limit) {
      await find(wanted, limit);
    },
    async sign(data, limit) {
      const { signature } = await withVersion(limit, (key_version) =>
        send('sign', limit, { ...signRequest(data), key_version }).catch(async (error: unknown) => {
          // Vault answers 400 for a key that is gone as for one that makes no such signature: reading the key tells them apart.
          if (error instanceof CryptoError && error.code === 'key.unsupported') await find(publicKey, limit);
          throw error;
        }),
      );
      const [, value] = /^vault:v\d{1,9}:([\w+/]+=*)$/.exec(String(signature)) ?? [];
      if (value !== undefined) return Buffer.from(value, 'base64');
      throw unavailable(
        name,
        'its answer holds no signature',
        'Check that the address is that of a transit engine.',
      );
    },
    close: () => client.close(),
  };
}

/** Characters that a header may carry. */
const TOKEN = /^[\x21-\x7e]{1,8192}$/;

/** The file is read each time: an agent renews the token in it. */
async function tokenOf({ token, tokenPath }: VaultPlace): Promise<string> {
  const given = tokenPath === undefined ? token : await readFile(tokenPath, 'utf8').catch(codeOf);
  const read = typeof given === 'string' ? given.trim() : '';
  if (TOKEN.test(read)) return read;
  const place = tokenPath === undefined ? 'the environment' : tokenPath;
  const reason = typeof given === 'string' ? 'it is no token' : given.code;
  throw unavailable(`The token in ${place}`, reason, 'Write the token there, alone.');
}

function codeOf(error: NodeJS.ErrnoException): { readonly code: string } {
  return { code: String(error.code) };
}

function signRequest({ toBeSigned, hash, algorithm }: ToBeSigned): object {
  // Ed25519 hashes itself.
  if (algorithm.scheme === 'ed25519') return { input: toBeSigned.toString('base64') };
  return {
    input: hash.toString('base64'),
    prehashed: true,
    hash_algorithm: HASHES[algorithm.digest],
    ...SCHEMES[algorithm.scheme],
  };
}

const SCHEMES: { readonly [scheme in Exclude<SignatureAlgorithm['scheme'], 'ed25519'>]: object } = {
  'rsa-pkcs1': { signature_algorithm: 'pkcs1v15' },
  'rsa-pss': { signature_algorithm: 'pss', salt_length: 'hash' },
  ecdsa: { marshaling_algorithm: 'asn1' },
};

/** The newest version with this public key. */
function versionOf(keys: unknown, wanted: KeyObject): number | undefined {
  const versions = Object.entries(isObject(keys) ? keys : {}).filter(
    ([, entry]) => isObject(entry) && readPublicKey(String(entry['public_key']))?.equals(wanted) === true,
  );
  const numbers = versions.map(([version]) => Number(version));
  return numbers.length === 0 ? undefined : Math.max(...numbers);
}

/** PEM, or of Ed25519 the Base64 of its 32 bytes. */
function readPublicKey(text: string): KeyObject | undefined {
  try {
    if (text.includes('-----BEGIN')) return createPublicKey(text);
    const x = Buffer.from(text, 'base64').toString('base64url');
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  } catch {
    return undefined;
  }
}

function refused(name: string, path: string, { status, body }: JsonAnswer): CryptoError {
  const { errors } = body;
  const said = Array.isArray(errors) ? errors.filter((one) => typeof one === 'string').join('; ') : '';
  const reason = `HTTP status ${status}${said === '' ? '' : `, ${said.slice(0, 300)}`}`;
  if (status === 404)
    return new CryptoError(
      'key.not-found',
      `${name} does not exist (${reason}). Check KeyService:Key and Address.`,
    );
  if (status === 403)
    return unavailable(
      name,
      reason,
      `Renew the token, or give its policy "read" on keys/ and "update" on sign/ (${path} was refused).`,
    );
  if (status === 400)
    return new CryptoError(
      'key.unsupported',
      `${name} makes no such signature (${reason}). Check DigestAlgorithm, RsaPadding and the type of the key.`,
    );
  return unavailable(name, reason, 'Check KeyService:Address.');
}
