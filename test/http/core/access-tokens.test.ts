import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { exportJWK, exportSPKI, generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose';
import { systemClock } from '#runtime/model/clock.js';
import { SimulatedClock } from '#runtime/testing/simulated-clock.js';
import { ACCESS_SCOPES } from '../../../contracts/batch/access.ts';
import { createTokenCheck, rightsOf } from '../../../http/core/access/access-tokens.ts';
import { startProgram } from '../../actors/portal/service.ts';
import { ask, codeOf } from '../ask.ts';
import { recorder, startServer } from '../harness.ts';

const AUDIENCE = 'urn:sealwright';
const RIGHTS = [
  { scope: 'jobs.read', right: 'Read' },
  { scope: 'jobs.write', right: 'Submit' },
] as const;

/** A small issuer whose key the tests hold, to forge what no real issuer sends. */
async function startIssuer(t: ExecutionContext) {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const other = await generateKeyPair('RS256', { extractable: true });
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }];
  const asked: string[] = [];
  let isDown = false;
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.statusCode = isDown ? 503 : 200;
    response.setHeader('content-type', 'application/json');
    const isMetadata = request.url === '/.well-known/openid-configuration';
    response.end(JSON.stringify(isMetadata ? { issuer, jwks_uri: `${issuer}/keys` } : { keys }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const token = (
    claims: object = {},
    header: Partial<JWTHeaderParameters> = {},
    key: Parameters<SignJWT['sign']>[0] = privateKey,
  ) => {
    const now = Math.floor(Date.now() / 1000);
    const all = { iss: issuer, aud: AUDIENCE, sub: 'robot', client_id: 'robot', iat: now, exp: now + 300 };
    return new SignJWT({ ...all, scope: 'jobs.read other', jti: 'x', ...claims })
      .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: 'k1', ...header })
      .sign(key);
  };
  return {
    issuer,
    token,
    keys,
    asked,
    publicKey,
    other,
    setDown(value: boolean) {
      isDown = value;
    },
    keyReads: () => asked.filter((path) => path === '/keys').length,
  };
}

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

test('a token of the issuer gives the rights of its scopes, and is named in events', async (t) => {
  const issuer = await startIssuer(t);
  const tokens = [{ issuer: issuer.issuer, audience: AUDIENCE, rights: RIGHTS }];
  const server = await startServer(t, {}, systemClock, { tokens });
  const get = async (path: string, token: string, headers: object = {}) =>
    ask(server.port, 'GET', { path, headers: { Authorization: `Bearer ${token}`, ...headers } });
  const token = await issuer.token();
  const { expiresAt, ...who } = JSON.parse((await get('/api/whoami', token)).text);
  const name = `client:robot@${new URL(issuer.issuer).host}`;
  t.deepEqual(who, { operator: name, scheme: 'Bearer', scopes: ['read'] });
  t.true(Date.parse(expiresAt) > Date.now());
  for (const exp of [1e15, 4_102_444_800.0005]) {
    const answer = await get('/api/whoami', await issuer.token({ exp }));
    t.is(answer.status, 200, `a token that ends at ${exp}`);
  }
  t.is((await get('/api/jobs', token)).status, 200);
  const pause = await ask(server.port, 'POST', {
    path: '/api/pipeline/pause',
    headers: { Authorization: `Bearer ${token}` },
  });
  t.deepEqual([pause.status, codeOf(pause)], [403, 'auth.forbidden']);
  const lacking = 'Bearer error="insufficient_scope"';
  t.is(pause.headers['www-authenticate'], lacking, 'no scope of the issuer gives it');
  const jobs = await get('/api/jobs', await issuer.token({ scope: 'other' }));
  t.is(codeOf(jobs), 'auth.forbidden');
  t.is(jobs.headers['www-authenticate'], `${lacking}, scope="jobs.read"`);
  const none = await ask(server.port, 'GET', { path: '/api/jobs', headers: {} });
  t.regex(
    none.headers['www-authenticate'] ?? '',
    /^ApiKey [^,]*, Bearer$/,
    'without a token nothing is wrong',
  );
  const asked = await get('/api/whoami', token, { 'X-API-Key': 'wrong' });
  t.is(codeOf(asked), 'auth.invalid-credentials', 'the header of keys decides alone');
  const person = JSON.parse((await get('/api/whoami', await issuer.token({ sub: 'ana' }))).text);
  t.is(person.operator, `client:robot/ana@${new URL(issuer.issuer).host}`);
});

test('forged, foreign and old tokens are refused', async (t) => {
  const issuer = await startIssuer(t);
  const stranger = await startIssuer(t);
  const tokens = [{ issuer: issuer.issuer, audience: AUDIENCE, rights: RIGHTS }];
  const server = await startServer(t, {}, systemClock, { tokens });
  const status = async (token: string) => {
    const answer = await ask(server.port, 'GET', {
      path: '/api/whoami',
      headers: { Authorization: `Bearer ${token}` },
    });
    if (answer.status === 401)
      t.regex(answer.headers['www-authenticate'] ?? '', /^ApiKey .*, Bearer error="invalid_token"$/);
    return answer.status;
  };
  const good = await issuer.token();
  t.is(await status(good), 200);
  const [head = '', body = '', signature = ''] = good.split('.');
  const spki = new TextEncoder().encode(await exportSPKI(issuer.publicKey));
  const past = Math.floor(Date.now() / 1000) - 3600;
  const attacks: Readonly<Record<string, string>> = {
    'another audience': await issuer.token({ aud: 'urn:other' }),
    'another issuer': await stranger.token(),
    'the key of another issuer': await issuer.token({}, {}, stranger.other.privateKey),
    'the issuer of another key': await stranger.token({ iss: issuer.issuer }),
    'no algorithm': `${encoded({ alg: 'none', typ: 'at+jwt' })}.${body}.`,
    'the public key as a secret': await issuer.token({}, { alg: 'HS256' }, spki),
    'an expired token': await issuer.token({ iat: past - 300, exp: past }),
    'a token of tomorrow': await issuer.token({ nbf: past + 86_400 }),
    'no expiry': await issuer.token({ exp: undefined }),
    'no client': await issuer.token({ client_id: undefined }),
    'an ID token': await issuer.token({}, { typ: 'JWT' }),
    'no type': await issuer.token({}, { typ: undefined as never }),
    'a changed body': `${head}.${encoded({ ...JSON.parse(Buffer.from(body, 'base64url').toString()), scope: 'jobs.write' })}.${signature}`,
    'a name that breaks lines': await issuer.token({ client_id: 'a\r\nb' }),
    'no token': 'x',
  };
  for (const [name, token] of Object.entries(attacks)) t.is(await status(token), 401, name);
  t.is(await status(good), 200);
});

test('unknown keys start few reads, a new key is found, and an outage refuses unknown keys alone', async (t) => {
  const issuer = await startIssuer(t);
  const clock = new SimulatedClock();
  clock.advance(Date.now() - clock.now());
  const rule = { issuer: issuer.issuer, audience: AUDIENCE, rights: RIGHTS };
  const lines: Parameters<typeof recorder>[0] = [];
  const verify = createTokenCheck([rule], { clock, log: recorder(lines) });
  const good = await issuer.token({ exp: Math.floor(Date.now() / 1000) + 86_400 });
  const found = await verify(good);
  t.deepEqual(found && rightsOf(found, ACCESS_SCOPES), ['read']);
  t.is(issuer.keyReads(), 1);
  clock.advance(15_000);
  const flood = await Promise.all([...Array(50).keys()].map((at) => issuer.token({}, { kid: `x${at}` })));
  for (let round = 0; round < 2; round += 1)
    t.true((await Promise.all(flood.map(verify))).every((one) => one === undefined));
  t.is(issuer.keyReads(), 2);
  clock.advance(15_000);
  issuer.keys.push({ ...(await exportJWK(issuer.other.publicKey)), kid: 'k2', alg: 'RS256', use: 'sig' });
  const rotated = await issuer.token({}, { kid: 'k2' }, issuer.other.privateKey);
  t.truthy(await verify(rotated));
  t.is(issuer.keyReads(), 3);
  issuer.setDown(true);
  clock.advance(3_600_000);
  t.truthy(await verify(good));
  t.is(await verify(await issuer.token({}, { kid: 'k3' })), undefined);
  t.true(lines.some(({ level }) => level === 'warn'));
});

/** The package has no types. */
const PROVIDER: string = 'oidc-provider';

/** A real provider that gives `robot` JWT access tokens for its client credentials. */
async function startProvider(t: ExecutionContext) {
  const { default: Provider } = (await import(PROVIDER)) as {
    readonly default: new (issuer: string, options: object) => { callback(): RequestListener };
  };
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  let answer: RequestListener = (_, response) => response.end();
  const server = createServer((request, response) => answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const resource = {
    scope: 'jobs.read documents.read',
    audience: AUDIENCE,
    accessTokenFormat: 'jwt',
    accessTokenTTL: 300,
    jwt: { sign: { alg: 'RS256' } },
  };
  answer = new Provider(issuer, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'k1', use: 'sig', alg: 'RS256' }] },
    cookies: { keys: ['x'] },
    clients: [
      {
        client_id: 'robot',
        client_secret: 'r',
        redirect_uris: [],
        response_types: [],
        grant_types: ['client_credentials'],
      },
    ],
    features: {
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => resource,
        defaultResource: () => AUDIENCE,
      },
    },
  }).callback();
  return {
    issuer,
    async token(scope: string): Promise<string> {
      const headers = { authorization: `Basic ${Buffer.from('robot:r').toString('base64')}` };
      const body = new URLSearchParams({ grant_type: 'client_credentials', scope });
      const given = await fetch(`${issuer}/token`, { method: 'POST', headers, body });
      return ((await given.json()) as { access_token: string }).access_token;
    },
  };
}

test('client credentials of a provider reach both APIs with the rights of their scopes', async (t) => {
  const provider = await startProvider(t);
  const entry = (at: number, scope: string) => ({
    [`Identity:Tokens:${at}:Issuer`]: provider.issuer,
    [`Identity:Tokens:${at}:Audience`]: AUDIENCE,
    [`Identity:Tokens:${at}:Rights:0:Scope`]: scope,
    [`Identity:Tokens:${at}:Rights:0:Right`]: 'Read',
  });
  const settings = {
    ...entry(0, 'jobs.read'),
    ...entry(1, 'documents.read'),
    'Identity:Tokens:0:Rights:1:Scope': 'jobs.read',
    'Identity:Tokens:0:Rights:1:Right': 'Administer',
    'Identity:Tokens:1:Organization': 'Acme',
  };
  const { url, service, acme, organization } = await startProgram(t, { settings });
  const own = await acme.post<{ id: string }>('/api/folders', { name: 'Ours' });
  const other = await organization('Other');
  const foreign = await other.post<{ id: string }>('/api/folders', { name: 'Theirs' });
  const jobs = await provider.token('jobs.read');
  const documents = await provider.token('documents.read');
  const call = (base: string, path: string, token: string) =>
    fetch(`${base}${path}`, { headers: { authorization: `Bearer ${token}` } });
  const status = async (base: string, path: string, token: string) => (await call(base, path, token)).status;
  t.is(await status(service.url, '/api/jobs', jobs), 200);
  t.is(await status(service.url, '/api/jobs', documents), 403);
  // A token gives no key that outlives it.
  const newKey = async (expiresAt?: number) =>
    (
      await fetch(`${service.url}/api/keys`, {
        method: 'POST',
        headers: { authorization: `Bearer ${jobs}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          name: `k${expiresAt ?? ''}`,
          scopes: ['read'],
          ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
        }),
      })
    ).status;
  t.is(await newKey(), 403);
  t.is(await newKey(Date.now() + 86_400_000), 403);
  t.true((await newKey(Date.now() + 20_000)) < 300);
  t.is(await status(url, `/api/folders/${own.id}`, documents), 200);
  t.is(await status(url, `/api/folders/${foreign.id}`, documents), 422, 'of another organization');
  const made = await fetch(`${url}/api/folders`, {
    method: 'POST',
    headers: { authorization: `Bearer ${documents}`, 'content-type': 'application/json' },
    body: '{"name":"New"}',
  });
  t.is(made.status, 403);
  const refused = async (token: string) => {
    const answer = await call(url, `/api/folders/${own.id}`, token);
    return [answer.status, answer.headers.get('www-authenticate')];
  };
  t.deepEqual(await refused(jobs), [403, 'Bearer error="insufficient_scope", scope="documents.read"']);
  const invalid = 'ApiKey header="X-Api-Key", Bearer error="invalid_token"';
  t.deepEqual(await refused(`${documents.slice(0, -9)}AAAAAAAAA`), [401, invalid]);
});
