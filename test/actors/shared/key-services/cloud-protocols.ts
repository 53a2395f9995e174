/** Azure Key Vault and Google Cloud KMS with their token endpoints, as their public references describe them, for `key-server.ts`. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import {
  type Body,
  type Digest,
  type Exchange,
  type KeyServer,
  type SigningOrder,
  signed,
} from './served-signatures.ts';

/** Of a secret that the token endpoint of Azure accepts. */
export const AZURE = { tenant: 'tenant-1', client: 'app-1', secret: 'secret-1' } as const;
const TOKEN_SECONDS = 3600;
const VAULT_SCOPE = 'https://vault.azure.net/.default';
const BITS: { readonly [bits: string]: Digest } = { '256': 'sha256', '384': 'sha384', '512': 'sha512' };
const BYTES: { readonly [digest in Digest]: number } = { sha256: 32, sha384: 48, sha512: 64 };

function giveToken(state: KeyServer): object {
  state.tokensGiven += 1;
  const access_token = `token-${state.tokensGiven}`;
  state.tokens.add(access_token);
  return { token_type: 'Bearer', expires_in: TOKEN_SECONDS, access_token };
}

function isAuthorized({ request, state }: Exchange): boolean {
  const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
  return state.tokens.has(token);
}

export async function azure(exchange: Exchange): Promise<void> {
  const { request, body, state, reply } = exchange;
  const url = new URL(request.url ?? '', state.url);
  if (url.pathname.startsWith('/msi')) {
    const isGood = request.headers['x-identity-header'] === 'machine' && url.searchParams.has('resource');
    return isGood ? reply(200, giveToken(state)) : reply(400, { error: 'invalid_request' });
  }
  if (url.pathname.endsWith('/token')) return azureToken(url, body, exchange);
  const refuse = (status: number, code: string, inner?: string) =>
    reply(status, { error: { code, message: `${code}.`, ...(inner && { innererror: { code: inner } }) } });
  if (!isAuthorized(exchange)) return refuse(401, 'Unauthorized');
  if (!url.searchParams.has('api-version')) return refuse(400, 'BadParameter');
  const { always } = state;
  if (always !== undefined && 'status' in always) return reply(always.status, always.body, always.headers);
  const [, name = '', version = '', operation] =
    /^\/keys\/([\w-]+)\/([\w-]*)(?:\/(sign))?$/.exec(url.pathname) ?? [];
  const versions = state.keys.get(name);
  if (versions === undefined) return refuse(404, 'KeyNotFound');
  const kidOf = (index: number) => `${state.url}/keys/${name}/${idOf(index)}`;
  if (version === 'versions') {
    const { searchParams } = url;
    const from = Number(searchParams.get('$skiptoken') ?? 0);
    const to = from + Number(searchParams.get('maxresults'));
    searchParams.set('$skiptoken', String(to));
    const nextLink = to < versions.length ? url.href : null;
    return reply(200, {
      value: versions.map((_, index) => ({ kid: kidOf(index) })).slice(from, to),
      nextLink,
    });
  }
  const index = version === '' ? versions.length - 1 : Number.parseInt(version, 16) - 1;
  const key = versions[index];
  if (key === undefined) return refuse(404, 'KeyNotFound');
  const isDisabled = state.disabled.has(`${name}/${index + 1}`);
  if (operation === undefined) {
    const { kty, ...members } = createPublicKey(key).export({ format: 'jwk' });
    const jwk = { ...members, kid: kidOf(index), kty: `${kty}-HSM`, key_ops: ['sign', 'verify'] };
    return reply(200, { key: jwk, attributes: { enabled: !isDisabled } });
  }
  if (isDisabled) return refuse(403, 'Forbidden', 'KeyDisabled');
  const order = azureOrder(key, body);
  if (order === undefined) return refuse(400, 'BadParameter');
  await signed(order, state, reply, (value) => ({
    kid: kidOf(index),
    value: (order.scheme === 'ecdsa' && value[0] === 0x30 ? concatenated(value, key) : value).toString(
      'base64url',
    ),
  }));
}

async function azureToken(url: URL, body: Body, { state, reply }: Exchange): Promise<void> {
  const { grant_type, client_id, client_secret, client_assertion, scope } = body;
  if (grant_type !== 'client_credentials' || scope !== VAULT_SCOPE)
    return reply(400, { error: 'invalid_request', error_description: 'AADSTS900144: a member is missing' });
  const isKnown = url.pathname.startsWith(`/${AZURE.tenant}/`) && client_id === AZURE.client;
  if (isKnown && (client_secret === AZURE.secret || client_assertion === 'pod-token'))
    return reply(200, giveToken(state));
  const error_description = 'AADSTS7000222: The provided client secret keys are expired.\r\nTrace ID: 1';
  return reply(401, { error: 'invalid_client', error_description });
}

function idOf(index: number): string {
  return (index + 1).toString(16).padStart(32, '0');
}

/** Undefined where the key makes no such signature. */
function azureOrder(key: KeyObject, { alg, value }: Body): SigningOrder | undefined {
  const [, prefix, bits = ''] = /^(RS|PS|ES)(256|384|512)$/.exec(String(alg)) ?? [];
  const digest = BITS[bits];
  const data = Buffer.from(String(value), 'base64url');
  if (digest === undefined || data.length !== BYTES[digest]) return undefined;
  const curve = key.asymmetricKeyDetails?.namedCurve;
  if (prefix === 'ES')
    return (curve === 'prime256v1' && bits === '256') || (curve === 'secp384r1' && bits === '384')
      ? { key, digest, scheme: 'ecdsa', data }
      : undefined;
  if (key.asymmetricKeyType !== 'rsa') return undefined;
  return { key, digest, scheme: prefix === 'PS' ? 'pss' : 'pkcs1', data };
}

/** r and s from DER: Azure answers so. */
function concatenated(der: Buffer, key: KeyObject): Buffer {
  const size = key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? 32 : 48;
  const parts: Buffer[] = [];
  for (let at = 2; at < der.length; at += 2 + (der[at + 1] ?? 0)) {
    const integer = der.subarray(at + 2, at + 2 + (der[at + 1] ?? 0));
    const short = integer.subarray(Math.max(0, integer.length - size));
    parts.push(Buffer.concat([Buffer.alloc(size - short.length), short]));
  }
  return Buffer.concat(parts);
}

/** That the platform of a process gives it. */
export const PLATFORM_TOKEN = 'of-the-platform';

export async function google(exchange: Exchange): Promise<void> {
  const { request, state, reply } = exchange;
  const url = new URL(request.url ?? '', state.url);
  const refuse = (code: number, status: string, message = status) =>
    reply(code, { error: { code, status, message } });
  if (url.pathname === '/token') return googleToken(exchange);
  if (/^\/(?:sts|subject|account:generateAccessToken)$/.test(url.pathname))
    return googleFederation(url.pathname, exchange);
  if (url.pathname.startsWith('/computeMetadata/'))
    return request.headers['metadata-flavor'] === 'Google' ? reply(200, giveToken(state)) : refuse(403, 'no');
  if (!isAuthorized(exchange)) return refuse(401, 'UNAUTHENTICATED');
  const { always } = state;
  if (always !== undefined && 'status' in always) return reply(always.status, always.body, always.headers);
  const [, path = '', name = '', rest = ''] =
    /^\/v1\/(projects\/[\w-]+\/locations\/[\w-]+\/keyRings\/[\w-]+\/cryptoKeys\/([\w-]+))(\/.*)$/.exec(
      url.pathname,
    ) ?? [];
  const versions = state.keys.get(name);
  if (versions === undefined) return refuse(404, 'NOT_FOUND');
  if (rest === '/cryptoKeyVersions') {
    const all = versions.map((_, index) => ({
      name: `${path}/cryptoKeyVersions/${index + 1}`,
      state: state.disabled.has(`${name}/${index + 1}`) ? 'DISABLED' : 'ENABLED',
    }));
    const isFiltered = url.searchParams.get('filter') === 'state=ENABLED';
    return reply(200, { cryptoKeyVersions: all.filter((one) => !isFiltered || one.state === 'ENABLED') });
  }
  const [, number = '', operation] =
    /^\/cryptoKeyVersions\/(\d+)(\/publicKey|:asymmetricSign)$/.exec(rest) ?? [];
  const key = versions[Number(number) - 1];
  if (key === undefined) return refuse(404, 'NOT_FOUND');
  if (state.disabled.has(`${name}/${number}`))
    return refuse(400, 'FAILED_PRECONDITION', `${rest} is not enabled, current state is: DISABLED.`);
  const algorithm = state.algorithms.get(name) ?? algorithmOf(key);
  if (operation === '/publicKey') {
    const pem = createPublicKey(key).export({ format: 'pem', type: 'spki' }).toString();
    return reply(200, { pem, algorithm, pemCrc32c: String(checksum(Buffer.from(pem))) });
  }
  await googleSign(key, algorithm, exchange);
}

async function googleSign(
  key: KeyObject,
  algorithm: string,
  { body, state, reply }: Exchange,
): Promise<void> {
  const refuse = (message: string) =>
    reply(400, { error: { code: 400, status: 'INVALID_ARGUMENT', message } });
  const [, bits = ''] = /_SHA(\d+)$/.exec(algorithm) ?? [];
  const digest = BITS[bits] ?? 'sha512';
  const isEd = algorithm === 'EC_SIGN_ED25519';
  const given = isEd ? body['data'] : (body['digest'] as Body | undefined)?.[digest];
  if (typeof given !== 'string') return refuse('The digest is not that of the algorithm.');
  const data = Buffer.from(given, 'base64');
  const sum = isEd ? body['dataCrc32c'] : body['digestCrc32c'];
  if (sum !== undefined && Number(sum) !== checksum(data)) return refuse('digest_crc32c does not match.');
  const scheme = isEd
    ? 'ed25519'
    : algorithm.startsWith('EC')
      ? 'ecdsa'
      : algorithm.includes('PSS')
        ? 'pss'
        : 'pkcs1';
  await signed({ key, digest, scheme, data }, state, reply, (value, damaged) => ({
    signature: value.toString('base64'),
    signatureCrc32c: String(checksum(damaged === 'signature' ? data : value)),
    [isEd ? 'verifiedDataCrc32c' : 'verifiedDigestCrc32c']: sum !== undefined && damaged !== 'digest',
  }));
}

function algorithmOf(key: KeyObject): string {
  const { namedCurve, modulusLength } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'ed25519') return 'EC_SIGN_ED25519';
  if (modulusLength !== undefined) return `RSA_SIGN_PKCS1_${modulusLength}_SHA256`;
  return namedCurve === 'prime256v1' ? 'EC_SIGN_P256_SHA256' : 'EC_SIGN_P384_SHA384';
}

/** Platform of a process, and the service that takes its token; see the guide of workload identity federation. */
async function googleFederation(path: string, { request, body, state, reply }: Exchange): Promise<void> {
  if (path === '/subject')
    return request.headers['x-platform'] === 'yes'
      ? reply(200, { id_token: PLATFORM_TOKEN })
      : reply(403, { error: 'forbidden' });
  if (path === '/sts') {
    const isGood =
      body['grant_type'] === 'urn:ietf:params:oauth:grant-type:token-exchange' &&
      body['requested_token_type'] === 'urn:ietf:params:oauth:token-type:access_token' &&
      body['subject_token_type'] === 'urn:ietf:params:oauth:token-type:jwt' &&
      body['audience'] === '//iam.googleapis.com/pools/test' &&
      body['subject_token'] === PLATFORM_TOKEN;
    if (!isGood) return reply(400, { error: 'invalid_grant', error_description: 'The condition is not met' });
    if (String(body['scope']).endsWith('/cloudkms')) return reply(200, giveToken(state));
    return reply(200, { token_type: 'Bearer', expires_in: TOKEN_SECONDS, access_token: 'federated' });
  }
  const isFederated = request.headers.authorization === 'Bearer federated';
  const isFor = JSON.stringify(body['scope']) === '["https://www.googleapis.com/auth/cloudkms"]';
  if (!isFederated || !isFor) return reply(403, { error: { status: 'PERMISSION_DENIED' } });
  const { access_token: accessToken } = giveToken(state) as { readonly access_token: string };
  const expireTime = new Date(Date.now() + 1000 * TOKEN_SECONDS).toISOString();
  return reply(200, { accessToken, expireTime });
}

/** RFC 7523 §3: signature, audience and times of the statement. */
async function googleToken({ body, state, reply }: Exchange): Promise<void> {
  const { grant_type, assertion, refresh_token } = body;
  if (grant_type === 'refresh_token' && refresh_token === 'of-a-person') return reply(200, giveToken(state));
  const [header = '', claims = '', value = ''] = String(assertion).split('.');
  const { aud, iat, exp, scope } = JSON.parse(Buffer.from(claims, 'base64url').toString() || '{}') as Body;
  const now = Date.now() / 1000;
  const isTimely = Math.abs(Number(iat) - now) < 300 && Number(exp) - Number(iat) <= 3600;
  const isGood =
    grant_type === 'urn:ietf:params:oauth:grant-type:jwt-bearer' &&
    state.account !== undefined &&
    verify(
      'sha256',
      Buffer.from(`${header}.${claims}`),
      createPublicKey(state.account),
      Buffer.from(value, 'base64url'),
    ) &&
    aud === `${state.url}/token` &&
    scope === 'https://www.googleapis.com/auth/cloudkms';
  if (isGood && isTimely) return reply(200, giveToken(state));
  const error_description = isGood
    ? 'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.'
    : 'Invalid JWT Signature.';
  return reply(400, { error: 'invalid_grant', error_description });
}

const TABLE = Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0x82f63b78 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

/** CRC-32C by table. */
function checksum(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (TABLE[(sum ^ byte) & 255] ?? 0) ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}
