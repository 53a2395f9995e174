/** Sign-in at an OpenID provider of other hands (the package glewlwyd). */
import { execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ava, { type ExecutionContext } from 'ava';
import { startProgram, until } from '../../actors/portal/service.ts';
import { freePort } from '../../commands/free-port.ts';
import { temporaryRoot } from '../../service/service.ts';
import { withTools } from '../../verifiers/tool.ts';
import { SiteBrowser } from './oidc-server.ts';

const test = withTools(ava, 'glewlwyd', 'sqlite3');

// Without characters that Basic encodes (RFC 6749 §2.3.1): this provider does not decode them.
const SECRET = 'SecretOfTheClient1234567890';

/** Asks the interface for administrators and users; gives the answer's JSON, if there is one. */
async function ask(browser: SiteBrowser, method: string, address: string, body?: unknown): Promise<unknown> {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json' };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const answer = await browser.fetch(address, init);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${address} answered ${answer.status}: ${text}`);
  return text.startsWith('{') ? JSON.parse(text) : undefined;
}

/** Starts the provider. @returns its address */
async function startGlewlwyd(t: ExecutionContext, folder: string): Promise<string> {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const schema = execFileSync('zcat', ['-f', '/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3']);
  execFileSync('sqlite3', [join(folder, 'g.db')], { input: schema });
  const config = readFileSync('/etc/glewlwyd/glewlwyd.conf', 'utf8')
    .replace(/^.*glewlwyd-db\.conf.*$/m, '')
    .replace(/^port=.*/m, `port=${port}`)
    .replace(/^external_url=.*/m, `external_url="${base}/"`)
    .replace(/^log_mode=.*/m, 'log_mode="console"');
  const own = `bind_address = "127.0.0.1"\ndatabase = { type = "sqlite3"; path = "${folder}/g.db"; };\n`;
  writeFileSync(join(folder, 'g.conf'), `${config}\n${own}`);
  const child = spawn('glewlwyd', [`--config-file=${join(folder, 'g.conf')}`], { stdio: 'ignore' });
  t.teardown(async () => {
    if (child.exitCode !== null) return;
    child.kill();
    await once(child, 'exit');
  });
  await until(() =>
    fetch(base).then(
      () => true,
      () => undefined,
    ),
  );
  return base;
}

/** Sets up OpenID Connect, a person and a client. */
async function setUp(base: string, callback: string): Promise<void> {
  const admin = new SiteBrowser();
  await ask(admin, 'POST', `${base}/api/auth/`, { username: 'admin', password: 'password' });
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await ask(admin, 'POST', `${base}/api/mod/plugin/`, {
    module: 'oidc',
    name: 'oidc',
    display_name: 'oidc',
    parameters: {
      iss: `${base}/api/oidc`,
      'jwt-type': 'rsa',
      'jwt-key-size': '256',
      'jwks-show': true,
      key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      cert: publicKey.export({ type: 'spki', format: 'pem' }),
      'auth-type-code-enabled': true,
      'auth-type-client-enabled': true,
      'auth-type-refresh-enabled': true,
      'access-token-duration': 600,
      'refresh-token-duration': 86_400,
      'code-duration': 60,
      'refresh-token-rolling': true,
      'refresh-token-one-use': 'always',
      'pkce-allowed': true,
      'pkce-required': true,
      'subject-type': 'public',
      'session-management-allowed': true,
      'session-cookie-name': 'OPSID',
      'session-cookie-expiration': 86_400,
      'allow-non-oidc': true,
      'introspection-revocation-allowed': true,
      'name-claim': 'mandatory',
      'email-claim': 'mandatory',
      claims: [
        {
          name: 'groups',
          'user-property': 'groups',
          type: 'string',
          mandatory: true,
          'on-demand': false,
          scope: [],
        },
      ],
    },
  });
  const users = (await ask(admin, 'GET', `${base}/api/mod/user/database`)) as {
    parameters: { 'data-format'?: object };
  };
  users.parameters['data-format'] = {
    ...users.parameters['data-format'],
    groups: { multiple: true, read: true, write: true },
  };
  await ask(admin, 'PUT', `${base}/api/mod/user/database`, users);
  await ask(admin, 'PUT', `${base}/api/mod/reload`, {});
  await ask(admin, 'POST', `${base}/api/user/`, {
    username: 'ana',
    password: 'a password',
    name: 'Ana',
    email: 'ana@example.test',
    enabled: true,
    scope: ['openid', 'g_profile'],
    groups: ['others', 'signers'],
  });
  await ask(admin, 'POST', `${base}/api/client/`, {
    client_id: 'sealwright',
    name: 'sealwright',
    client_secret: SECRET,
    password: SECRET,
    confidential: true,
    enabled: true,
    redirect_uri: [callback],
    scope: ['openid'],
    authorization_type: ['code', 'refresh_token'],
    token_endpoint_auth_method: ['client_secret_basic'],
  });
}

test('a person signs in at an OpenID provider of other hands', async (t) => {
  const base = await startGlewlwyd(t, await temporaryRoot(t));
  const members = {
    Name: 'company',
    Organization: 'Acme',
    CreateUsers: true,
    'Domains:0': 'example.test',
    Issuer: `${base}/api/oidc`,
    ClientId: 'sealwright',
    ClientSecret: SECRET,
    'Scopes:0': 'openid',
    'Roles:0:Group': 'signers',
    'Roles:0:Role': 'Sender',
  };
  const settings = Object.fromEntries(
    Object.entries(members).map(([key, value]) => [`Identity:Providers:0:${key}`, value]),
  );
  const { url } = await startProgram(t, { settings });
  await setUp(base, `${url}/sign-in/company/callback`);
  const browser = new SiteBrowser();
  await ask(browser, 'POST', `${base}/api/auth/`, { username: 'ana', password: 'a password' });
  await ask(browser, 'PUT', `${base}/api/auth/grant/sealwright`, { scope: 'openid' });
  // The provider was asked before it was set up.
  const location = await until(
    async () => (await browser.fetch(`${url}/sign-in/company`)).headers.get('location') ?? undefined,
  );
  const led = await browser.fetch(`${location}&g_continue`);
  const callback = led.headers.get('location') ?? '';
  t.true(callback.startsWith(`${url}/sign-in/company/callback?`), callback);
  t.is((await browser.fetch(callback, {}, true)).status, 200);
  t.true((await (await browser.fetch(`${url}/account`)).text()).includes('ana@example.test'));
  t.is((await new SiteBrowser().fetch(callback, {}, true)).status, 403, 'another browser');

  // Asked anew, it wants the password, which its page confirms; but its `auth_time` is always 0, and proves nobody.
  const anew = (await browser.fetch(`${url}/sign-in/company?again=yes`)).headers.get('location') ?? '';
  const asked = (await browser.fetch(anew)).headers.get('location') ?? '';
  t.is(new URL(asked, base).searchParams.get('prompt'), 'login');
  await ask(browser, 'POST', `${base}/api/auth/`, { username: 'ana', password: 'a password' });
  const answer = (await browser.fetch(`${anew}&g_continue`)).headers.get('location') ?? '';
  t.is(new URL(answer).searchParams.get('error'), null, answer);
  t.is((await browser.fetch(answer, {}, true)).status, 403);
});
