/** A server on loopback that speaks the protocols of key services, with real keys and with the faults of a test. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { derOf, ecdsa, ed25519, pkcs1, pss } from './prehashed.ts';

type Digest = 'sha256' | 'sha384' | 'sha512';

/** A refusal in place of an answer, or what happens to a signature. */
export type KeyFault =
  | { readonly status: number; readonly body: object }
  | { readonly value: (value: Buffer) => Buffer }
  | { readonly hash: (hash: Buffer) => Buffer }
  | { readonly key: KeyObject }
  /** ECDSA as r and s, not in DER. */
  | { readonly concatenated: true };

export interface KeyServer {
  readonly url: string;
  /** Versions of keys; the newest comes last. */
  readonly keys: Map<string, readonly KeyObject[]>;
  /** Faults of the next requests for signatures, one each; undefined: none. */
  readonly faults: (KeyFault | undefined)[];
  /** Of every request that no fault above is for. */
  always: KeyFault | undefined;
  /** Before each signature, milliseconds or an event. */
  before: () => Promise<unknown>;
  /** Signatures that were made. */
  signed: number;
  /** Requests for signatures that are under way, and their highest number. */
  inFlight: number;
  mostInFlight: number;
  /** Headers of the last request. */
  headers: IncomingMessage['headers'];
}

interface SigningOrder {
  readonly key: KeyObject;
  readonly digest: Digest;
  readonly scheme: 'pkcs1' | 'pss' | 'ecdsa' | 'ed25519';
  readonly data: Buffer;
}

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
  };
  return state;
}

async function answer(request: IncomingMessage, response: ServerResponse, state: KeyServer): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const body = JSON.parse(Buffer.concat(pieces).toString() || '{}') as Record<string, unknown>;
  state.headers = request.headers;
  const target = String(request.headers['x-amz-target'] ?? '');
  const reply = (status: number, content: object) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(content));
  };
  if (target !== '') await kms(target, body, state, reply);
  else await vault(request, body, state, reply);
}

type Reply = (status: number, content: object) => void;

async function kms(
  target: string,
  body: Record<string, unknown>,
  state: KeyServer,
  reply: Reply,
): Promise<void> {
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

async function vault(
  request: IncomingMessage,
  body: Record<string, unknown>,
  state: KeyServer,
  reply: Reply,
): Promise<void> {
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

async function signed(
  order: SigningOrder,
  state: KeyServer,
  reply: Reply,
  form: (value: Buffer) => object,
): Promise<void> {
  state.inFlight += 1;
  state.mostInFlight = Math.max(state.mostInFlight, state.inFlight);
  const fault = state.faults.length > 0 ? state.faults.shift() : state.always;
  await state.before();
  state.inFlight -= 1;
  if (fault !== undefined && 'status' in fault) return reply(fault.status, fault.body);
  const key = fault !== undefined && 'key' in fault ? fault.key : order.key;
  const data = fault !== undefined && 'hash' in fault ? fault.hash(order.data) : order.data;
  const isConcatenated = fault !== undefined && 'concatenated' in fault;
  const value = isConcatenated ? ecdsa(key, data) : SIGN[order.scheme]({ ...order, key, data });
  state.signed += 1;
  reply(200, form(fault !== undefined && 'value' in fault ? fault.value(value) : value));
}

const SIGN: { readonly [scheme in SigningOrder['scheme']]: (order: SigningOrder) => Buffer } = {
  pkcs1: ({ key, digest, data }) => pkcs1(key, digest, data),
  pss: ({ key, digest, data }) => pss(key, digest, data),
  ecdsa: ({ key, data }) => derOf(ecdsa(key, data)),
  ed25519: ({ key, data }) => ed25519(key, data),
};
