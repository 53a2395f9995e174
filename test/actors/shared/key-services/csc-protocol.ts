/** Remote signing by the API of the Cloud Signature Consortium, versions 1 and 2, from its specification, for `key-server.ts`. */
import type { KeyObject } from 'node:crypto';
import type { CscState } from './csc-state.ts';
import { type Body, type Digest, type Exchange, type KeyServer, signed } from './served-signatures.ts';

export const CLIENT = { id: 'client-1', secret: 'secret-1' } as const;
export const PIN = '123456';

/** Refused PINs after which a credential is locked. */
const MAX_PIN_FAILURES = 3;

const DIGESTS: { readonly [oid: string]: Digest } = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};

type Refuse = (status: number, error: string, text: string) => void;

export async function csc(exchange: Exchange): Promise<void> {
  const { request, body, state, reply } = exchange;
  const refuse: Refuse = (status, error, error_description) => reply(status, { error, error_description });
  const url = request.url ?? '';
  const [, version = '', method = ''] = /^\/csc\/(v1|v2)\/(.+)$/.exec(url) ?? [];
  if (request.method !== 'POST') return refuse(405, 'invalid_request', 'POST is required');
  if (url === '/csc/oauth2/token' || method === 'auth/login') return token(exchange, refuse);
  const { csc: own } = state;
  if (own === undefined) return refuse(404, 'invalid_request', 'there is no such service');
  const isFirst = version === 'v1';
  if (method === 'info') {
    const specs = isFirst ? '1.0.4.0' : '2.0.0.2';
    return reply(200, {
      specs,
      name: 'test',
      authType: own.authTypes,
      oauth2: `${state.url}/csc`,
      methods: own.methods,
    });
  }
  const [, bearer = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
  if (!state.tokens.has(bearer)) return refuse(401, 'invalid_token', 'Invalid access_token');
  if (method === 'credentials/list') return reply(200, { credentialIDs: [...state.keys.keys()] });
  const key = state.keys.get(String(body['credentialID']))?.at(-1);
  if (key === undefined) return refuse(400, 'invalid_request', 'Invalid parameter credentialID');
  if (method === 'credentials/info') return reply(200, infoOf(own, key, isFirst));
  if (own.keyStatus !== 'enabled') return refuse(400, 'invalid_request', 'The credential is disabled');
  if (method === 'credentials/authorize') return authorize(own, { body, isFirst }, { reply, refuse });
  if (method === 'signatures/signHash') return signHash(own, key, { exchange, isFirst, refuse });
  return refuse(501, 'not_implemented', method);
}

async function token({ request, body, state, reply }: Exchange, refuse: Refuse): Promise<void> {
  const basic = `Basic ${Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString('base64')}`;
  const isLogin = request.url?.endsWith('auth/login') === true;
  const isGood = isLogin
    ? request.headers.authorization === basic
    : body['grant_type'] === 'client_credentials' &&
      body['client_id'] === CLIENT.id &&
      body['client_secret'] === CLIENT.secret;
  if (!isGood) return refuse(401, 'invalid_client', 'Client authentication failed');
  state.tokensGiven += 1;
  const access_token = `token-${state.tokensGiven}`;
  state.tokens.add(access_token);
  return reply(200, { access_token, token_type: 'Bearer', expires_in: 3600 });
}

function infoOf(own: CscState, key: KeyObject, isFirst: boolean): object {
  const { mode, factors, scal, multisign, keyStatus, certStatus, algorithms, certificates } = own;
  const isAsked = (type: string) => ({ presence: String(factors.includes(type)), format: 'N' });
  return {
    key: { status: keyStatus, algo: algorithms, len: key.asymmetricKeyDetails?.modulusLength ?? 256 },
    cert: { status: certStatus, certificates: certificates.map((der) => der.toString('base64')) },
    SCAL: scal,
    multisign,
    ...(isFirst
      ? { authMode: mode, PIN: isAsked('Password'), OTP: isAsked('ChallengeResponse') }
      : {
          auth: {
            mode,
            ...(factors.length > 0 && {
              objects: factors.map((factor) => ({
                ...(factor === 'Totp' ? { type: 'Password', generator: 'totp' } : { type: factor }),
                id: factor === 'Password' ? 'PIN' : 'OTP',
                format: 'N',
              })),
            }),
          },
        }),
  };
}

interface Answering {
  readonly reply: Exchange['reply'];
  readonly refuse: Refuse;
}

async function authorize(
  own: CscState,
  { body, isFirst }: { readonly body: Body; readonly isFirst: boolean },
  { reply, refuse }: Answering,
): Promise<void> {
  own.authorizations += 1;
  const SAD = `sad-${own.authorizations}`;
  await own.beforeAuthorization();
  const refusal = own.refusals.shift();
  if (refusal !== undefined) return reply(refusal.status, refusal.body);
  const hashes = (isFirst ? body['hash'] : body['hashes']) as readonly string[] | undefined;
  const count = Number(body['numSignatures']);
  if (!(count >= 1 && count <= own.multisign))
    return refuse(400, 'invalid_request', 'Numbers of signatures is too high');
  if (own.scal === '2' && hashes?.length !== count)
    return refuse(400, 'invalid_request', 'Missing parameter hashes');
  if (own.mode === 'explicit') {
    if (own.pinFailures >= MAX_PIN_FAILURES) return refuse(400, 'invalid_request', 'Credential locked');
    const given = isFirst
      ? body['PIN']
      : (body['authData'] as readonly { id: string; value: string }[] | undefined)?.find(
          ({ id }) => id === 'PIN',
        )?.value;
    if (given !== PIN) {
      own.pinFailures += 1;
      return isFirst
        ? refuse(own.pinStatus, 'invalid_pin', 'The PIN is invalid')
        : refuse(own.pinStatus, 'invalid_authentication_data', 'The authentication data is invalid');
    }
    own.pinFailures = 0;
  }
  own.activations.set(SAD, hashes ?? []);
  return reply(200, { SAD, expiresIn: 300 });
}

async function signHash(
  own: CscState,
  key: KeyObject,
  {
    exchange,
    isFirst,
    refuse,
  }: { readonly exchange: Exchange; readonly isFirst: boolean; readonly refuse: Refuse },
): Promise<void> {
  const { body, state, reply } = exchange;
  const hashes = (isFirst ? body['hash'] : body['hashes']) as readonly string[];
  const digest = DIGESTS[String(isFirst ? body['hashAlgo'] : body['hashAlgorithmOID'])];
  const algorithm = String(body['signAlgo']);
  const allowed = own.activations.get(String(body['SAD']));
  own.activations.delete(String(body['SAD']));
  if (allowed === undefined) return refuse(400, 'invalid_request', 'Invalid parameter SAD');
  if (own.scal === '2' && hashes.some((hash) => !allowed.includes(hash)))
    return refuse(400, 'invalid_request', 'Hash is not authorized by the SAD');
  if (digest === undefined || !own.algorithms.includes(algorithm))
    return refuse(400, 'invalid_request', 'Invalid parameter signAlgo');
  const isPss = algorithm === '1.2.840.113549.1.1.10';
  if (isPss && body['signAlgoParams'] === undefined)
    return refuse(400, 'invalid_request', 'Missing parameter signAlgoParams');
  const scheme = key.asymmetricKeyType === 'ec' ? 'ecdsa' : isPss ? 'pss' : 'pkcs1';
  const values: string[] = [];
  for (const hash of hashes.slice(0, -1))
    await signed(
      { key, digest, scheme, data: Buffer.from(hash, 'base64') },
      QUIET(state),
      () => {},
      (value) => {
        values.push(value.toString('base64'));
        return {};
      },
    );
  await signed(
    { key, digest, scheme, data: Buffer.from(hashes.at(-1) ?? '', 'base64') },
    state,
    reply,
    (value) => {
      own.batches.push(hashes.length);
      const change = own.answers.shift() ?? ((all) => all);
      return { signatures: change([...values, value.toString('base64')]) };
    },
  );
}

/** The state for all but the last hash of a request, which is delayed and faulty once. */
const QUIET = (state: KeyServer): KeyServer => ({
  ...state,
  faults: [],
  always: undefined,
  before: () => Promise.resolve(),
});
