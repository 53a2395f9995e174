/**
 * Attacks on sign-in at identity providers. A case differs from a good answer in what one check refuses and no other, so
 * that the test fails without that check.
 *
 * Source: docs/decisions/0276-single-sign-on.md; docs/decisions/0286-saml.md; RFC 9700 §4.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { type JWTPayload, SignJWT } from 'jose';
import { systemClock } from '#runtime/model/clock.js';
import { systemIds } from '#runtime/model/ids.js';
import { OidcProvider } from '../../../http/core/sign-on/oidc-provider.ts';
import { type FlowSecrets, SignInFailure } from '../../../http/core/sign-on/provider.ts';
import { checkResponse, readMetadata } from '../../../http/core/sign-on/saml-xml.ts';
import { SignOn } from '../../../http/core/sign-on/sign-on.ts';
import { memoryUsedAnswers } from '../core/used-answers.ts';
import { SiteBrowser, startProvider, type TestProvider, unsigned } from './oidc-server.ts';
import { assertionOf, partsFor, responseOf, samlKey, samlMetadata } from './saml-server.ts';

interface Parts {
  readonly provider: TestProvider;
  readonly company: OidcProvider;
  /** With the providers `company` and `partner`, which have one issuer. */
  readonly signOn: SignOn;
}

const BASE = 'https://sign.example';
const CALLBACK = `${BASE}/sign-in/company/callback`;
const CALLER = { address: '192.0.2.1', https: true, host: 'sign.example' };
const LOG = { debug() {}, info() {}, warn() {}, error() {} };
const PARTS = { clock: systemClock, ids: systemIds, log: LOG, used: await memoryUsedAnswers(systemClock) };
const SECRET = 'a secret of the client, of 32 characters';

const test = anyTest as TestFn<Parts>;
const tasks: (() => unknown)[] = [];

function oidc(name: string, issuer: string) {
  const client = { clientId: name, clientSecret: SECRET, groupsClaim: 'groups' };
  return { kind: 'Oidc' as const, name, issuer, scopes: ['openid', 'email', 'groups'], ...client };
}

test.before(async (t) => {
  const provider = await startProvider({ teardown: (task: () => unknown) => void tasks.push(task) });
  const names = ['company', 'partner'];
  provider.open(
    ...names.map((name) => ({
      client_id: name,
      client_secret: SECRET,
      redirect_uris: [`${BASE}/sign-in/${name}/callback`],
    })),
  );
  provider.users['ana'] = { email: 'ana@example.test', email_verified: true, groups: [] };
  const providers = names.map((name) => ({
    name,
    protocol: oidc(name, provider.issuer),
    domains: [],
    roles: [],
  }));
  t.context = {
    provider,
    company: new OidcProvider(oidc('company', provider.issuer), PARTS),
    signOn: new SignOn({ path: '/sign-in', cookies: 'c', providers }, Buffer.alloc(32), PARTS),
  };
});
test.after.always(async () => {
  for (const task of tasks.reverse()) await task();
});

function secrets(): FlowSecrets {
  const random = () => randomBytes(32).toString('base64url');
  return { state: random(), nonce: random(), verifier: random() };
}

/** The answer with which the provider leads back a browser in which somebody has just signed in there. */
async function answerAt(start: string): Promise<URL> {
  return new URL(await new SiteBrowser().signInAtProvider(start, 'ana', undefined, BASE));
}

async function answerFor({ company }: Parts, flow: FlowSecrets): Promise<URL> {
  return answerAt(await company.begin(flow, CALLBACK));
}

async function refused(t: ExecutionContext<Parts>, step: Promise<unknown>, name: string, message = /./) {
  const error = await t.throwsAsync(step, { instanceOf: SignInFailure, message }, name);
  t.is((error as SignInFailure | undefined)?.reason, 'refused', name);
}

test.serial('PKCE, the nonce and the state each refuse the code of another sign-in', async (t) => {
  const { company, provider } = t.context;
  for (const [part, message] of [
    ['verifier', /invalid_grant/],
    ['nonce', /JWT_CLAIM_COMPARISON/],
    ['state', /INVALID_RESPONSE/],
  ] as const) {
    const flow = secrets();
    const answer = await answerFor(t.context, flow);
    const before = provider.tokens;
    await refused(t, company.finish({ ...flow, [part]: secrets()[part] }, answer), part, message);
    t.is(
      provider.tokens - before,
      part === 'state' ? 0 : 1,
      'a wrong state is found before the code is sent',
    );
  }
  const flow = secrets();
  t.is((await company.finish(flow, await answerFor(t.context, flow))).subject, 'ana');
});

test.serial('an answer counts in the browser that began, once', async (t) => {
  const { provider, signOn } = t.context;
  const begun = await signOn.begin('company', BASE, CALLER, {});
  const query = Object.fromEntries((await answerAt(begun.location)).searchParams);
  const other = await signOn.begin('company', BASE, CALLER, {});
  const before = provider.tokens;
  const finish = (cookies: string) => signOn.finish('company', BASE, CALLER, { query, cookies });
  await refused(t, finish(''), 'a browser without a sign-in');
  await refused(t, finish(other.cookie), 'a browser with a sign-in of its own');
  // Another host of the domain can plant a cookie, but none with this prefix.
  t.regex(begun.cookie, /^__Host-c-flow=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
  await refused(t, finish(begun.cookie.replace('__Host-', '')), 'a planted cookie');
  // Browsers take the prefix after other white space for a part of the name.
  for (const blank of ['\u2003', '\u00a0', '\ufeff'])
    await refused(t, finish(`${blank}${begun.cookie}`), `a planted cookie after U+${blank.codePointAt(0)}`);
  t.is(provider.tokens, before);
  t.is((await finish(begun.cookie)).person.subject, 'ana');
  const used = provider.tokens;
  await refused(t, finish(begun.cookie), 'again');
  t.is(provider.tokens, used, 'the code is not sent again');
});

test.serial('an ID token counts with its signature, nonce, audience, issuer and time only', async (t) => {
  const { company, provider } = t.context;
  t.teardown(() => provider.change(undefined));
  const now = Math.floor(Date.now() / 1000);
  const wrong: Readonly<Record<string, Parameters<TestProvider['change']>[0]>> = {
    'another nonce': (claims) => provider.sign({ ...claims, nonce: 'another' }),
    'no nonce': ({ nonce: _, ...claims }) => provider.sign(claims),
    'another audience': (claims) => provider.sign({ ...claims, aud: 'partner' }),
    'another audience beside ours': (claims) => provider.sign({ ...claims, aud: ['company', 'partner'] }),
    'another issuer': (claims) => provider.sign({ ...claims, iss: 'https://evil.example' }),
    'an old token': (claims) => provider.sign({ ...claims, iat: now - 7200, exp: now - 3600 }),
    'no signature': (claims) => unsigned(claims),
    'the public key as a secret': (claims) => provider.signWithPublicKey(claims),
    'another signature': async (claims) => `${(await provider.sign(claims)).slice(0, -8)}AAAAAAAA`,
  };
  const finish = async () => {
    const flow = secrets();
    return company.finish(flow, await answerFor(t.context, flow));
  };
  for (const [name, make] of Object.entries(wrong)) {
    provider.change(make);
    await refused(t, finish(), name);
  }
  // The same way with what the provider says is good.
  provider.change((claims) => provider.sign(claims));
  t.is((await finish()).subject, 'ana');
});

/** A provider whose key set does not say for which algorithm its key is. */
async function startKeys(t: ExecutionContext<Parts>) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const server = createServer(({ url }, response) => {
    response.setHeader('content-type', 'application/json');
    const metadata = {
      issuer,
      jwks_uri: `${issuer}/keys`,
      id_token_signing_alg_values_supported: ['RS256', 'HS256'],
    };
    const keys = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k' }] };
    response.end(JSON.stringify(url === '/keys' ? keys : metadata));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { issuer, privateKey, pem: publicKey.export({ type: 'spki', format: 'pem' }).toString() };
}

test('a logout token is for this client, of an announced algorithm with a key pair, and counts once', async (t) => {
  const { issuer, privateKey, pem } = await startKeys(t);
  const company = new OidcProvider(oidc('company', issuer), PARTS);
  let count = 0;
  const claims = (): JWTPayload => {
    count += 1;
    const now = Math.floor(Date.now() / 1000);
    return {
      iss: issuer,
      aud: 'company',
      sub: 'ana',
      iat: now,
      exp: now + 120,
      jti: `j${count}`,
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    };
  };
  const signed = (changed: JWTPayload, alg = 'RS256', key: Parameters<SignJWT['sign']>[0] = privateKey) =>
    new SignJWT({ ...claims(), ...changed }).setProtectedHeader({ alg, kid: 'k' }).sign(key);
  for (const [name, token] of Object.entries({
    'another audience': await signed({ aud: 'partner' }),
    'another issuer': await signed({ iss: 'https://evil.example' }),
    'an algorithm that is not announced': await signed({}, 'PS256'),
    'the public key as a secret': await signed({}, 'HS256', new TextEncoder().encode(pem)),
    'no signature': unsigned(claims()),
    'an ID token': await signed({ events: undefined }),
    'an old token': await signed({ iat: Math.floor(Date.now() / 1000) - 3600 }),
  }))
    await refused(t, company.loggedOut(token), name);
  const good = await signed({});
  t.like(await company.loggedOut(good), { subject: 'ana', issuer });
  await refused(t, company.loggedOut(good), 'again');
});

const base64 = (xml: string) => Buffer.from(xml).toString('base64');

/** The library refuses these, too, where it looks; its own check of where the assertion is could change. */
test('our check refuses an assertion that is not the only one, or not directly in the response', (t) => {
  const receiver = `${BASE}/sign-in/saml/acs`;
  const parts = partsFor({ id: '_1', receiver, issuer: 'urn:sealwright:saml', xml: '' });
  const assertion = assertionOf(parts);
  const another = assertionOf({ ...parts, assertionId: '_another', nameId: 'evil' });
  const check = (content: string) =>
    checkResponse(base64(responseOf(parts, content)), { issuer: 'urn:idp', receiver });
  for (const [name, content] of Object.entries({
    none: '',
    'two beside each other': `${assertion}${another}`,
    'the signed one in an extension': `<samlp:Extensions>${assertion}</samlp:Extensions>${another}`,
    'the only one in an extension': `<samlp:Extensions>${assertion}</samlp:Extensions>`,
    'the signed one in the advice of another': another.replace(
      '</saml:Subject>',
      `$&<saml:Advice>${assertion}</saml:Advice>`,
    ),
    'the signed one in a signature of another': another.replace(
      '</saml:Issuer>',
      `$&<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:Object>${assertion}</ds:Object></ds:Signature>`,
    ),
    'one of another namespace': `${assertion}<Assertion xmlns="urn:other"/>`,
  }))
    t.throws(() => check(content), { message: /must have one assertion/ }, name);
  t.deepEqual(check(assertion), { inResponseTo: '_1' });
});

/** Markup that readers of XML take differently; the library would read a response with it. */
test('a response has no document type, comment or processing instruction, and metadata no document type', (t) => {
  const receiver = `${BASE}/sign-in/saml/acs`;
  const parts = partsFor({ id: '_1', receiver, issuer: 'urn:sealwright:saml', xml: '' });
  const good = responseOf(parts, assertionOf(parts));
  const check = (xml: string) => checkResponse(base64(xml), { issuer: 'urn:idp', receiver });
  for (const [name, xml] of Object.entries({
    'a document type': `<!DOCTYPE r>${good}`,
    'a document type of elsewhere': `<?xml version="1.0"?><!DOCTYPE r SYSTEM "https://evil.example/r.dtd">${good}`,
    'a comment in a value': good.replace(parts.nameId, `${parts.nameId}<!---->.evil`),
    'an instruction in a value': good.replace(parts.nameId, `${parts.nameId}<?x?>.evil`),
    'text that is not parsed': good.replace(parts.nameId, `<![CDATA[${parts.nameId}]]>`),
  }))
    t.throws(() => check(xml), { message: /has a document type, a comment/ }, name);
  t.notThrows(() => check(`<?xml version="1.0"?>${good}`));
  const metadata = samlMetadata('urn:idp', 'https://idp.example/sso', [samlKey()]);
  t.is(readMetadata(metadata, Date.now()).issuer, 'urn:idp');
  const typed = metadata.replace('<md:', '<!DOCTYPE r [<!ENTITY e "x">]><md:');
  t.throws(() => readMetadata(typed, Date.now()), { message: /document type/ });
});
