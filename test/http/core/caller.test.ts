import test from 'ava';
import { SimulatedClock } from '#runtime/testing/simulated-clock.js';
import {
  addressSet,
  canonicalAddress,
  clientNetwork,
  parseNetwork,
  siteNetwork,
} from '../../../http/core/access/addresses.ts';
import { type Caller, followProxies } from '../../../http/core/access/caller.ts';
import { createWrongKeys } from '../../../http/core/access/wrong-keys.ts';
import { ask, codeOf, logIn } from '../ask.ts';
import { KEY, startServer } from '../harness.ts';

test('every notation of an address is normalized', (t) => {
  const rows: readonly (readonly [given: string, wanted: string | undefined])[] = [
    ['192.0.2.1', '192.0.2.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['0000:0000:0000:0000:0000:ffff:c000:0201', '192.0.2.1'],
    ['::ffff:255.255.255.255', '255.255.255.255'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::1', '::1'],
    ['', undefined],
    ['unknown', undefined],
    ['192.0.2', undefined],
    ['192.0.2.1:80', undefined],
    ['_hidden', undefined],
  ];
  for (const [given, wanted] of rows) t.is(canonicalAddress(given), wanted, given);
});

test('rate limits count the addresses of one IPv6 network as one client', (t) => {
  for (const [address, wanted] of [
    ['192.0.2.1', '192.0.2.1'],
    ['', ''],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['2001:db8::', '2001:db8:0:0::/64'],
    ['2001::5:6:7:8', '2001:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ] as const)
    t.is(clientNetwork(address), wanted);
  for (const [address, wanted] of [
    ['192.0.2.1', '192.0.2.0/24'],
    ['', ''],
    ['2001:db8:1:2ff::6', '2001:db8:1:200::/56'],
    ['2001:db8:1:3ff::6', '2001:db8:1:300::/56'],
    ['2001:db8::6', '2001:db8:0:0::/56'],
    ['::1', '0:0:0:0::/56'],
  ] as const)
    t.is(siteNetwork(address), wanted);
  const guesses = createWrongKeys(
    new SimulatedClock(),
    { permits: 2, windowSeconds: 60 },
    { permits: 4, windowSeconds: 60 },
  );
  guesses.count('2001:db8:1:2::1');
  guesses.count('2001:db8:1:2:ffff::2');
  // One network cannot use up what all clients together may.
  for (let host = 3; host < 9; host += 1)
    t.throws(() => guesses.count(`2001:db8:1:2::${host}`), { code: 'rate-limited' });
  guesses.count('2001:db8:1:3::1');
  guesses.count('192.0.2.1');
  t.throws(() => guesses.count('192.0.2.2'), { code: 'rate-limited' });
});

test('sets of addresses match by value or by network', (t) => {
  const trusted = addressSet(['192.0.2.1', '2001:DB8::1'], ['10.0.0.0/8', '2001:db8:1::/48']);
  for (const inside of ['192.0.2.1', '10.255.0.1', '2001:db8::1', '2001:db8:1:ffff::'])
    t.true(trusted(inside));
  for (const outside of ['192.0.2.2', '11.0.0.1', '2001:db8::2', '2001:db8:2::', '', 'x']) {
    t.false(trusted(outside), outside);
  }
  for (const bad of ['10.0.0.0', '10.0.0.0/33', '::/129', 'x/8', '10.0.0.0/', '10.0.0.0/8/8', '/8']) {
    t.is(parseNetwork(bad), undefined, bad);
  }
});

const PROXY = '10.0.0.1';
const FROM: Caller = { address: PROXY, https: false, host: 'service.internal:8080' };
const list = (text: string) => (text === '' ? [] : text.split(',').map((entry) => entry.trim()));

/** Headers of a chain of proxies, the number of trusted ones, and the resulting caller. */
const CHAINS: readonly (readonly [
  what: string,
  said: { readonly for?: string; readonly proto?: string; readonly host?: string },
  limit: number,
  wanted: Partial<Caller>,
])[] = [
  ['nothing said', {}, 1, { address: PROXY, https: false, host: 'service.internal:8080' }],
  ['one proxy', { for: '192.0.2.7', proto: 'https' }, 1, { address: '192.0.2.7', https: true }],
  [
    'the client lied first',
    { for: '1.1.1.1, 192.0.2.7', proto: 'http, https' },
    1,
    { address: '192.0.2.7', https: true },
  ],
  ['more is believed than proxies are trusted', { for: '1.1.1.1, 192.0.2.7' }, 5, { address: '192.0.2.7' }],
  [
    'two proxies',
    { for: '192.0.2.7, 10.0.0.2', proto: 'https, http' },
    2,
    { address: '192.0.2.7', https: true },
  ],
  ['two proxies, one believed', { for: '192.0.2.7, 10.0.0.2' }, 1, { address: '10.0.0.2' }],
  ['the protocol alone', { proto: 'HTTPS' }, 1, { address: PROXY, https: true }],
  ['a strange protocol', { for: '192.0.2.7', proto: 'wss' }, 1, { https: false }],
  ['a name for an address', { for: 'unknown' }, 3, { address: PROXY }],
  ['an address with a port', { for: '192.0.2.7:5123' }, 1, { address: '192.0.2.7' }],
  ['IPv6 with a port', { for: '[2001:DB8::7]:5123' }, 1, { address: '2001:db8::7' }],
  ['IPv6 without', { for: '2001:db8:0::7' }, 1, { address: '2001:db8::7' }],
  ['the outer name', { for: '192.0.2.7', host: 'sign.example' }, 1, { host: 'sign.example' }],
];
for (const [what, said, limit, wanted] of CHAINS) {
  test(`the caller behind proxies is identified with ${what}`, (t) => {
    const headers = { for: list(said.for ?? ''), proto: list(said.proto ?? ''), host: list(said.host ?? '') };
    t.like(followProxies(FROM, headers, addressSet([], ['10.0.0.0/8']), limit), wanted);
    // From an untrusted sender it has no effect.
    t.deepEqual(
      followProxies(FROM, headers, () => false, limit),
      FROM,
    );
  });
}

const TRUST = { anyProxy: false, proxies: ['127.0.0.1'], networks: [], limit: 1 };
const LIMITED = {
  enabled: true,
  upload: { permits: 1, windowSeconds: 60 },
  actions: { permits: 1, windowSeconds: 60 },
};

test('behind a trusted proxy each client has permits of its own, and only the proxy is trusted', async (t) => {
  const { port, lines } = await startServer(t, { forwarded: TRUST, rateLimiting: LIMITED });
  const state = async (forwarded: string | string[]) =>
    (
      await ask(port, 'GET', {
        path: '/api/pipeline/state',
        headers: { 'X-API-Key': KEY, 'X-Forwarded-For': forwarded },
      })
    ).status;
  t.is(await state('192.0.2.1'), 200);
  t.is(await state('192.0.2.1'), 429);
  t.is(await state('192.0.2.2'), 200);
  t.is(await state('192.0.2.3, 192.0.2.2'), 429, 'what the client wrote itself comes first');
  t.is(await state(['192.0.2.4', '192.0.2.2']), 429, 'also when the proxy adds a line of its own');
  t.true(lines.some(({ properties }) => properties['Client'] === '192.0.2.2'));
});

test('forwarded headers are ignored without a trusted set, and from untrusted peers', async (t) => {
  for (const forwarded of [undefined, { ...TRUST, proxies: ['192.0.2.99'] }]) {
    const { port } = await startServer(t, { forwarded, rateLimiting: LIMITED });
    const state = async (client: string) =>
      ask(port, 'GET', {
        path: '/api/pipeline/state',
        headers: {
          'X-API-Key': KEY,
          'X-Forwarded-For': client,
          'X-Forwarded-Proto': 'https',
        },
      });
    const first = await state('192.0.2.1');
    t.is(first.status, 200);
    t.is(first.headers['strict-transport-security'], undefined);
    t.is((await state('192.0.2.2')).status, 429);
  }
});

test('any proxy is trusted when the configuration allows it', async (t) => {
  const { port } = await startServer(t, {
    forwarded: { anyProxy: true, proxies: [], networks: [], limit: 1 },
  });
  const answer = await ask(port, 'GET', { path: '/api/health', headers: { 'X-Forwarded-Proto': 'https' } });
  t.is(answer.headers['strict-transport-security'], 'max-age=63072000');
});

test('wrong keys count for the client behind the proxy', async (t) => {
  const { port } = await startServer(t, { forwarded: TRUST }, new SimulatedClock());
  for (let tried = 0; tried < 10; tried += 1) await logIn(port, 'wrong', { 'X-Forwarded-For': '192.0.2.1' });
  t.is((await logIn(port, 'wrong', { 'X-Forwarded-For': '192.0.2.1' })).answer.status, 429);
  t.is((await logIn(port, 'wrong', { 'X-Forwarded-For': '192.0.2.2' })).answer.status, 401);
  t.is((await logIn(port, KEY, { 'X-Forwarded-For': '192.0.2.1' })).answer.status, 302);
});

test('a cookie is Secure when the client uses HTTPS to a trusted proxy', async (t) => {
  const { port } = await startServer(t, { forwarded: TRUST });
  const https = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'sign.example' };
  const { setCookie, cookie } = await logIn(port, KEY, https);
  t.regex(setCookie, /; SameSite=Strict; Secure$/);
  t.notRegex((await logIn(port, KEY)).setCookie, /Secure/);
  const pause = (origin: string) =>
    ask(port, 'POST', { path: '/api/pipeline/pause', headers: { ...https, Cookie: cookie, Origin: origin } });
  t.is((await pause('https://sign.example')).status, 200);
  t.is((await pause('https://sign.example:443')).status, 200);
  t.is(codeOf(await pause('http://sign.example')), 'auth.cross-origin');
  t.is(codeOf(await pause('https://sign.example:8443')), 'auth.cross-origin');
});

test('a service with RequireHttps redirects HTTP, and answers HTTPS with Strict-Transport-Security', async (t) => {
  const { port } = await startServer(t, { forwarded: TRUST, requireHttps: true });
  for (const [method, path] of [
    ['GET', '/api/jobs?page=2&x=%C3%A9'],
    ['POST', '/api/files'],
    ['GET', '/nowhere'],
    ['GET', '/login'],
  ] as const) {
    const answer = await ask(port, method, { path, headers: { Host: 'sign.example:8080' } });
    t.deepEqual([answer.status, answer.headers.location], [307, `https://sign.example${path}`]);
    t.is(answer.headers['strict-transport-security'], undefined);
    const https = await ask(port, method, {
      path,
      headers: { Host: 'sign.example', 'X-Forwarded-Proto': 'https' },
    });
    t.not(https.status, 307);
    t.is(https.headers['strict-transport-security'], 'max-age=63072000');
  }
  for (const host of ['a/b', 'user@sign.example', 'sign.example:port', 'a b']) {
    const answer = await ask(port, 'GET', { path: '/login', headers: { Host: host } });
    t.is(answer.status, 400, host);
    t.is(answer.headers.location, undefined);
  }
});

test('behind a trusted proxy the host name of the client must be allowed, not that of the proxy', async (t) => {
  const { port } = await startServer(t, {
    forwarded: TRUST,
    allowedHosts: ['sign.example'],
    requireHttps: true,
  });
  const through = (host: string, forwarded: string) =>
    ask(port, 'GET', { path: '/login', headers: { Host: host, 'X-Forwarded-Host': forwarded } });
  const answer = await through('service.internal:8080', 'sign.example');
  t.deepEqual([answer.status, answer.headers.location], [307, 'https://sign.example/login']);
  t.is(codeOf(await through('sign.example', 'elsewhere.example')), 'host.not-allowed');
});

test('only allowed host names are accepted, with any port and letter case', async (t) => {
  const { port } = await startServer(t, { allowedHosts: ['sign.example', '*.inner.example', '::1'] });
  const status = async (host: string) =>
    (await ask(port, 'GET', { path: '/login', headers: { Host: host } })).status;
  for (const host of [
    'sign.example',
    'SIGN.example:8080',
    'sign.example.',
    'a.b.inner.example',
    '[::1]:80',
  ]) {
    t.is(await status(host), 200, host);
  }
  for (const host of [
    '127.0.0.1',
    'other.example',
    'inner.example',
    'xsign.example',
    'sign.example.evil.example',
  ]) {
    const answer = await ask(port, 'GET', { path: '/login', headers: { Host: host } });
    t.deepEqual([answer.status, codeOf(answer)], [400, 'host.not-allowed'], host);
  }
});

test('health and readiness accept any host name, also over HTTP', async (t) => {
  const { port } = await startServer(t, { allowedHosts: ['sign.example'], requireHttps: true });
  for (const path of ['/api/health', '/api/ready']) {
    t.is((await ask(port, 'GET', { path, headers: { Host: '10.0.0.7:8080' } })).status, 200, path);
    t.is((await ask(port, 'HEAD', { path, headers: { Host: 'sign.example' } })).status, 200, path);
  }
  t.is(
    codeOf(await ask(port, 'GET', { path: '/api/whoami', headers: { Host: '10.0.0.7:8080' } })),
    'host.not-allowed',
  );
});
