/** Replies to callers without a key or with a wrong one. */
import { MemoryStore } from '@sealwright/runtime/testing';
import test from 'ava';
import { SimulatedClock } from '#runtime/testing/simulated-clock.js';
import { memorySessionKeys } from '../../../http/core/access/session-keys.ts';
import { PER_ADDRESS } from '../../../http/core/access/wrong-keys.ts';
import { ask, codeOf, FORM, logIn } from '../ask.ts';
import { KEY, RawClient, startServer } from '../harness.ts';

const CHECKS = [
  {
    name: 'database',
    status: 'Healthy',
    detail: 'reachable (LMDB (/srv/db))',
    publicDetail: 'reachable (LMDB)',
  },
  { name: 'profile:default', status: 'Healthy', detail: 'CN=Ann Example' },
] as const;

test('readiness shows no path and no certificate to callers without the key', async (t) => {
  const { port, service } = await startServer(t);
  service.health.checks = async () => CHECKS;
  const { cookie } = await logIn(port, KEY);
  const details = async (headers: Record<string, string>) => {
    const { status, text } = await ask(port, 'GET', { path: '/api/ready', headers });
    t.is(status, 200);
    return (JSON.parse(text) as { checks: { detail: string | null }[] }).checks.map(({ detail }) => detail);
  };
  for (const headers of [{}, { 'X-API-Key': 'wrong' }, { Cookie: 'batch-auth=forged' }]) {
    t.deepEqual(await details(headers), ['reachable (LMDB)', null]);
  }
  for (const headers of [{ 'X-API-Key': KEY }, { Cookie: cookie }]) {
    t.deepEqual(await details(headers), ['reachable (LMDB (/srv/db))', 'CN=Ann Example']);
  }
});

test('after 120 wrong keys a minute from one address further ones are refused with 429, and the right key is accepted', async (t) => {
  const clock = new SimulatedClock();
  const { port } = await startServer(t, {}, clock);
  const whoami = (key: string) => ask(port, 'GET', { path: '/api/whoami', headers: { 'X-API-Key': key } });
  for (let guess = 0; guess < PER_ADDRESS.permits; guess += 1)
    t.is((await whoami(`guess ${guess}`)).status, 401);
  const refused = await whoami('one more');
  t.is(refused.status, 429);
  t.is(codeOf(refused), 'rate-limited');
  t.regex(String(refused.headers['retry-after']), /^[1-9]\d*$/);
  t.is((await whoami(KEY)).status, 200);
  t.is((await ask(port, 'GET', { path: '/api/whoami' })).status, 401, 'no key is no wrong key');
  clock.advance(60_000);
  t.is((await whoami('later')).status, 401);
});

test('after 3,000 wrong keys a minute from many addresses further ones are refused with 429, and the right key is accepted', async (t) => {
  const trust = { anyProxy: true, proxies: [], networks: [], limit: 1 };
  const { port } = await startServer(t, { forwarded: trust }, new SimulatedClock());
  const client = await RawClient.connect(port);
  const request = (address: string, key: string) =>
    `GET /api/whoami HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\nX-API-Key: ${key}\r\n\r\n`;
  const answers = () => [...client.received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
  for (let network = 0; network < 60; network += 1) {
    const guesses = Array.from({ length: 51 }, (_, host) => request(`10.0.${network}.${host}`, 'guess'));
    await client.send(guesses.join(''));
    while (answers().length < (network + 1) * 51) {
      await new Promise((resolve) => client.socket.once('data', resolve));
    }
  }
  t.is(answers().filter((status) => status === '401').length, 3000);
  t.is(answers().filter((status) => status === '429').length, 60);
  client.received = '';
  await client.send(request('10.0.0.1', KEY));
  await client.until(/"operator"/);
  t.deepEqual(answers(), ['200']);
  client.reset();
});

test('logout ends the session for every copy of its token, renewed ones included, over a restart', async (t) => {
  const clock = new SimulatedClock();
  const more = { sessionKeys: memorySessionKeys(), store: new MemoryStore(), serviceClock: clock };
  const { port } = await startServer(t, {}, clock, more);
  const whoami = (cookie: string, at = port) =>
    ask(at, 'GET', { path: '/api/whoami', headers: { Cookie: cookie } });
  const { cookie } = await logIn(port, KEY);
  const other = await logIn(port, KEY);
  clock.advance(5 * 3_600_000);
  const renewed = await whoami(cookie);
  const newCookie = String(renewed.headers['set-cookie']?.[0]).split(';')[0] ?? '';
  t.not(newCookie, cookie);
  t.is((await ask(port, 'POST', { path: '/api/auth/logout', headers: { Cookie: newCookie } })).status, 302);
  const again = await startServer(t, {}, clock, more);
  for (const at of [port, again.port]) {
    t.is((await whoami(cookie, at)).status, 401);
    t.is((await whoami(newCookie, at)).status, 401);
    t.is((await whoami(other.cookie, at)).status, 200, 'another session goes on');
  }
  const kept = await more.store.actors({ kind: 'ended-session', limit: 9 });
  t.is(kept.length, 1);
  t.false(`${JSON.stringify(kept)}${more.sessionKeys.load()}`.includes(newCookie));
});

test('pages of other sites can neither log a browser in nor out', async (t) => {
  const { port } = await startServer(t);
  const { cookie } = await logIn(port, KEY);
  for (const foreign of [{ Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }]) {
    const entered = await ask(port, 'POST', {
      path: '/api/auth/login',
      headers: { ...FORM, ...foreign },
      body: `ApiKey=${KEY}`,
    });
    t.is(codeOf(entered), 'auth.cross-origin');
    t.is(entered.headers['set-cookie'], undefined);
    const left = await ask(port, 'POST', {
      path: '/api/auth/logout',
      headers: { Cookie: cookie, ...foreign },
    });
    t.is(codeOf(left), 'auth.cross-origin');
    t.is(left.headers['set-cookie'], undefined);
  }
  t.is((await ask(port, 'GET', { path: '/api/whoami', headers: { Cookie: cookie } })).status, 200);
  const own = { Cookie: cookie, Origin: `http://127.0.0.1:${port}`, 'Sec-Fetch-Site': 'same-origin' };
  t.is((await ask(port, 'POST', { path: '/api/auth/logout', headers: own })).status, 302);
});
