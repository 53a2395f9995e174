/**
 * A remote signing service for persons on loopback, from the specification of the CSC API 2.0.0.2: OAuth 2 with PKCE, the
 * scopes `service` and `credential`, SCAL2, with real keys and with the faults of a test.
 */
import { hash, type KeyObject, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { derOf, ecdsa, pkcs1, pss } from './prehashed.ts';
import type { Digest } from './served-signatures.ts';

export const PERSON_CLIENT = { id: 'portal', secret: 'portal-secret' } as const;

const DIGESTS: { readonly [oid: string]: Digest } = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};

export interface HeldCredential {
  readonly key: KeyObject;
  readonly certificates: readonly Buffer[];
  readonly algorithms: readonly string[];
  readonly keyStatus?: string;
  readonly certStatus?: string;
  readonly mode?: string;
  /** Of the mode `explicit`: what authorizes it, as version 2 says it. */
  readonly objects?: readonly { readonly id: string; readonly [member: string]: unknown }[];
}

/** Values that authorize credentials of the mode `explicit`, by their ids. */
export const TYPED = { PIN: '123456', OTP: '778899' } as const;

type Answer = { readonly status: number; readonly body: object };

export interface PersonProvider {
  readonly url: string;
  /** Of the API. */
  readonly address: string;
  readonly credentials: Map<string, HeldCredential>;
  /** Parameters of the requests for an authorization. */
  readonly authorized: Record<string, string>[];
  /** Answers of the next request to a path, in place of its own. */
  readonly faults: Map<string, Answer>;
  /** Members of `info` in place of its own. */
  info: Readonly<Record<string, unknown>>;
  /** Error of the next authorization; undefined: the person agrees. */
  error: string | undefined;
  /** Added to each answer of the authorization. */
  extra: Readonly<Record<string, string>>;
  /** Hash that the next authorization is for, in place of the asked one. */
  otherHash: string | undefined;
  /** The value in place of the own one. */
  value: ((own: Buffer) => Buffer) | undefined;
  /** All activations have ended. */
  hasExpired: boolean;
  /** Codes that were sent, by the ids of their objects. */
  readonly sent: string[];
  /** Bodies of the requests for an authorization by typed values. */
  readonly typed: Record<string, unknown>[];
  /** Question with which codes are asked for; undefined: they are sent. */
  question: string | undefined;
  /** Ids on one page of the list. */
  pageSize: number;
  /** Before each signature. */
  before: () => Promise<unknown>;
  /** The page of the provider waits for a press. */
  hasPage: boolean;
  /** Of authorizations of a credential: a SAD is a member of the request, a bearer token is in its header, alone. */
  tokenType: 'SAD' | 'Bearer';
  /** The client is named in the header alone. */
  takesBasic: boolean;
  /** Characters of tokens. */
  tokenLength: number;
  signed: number;
  readonly requests: string[];
  close(): void;
}

interface Grant {
  readonly parameters: Record<string, string>;
}

interface State {
  readonly own: PersonProvider;
  readonly codes: Map<string, Grant>;
  readonly tokens: Set<string>;
  readonly activations: Map<string, { readonly credential: string; readonly hashes: readonly string[] }>;
}

export async function startPersonProvider(t: Pick<ExecutionContext, 'teardown'>): Promise<PersonProvider> {
  const server = createServer((request, response) => void answer(request, response, state));
  // Shared by the tests of a file, it ends with their process.
  server.unref();
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  t.teardown(close);
  const own: PersonProvider = {
    url,
    address: `${url}/csc/v2`,
    credentials: new Map(),
    authorized: [],
    faults: new Map(),
    info: {},
    error: undefined,
    extra: {},
    otherHash: undefined,
    value: undefined,
    hasExpired: false,
    sent: [],
    typed: [],
    question: undefined,
    pageSize: 100,
    before: () => Promise.resolve(),
    hasPage: false,
    tokenType: 'SAD',
    takesBasic: false,
    tokenLength: 36,
    signed: 0,
    requests: [],
    close,
  };
  const state: State = { own, codes: new Map(), tokens: new Set(), activations: new Map() };
  return own;
}

async function answer(request: IncomingMessage, response: ServerResponse, state: State): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const text = Buffer.concat(pieces).toString();
  const { own } = state;
  const { pathname: path, searchParams } = new URL(request.url ?? '', own.url);
  own.requests.push(path);
  const reply = (status: number, body: object) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  const fault = own.faults.get(path);
  if (fault !== undefined) {
    own.faults.delete(path);
    return reply(fault.status, fault.body);
  }
  if (path === '/csc/oauth2/authorize')
    return authorize(Object.fromEntries(searchParams), response, state, request.url ?? '');
  const { authorization } = request.headers;
  if (path === '/csc/oauth2/token') return reply(...token(new URLSearchParams(text), state, authorization));
  if (request.method !== 'POST') return reply(405, { error: 'invalid_request' });
  return reply(...(await api(path, JSON.parse(text || '{}'), authorization ?? '', state)));
}

function authorize(
  parameters: Record<string, string>,
  response: ServerResponse,
  { own, codes }: State,
  path: string,
): void {
  if (own.hasPage && parameters['pressed'] === undefined) {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(
      `<!doctype html><html lang="en"><title>Provider</title><a id="agree" href="${path.replaceAll('&', '&amp;')}&amp;pressed=1">Agree</a>`,
    );
    return;
  }
  own.authorized.push(parameters);
  const { redirect_uri: back = '', state = '', client_id: client } = parameters;
  const isWhole =
    parameters['response_type'] === 'code' &&
    client === PERSON_CLIENT.id &&
    parameters['code_challenge_method'] === 'S256' &&
    /^[\w-]{43}$/.test(parameters['code_challenge'] ?? '');
  if (!isWhole) {
    response.writeHead(400).end('invalid_request');
    return;
  }
  const to = new URL(back);
  if (own.error === undefined) {
    const code = randomUUID();
    codes.set(code, { parameters });
    to.searchParams.set('code', code);
  } else to.searchParams.set('error', own.error);
  own.error = undefined;
  to.searchParams.set('state', state);
  for (const [name, value] of Object.entries(own.extra)) to.searchParams.set(name, value);
  response.writeHead(302, { location: to.href }).end();
}

function token(
  form: URLSearchParams,
  { own, codes, tokens, activations }: State,
  header: string | undefined,
): [number, object] {
  const named = `${form.get('client_id')}:${form.get('client_secret')}`;
  const [, encoded = ''] = /^Basic (.+)$/.exec(header ?? '') ?? [];
  const client = own.takesBasic ? Buffer.from(encoded, 'base64').toString() : named;
  const isClient = client === `${PERSON_CLIENT.id}:${PERSON_CLIENT.secret}`;
  if (!isClient) return [401, { error: 'invalid_client' }];
  const code = form.get('code') ?? '';
  const grant = codes.get(code);
  codes.delete(code);
  const challenge = hash('sha256', form.get('code_verifier') ?? '', 'buffer').toString('base64url');
  const isGood =
    form.get('grant_type') === 'authorization_code' &&
    grant?.parameters['redirect_uri'] === form.get('redirect_uri') &&
    grant?.parameters['code_challenge'] === challenge;
  if (grant === undefined || !isGood) return [400, { error: 'invalid_grant' }];
  const access_token = randomUUID().padEnd(own.tokenLength, 'x');
  const { scope, credentialID = '', numSignatures, hashAlgorithmOID = '' } = grant.parameters;
  // Version 1 names the hash alone.
  const { hash: first, hashes = first ?? '' } = grant.parameters;
  if (scope === 'service') {
    tokens.add(access_token);
    return [200, { access_token, token_type: 'Bearer', expires_in: 3600 }];
  }
  const given = hashes.split(',').map((one) => Buffer.from(one, 'base64url').toString('base64'));
  const isNamed = first !== undefined || DIGESTS[hashAlgorithmOID] !== undefined;
  const isBound = given.length === Number(numSignatures) && isNamed;
  if (scope !== 'credential' || !isBound) return [400, { error: 'invalid_scope' }];
  const authorized = own.otherHash === undefined ? given : [own.otherHash];
  own.otherHash = undefined;
  activations.set(access_token, { credential: credentialID, hashes: authorized });
  return [200, { access_token, token_type: own.tokenType, expires_in: 300 }];
}

async function api(
  path: string,
  body: Record<string, unknown>,
  authorization: string,
  state: State,
): Promise<[number, object]> {
  const { own, tokens, activations } = state;
  const [, version, method = ''] = /^\/csc\/(v1|v2)\/(.+)$/.exec(path) ?? [];
  const isFirst = version === 'v1';
  if (method === 'info')
    return [
      200,
      {
        specs: isFirst ? '1.0.4.0' : '2.0.0.2',
        authType: ['oauth2code'],
        oauth2: `${own.url}/csc`,
        methods: ['credentials/list', 'credentials/info', 'signatures/signHash'],
        ...own.info,
      },
    ];
  const bearer = authorization.replace(/^Bearer /, '');
  const isActivated = method === 'signatures/signHash' && own.tokenType === 'Bearer';
  if (isActivated ? !activations.has(bearer) || 'SAD' in body : !tokens.has(bearer))
    return [401, { error: 'invalid_token' }];
  if (method === 'credentials/list') return [200, listOf(own, Number(body['pageToken'] ?? 0))];
  const id = String(body['credentialID']);
  const held = own.credentials.get(id);
  if (held === undefined) return [400, { error: 'invalid_request', error_description: 'credentialID' }];
  if (method === 'credentials/info') return [200, infoOf(held, isFirst)];
  if (method === 'credentials/authorize') return authorizeTyped(id, held, body, { state, isFirst });
  if (method === (isFirst ? 'credentials/sendOTP' : 'credentials/getChallenge')) {
    own.sent.push(String(body['authObjectID'] ?? 'OTP'));
    return own.question === undefined ? [204, {}] : [200, { challenge: own.question }];
  }
  if (method !== 'signatures/signHash') return [501, { error: 'not_implemented' }];
  const SAD = isActivated ? bearer : String(body['SAD']);
  const activation = own.hasExpired ? undefined : activations.get(SAD);
  activations.delete(SAD);
  const hashes = body[isFirst ? 'hash' : 'hashes'] as readonly string[];
  const isBound =
    activation?.credential === id && hashes.every((one) => activation.hashes.includes(one)) === true;
  if (!isBound) return [400, { error: 'invalid_request', error_description: 'Invalid parameter SAD' }];
  await own.before();
  const digest = DIGESTS[String(body[isFirst ? 'hashAlgo' : 'hashAlgorithmOID'])] ?? 'sha256';
  const values = hashes.map((one) => {
    const data = Buffer.from(one, 'base64');
    const value =
      held.key.asymmetricKeyType === 'ec'
        ? derOf(ecdsa(held.key, data))
        : body['signAlgo'] === '1.2.840.113549.1.1.10'
          ? pss(held.key, digest, data)
          : pkcs1(held.key, digest, data);
    return (own.value?.(value) ?? value).toString('base64');
  });
  own.value = undefined;
  own.signed += values.length;
  return [200, { signatures: values }];
}

function listOf({ credentials, pageSize }: PersonProvider, from: number): object {
  const ids = [...credentials.keys()];
  const next = from + pageSize;
  return {
    credentialIDs: ids.slice(from, next),
    ...(next < ids.length && { nextPageToken: String(next) }),
  };
}

function authorizeTyped(
  credential: string,
  { objects = [] }: HeldCredential,
  body: Record<string, unknown>,
  { state: { own, activations }, isFirst }: { readonly state: State; readonly isFirst: boolean },
): [number, object] {
  own.typed.push(body);
  const given = new Map<unknown, unknown>(
    isFirst
      ? Object.entries(body)
      : (body['authData'] as { id: string; value: string }[]).map(({ id, value }) => [id, value]),
  );
  const isRight = objects.every(({ id }) => given.get(id) === TYPED[id as keyof typeof TYPED]);
  if (!isRight)
    return isFirst
      ? [400, { error: 'invalid_pin', error_description: 'The PIN is invalid' }]
      : [400, { error: 'invalid_authentication_data', error_description: 'The data is invalid' }];
  const hashes = body[isFirst ? 'hash' : 'hashes'] as readonly string[];
  if (body['numSignatures'] !== hashes.length) return [400, { error: 'invalid_request' }];
  const SAD = randomUUID();
  activations.set(SAD, { credential, hashes });
  return [200, { SAD, expiresIn: 300 }];
}

function infoOf({ key, certificates, algorithms, ...more }: HeldCredential, isFirst: boolean): object {
  const { keyStatus = 'enabled', certStatus = 'valid', mode = 'oauth2code', objects } = more;
  const first = Object.fromEntries(objects?.map(({ id, ...of }) => [id, { presence: 'true', ...of }]) ?? []);
  return {
    key: { status: keyStatus, algo: algorithms, len: key.asymmetricKeyDetails?.modulusLength ?? 256 },
    cert: { status: certStatus, certificates: certificates.map((der) => der.toString('base64')) },
    ...(isFirst ? { authMode: mode, ...first } : { auth: { mode, ...(objects && { objects }) } }),
    SCAL: '2',
    multisign: 1,
  };
}
