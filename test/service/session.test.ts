import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { ask, codeOf, logIn } from '../http/ask.ts';
import { Service, temporaryRoot } from './service.ts';

const portOf = (service: Service) => Number(new URL(service.url).port);
const whoAmI = (service: Service, cookie: string) =>
  ask(portOf(service), 'GET', { path: '/api/whoami', headers: { Cookie: cookie } });

async function begin(t: ExecutionContext, settings: Record<string, string> = {}) {
  const root = await temporaryRoot(t);
  const service = await Service.start(t, { root, settings });
  return { root, service };
}

test('a session survives stops and crashes of the service, and its keys are readable by their owner only', async (t) => {
  const { root, service } = await begin(t);
  const key = await service.key();
  const { answer, cookie } = await logIn(portOf(service), key);
  t.is(answer.status, 302);
  const ring = join(root, 'keys', 'session.json');
  // Nodes with a database derive their keys from a secret there, and write none.
  const secrets: string[] = [];
  if (process.env['SEALWRIGHT_NODES'] === undefined) {
    t.is((await stat(ring)).mode & 0o777, 0o600);
    for (const { key: secret } of JSON.parse(await readFile(ring, 'utf8')).keys) secrets.push(secret);
    t.true(secrets.length > 0);
  } else {
    await t.throwsAsync(stat(ring), { code: 'ENOENT' });
  }
  t.is(await service.stop(), 0);
  const second = await Service.start(t, { root });
  t.is((await whoAmI(second, cookie)).status, 200);
  await second.kill();
  const third = await Service.start(t, { root });
  const who = await whoAmI(third, cookie);
  t.deepEqual(JSON.parse(who.text), { operator: 'operator', scheme: 'Cookie' });
  for (const printed of [service.printed, second.printed, third.printed]) {
    for (const secret of secrets) t.false(printed.includes(secret));
    t.false(printed.includes(cookie.slice('batch-auth='.length)));
  }
});

test('a new API key ends every session and the old key, and the previous key is accepted by the API for a while', async (t) => {
  const old = 'the-key-of-last-year-0123456789';
  const next = 'the-key-of-this-year-0123456789';
  const { root, service } = await begin(t, { 'Auth:ApiKey': old });
  const { cookie } = await logIn(portOf(service), old);
  t.is((await whoAmI(service, cookie)).status, 200);
  await service.stop();
  const rotated = await Service.start(t, {
    root,
    settings: { 'Auth:ApiKey': next, 'Auth:PreviousApiKey': old },
  });
  t.is(codeOf(await whoAmI(rotated, cookie)), 'auth.invalid-credentials');
  t.is((await logIn(portOf(rotated), old)).answer.status, 401);
  t.is((await logIn(portOf(rotated), next)).answer.status, 302);
  t.is(
    (await ask(portOf(rotated), 'GET', { path: '/api/whoami', headers: { 'X-API-Key': old } })).status,
    200,
  );
  await rotated.stop();
  const done = await Service.start(t, { root, settings: { 'Auth:ApiKey': next } });
  t.is((await ask(portOf(done), 'GET', { path: '/api/whoami', headers: { 'X-API-Key': old } })).status, 401);
  for (const secret of [old, next]) t.false(rotated.printed.includes(secret));
});

test('hosts, proxies and HTTPS follow the configuration', async (t) => {
  const { service } = await begin(t, {
    AllowedHosts: 'sign.example',
    'Hosting:RequireHttps': 'true',
    'Hosting:ForwardedHeaders:Enabled': 'true',
    'Hosting:ForwardedHeaders:KnownNetworks:0': '127.0.0.0/8',
    'Auth:CookieName': 'sw',
  });
  const port = portOf(service);
  t.is(codeOf(await ask(port, 'GET', { path: '/api/whoami' })), 'host.not-allowed');
  const http = await ask(port, 'GET', { path: '/api/whoami', headers: { Host: 'sign.example' } });
  t.deepEqual([http.status, http.headers.location], [307, 'https://sign.example/api/whoami']);
  for (const path of ['/api/health', '/api/ready']) t.is((await ask(port, 'GET', { path })).status, 200);
  const { setCookie } = await logIn(port, await service.key(), {
    Host: 'sign.example',
    'X-Forwarded-Proto': 'https',
  });
  t.regex(setCookie, /^sw=.*; Secure$/);
});
