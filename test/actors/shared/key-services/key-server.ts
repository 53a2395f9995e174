/** A server on loopback that speaks the protocols of key services, with real keys and with the faults of a test. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { azure, google } from './cloud-protocols.ts';
import { csc } from './csc-protocol.ts';
import { type Body, type Digest, type KeyServer, type Reply, signed } from './served-signatures.ts';

export async function startKeyServer(t: Pick<ExecutionContext, 'teardown'>): Promise<KeyServer> {
  const server = createServer((request, response) => {
    void answer(request, response, state);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const state: KeyServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys: new Map(),
    faults: [],
    always: undefined,
    before: () => Promise.resolve(),
    signed: 0,
    inFlight: 0,
    mostInFlight: 0,
    headers: {},
    tokens: new Set(),
    tokensGiven: 0,
    disabled: new Set(),
    algorithms: new Map(),
    account: undefined,
    csc: undefined,
  };
  return state;
}

async function answer(request: IncomingMessage, response: ServerResponse, state: KeyServer): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const text = Buffer.concat(pieces).toString();
  const isForm = request.headers['content-type'] === 'application/x-www-form-urlencoded';
  const body = (isForm ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text || '{}')) as Body;
  state.headers = request.headers;
  const target = String(request.headers['x-amz-target'] ?? '');
  const reply: Reply = (status, content, headers = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(content));
  };
  const exchange = { request, body, state, reply };
  const url = request.url ?? '';
  if (url.startsWith('/csc/')) await csc(exchange);
  else if (target !== '') await kms(target, body, state, reply);
  else if (/^\/keys\/|\/oauth2\/v2\.0\/token$|^\/msi/.test(url)) await azure(exchange);
  else if (
    /^\/v1\/projects\/|^\/(?:token|sts|subject|account:generateAccessToken)$|^\/computeMetadata\//.test(url)
  )
    await google(exchange);
  else await vault(request, body, state, reply);
}

async function kms(target: string, body: Body, state: KeyServer, reply: Reply): Promise<void> {
  const key = state.keys.get(String(body['KeyId']))?.at(-1);
  if (key === undefined) return reply(400, { __type: 'NotFoundException', message: 'no such key' });
  if (target === 'TrentService.GetPublicKey') {
    if (state.always !== undefined && 'status' in state.always)
      return reply(state.always.status, state.always.body);
    const der = createPublicKey(key).export({ format: 'der', type: 'spki' });
    return reply(200, { PublicKey: der.toString('base64') });
  }
  const algorithm = String(body['SigningAlgorithm']);
  const digest = `sha${algorithm.slice(-3)}` as Digest;
  const isEc = algorithm.startsWith('ECDSA');
  if (
    isEc &&
    algorithm !== (key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? 'ECDSA_SHA_256' : 'ECDSA_SHA_384')
  )
    return reply(400, {
      __type: 'InvalidKeyUsageException',
      message: `Algorithm ${algorithm} is incompatible`,
    });
  const scheme = isEc
    ? 'ecdsa'
    : algorithm.startsWith('ED')
      ? 'ed25519'
      : algorithm.includes('PSS')
        ? 'pss'
        : 'pkcs1';
  const data = Buffer.from(String(body['Message']), 'base64');
  await signed({ key, digest, scheme, data }, state, reply, (value) => ({
    Signature: value.toString('base64'),
  }));
}

async function vault(request: IncomingMessage, body: Body, state: KeyServer, reply: Reply): Promise<void> {
  const [, , operation, name = ''] = /^\/v1\/(\w+)\/(\w+)\/([^/]+)$/.exec(request.url ?? '') ?? [];
  if (request.headers.authorization !== 'Bearer good') return reply(403, { errors: ['permission denied'] });
  const versions = state.keys.get(decodeURIComponent(name));
  if (versions === undefined)
    return operation === 'keys'
      ? reply(404, { errors: [] })
      : reply(400, { errors: ['signing key not found'] });
  if (operation === 'keys') {
    const entries = versions.map((key, index) => [index + 1, { public_key: publicText(key) }] as const);
    return reply(200, { data: { keys: Object.fromEntries(entries) } });
  }
  const version = Number(body['key_version'] ?? versions.length);
  const key = versions[version - 1];
  if (key === undefined) return reply(400, { errors: ['no such version'] });
  const digest = String(body['hash_algorithm'] ?? 'sha2-512').replace('sha2-', 'sha') as Digest;
  const isRsa = key.asymmetricKeyType === 'rsa';
  const scheme = isRsa
    ? body['signature_algorithm'] === 'pss' && body['salt_length'] === 'hash'
      ? 'pss'
      : 'pkcs1'
    : body['marshaling_algorithm'] === 'asn1'
      ? 'ecdsa'
      : 'ed25519';
  const data = Buffer.from(String(body['input']), 'base64');
  await signed({ key, digest, scheme, data }, state, reply, (value) => ({
    data: { signature: `vault:v${version}:${value.toString('base64')}`, key_version: version },
  }));
}

function publicText(key: KeyObject): string {
  const own = createPublicKey(key);
  if (key.asymmetricKeyType !== 'ed25519') return own.export({ format: 'pem', type: 'spki' }).toString();
  return Buffer.from(String(own.export({ format: 'jwk' }).x), 'base64url').toString('base64');
}
