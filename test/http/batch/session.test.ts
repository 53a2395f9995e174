import test from 'ava';
import { systemIds } from '#runtime/model/ids.js';
import { SimulatedClock } from '#runtime/testing/simulated-clock.js';
import { createOneTimeLogins, ONE_TIME_LOGIN_MS } from '../../../http/core/access/one-time-logins.ts';
import { ask, codeOf, FORM, logIn } from '../ask.ts';
import { KEY, startServer } from '../harness.ts';

const HOUR = 3_600_000;
const LOGIN = '/api/auth/login';
const CROSS_SITE = { Origin: 'https://elsewhere.example' };

test('the right key starts a session that reaches everything the key reaches, and is reported as a session', async (t) => {
  const { port } = await startServer(t);
  const { answer, setCookie, cookie } = await logIn(port, KEY);
  t.is(answer.status, 302);
  t.is(answer.headers.location, '/');
  t.regex(setCookie, /^batch-auth=[\w-]+; Path=\/; HttpOnly; SameSite=Strict$/);
  t.false(setCookie.includes(KEY));
  const who = await ask(port, 'GET', {
    path: '/api/whoami',
    headers: { Cookie: `other=1; ${cookie}; last=2` },
  });
  t.deepEqual([who.status, JSON.parse(who.text)], [200, { operator: 'operator', scheme: 'Cookie' }]);
  t.is(who.headers['set-cookie'], undefined);
  const withKey = await ask(port, 'GET', { path: '/api/whoami', headers: { 'X-API-Key': KEY } });
  t.deepEqual(JSON.parse(withKey.text), { operator: 'operator', scheme: 'ApiKey' });
});

test('a login link is valid once, until its expiry, and only by POST', async (t) => {
  const clock = new SimulatedClock();
  const oneTimeLogins = createOneTimeLogins({ clock, ids: systemIds });
  const { port } = await startServer(t, {}, clock, { oneTimeLogins });
  const logInOnce = (once: string) =>
    ask(port, 'POST', {
      path: LOGIN,
      headers: { ...FORM, Accept: 'text/html' },
      body: new URLSearchParams({ Once: once }).toString(),
    });
  const first = oneTimeLogins.issue();
  t.is((await ask(port, 'GET', { path: `/login?once=${first}` })).status, 200);
  const { status, headers } = await logInOnce(first);
  t.deepEqual([status, headers.location], [302, '/']);
  const cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  t.is((await ask(port, 'GET', { path: '/api/whoami', headers: { Cookie: cookie } })).status, 200);
  const second = oneTimeLogins.issue();
  clock.advance(ONE_TIME_LOGIN_MS);
  for (const invalid of [first, second, '', 'x'.repeat(1000)]) {
    const refused = await logInOnce(invalid);
    t.is(refused.status, 401);
    t.is(refused.headers['set-cookie'], undefined);
    t.regex(refused.text, /was used already/);
  }
});

test('a login is accepted as a multipart form, too', async (t) => {
  const { url } = await startServer(t);
  const body = new FormData();
  body.set('ApiKey', KEY);
  body.set('ReturnUrl', '/jobs?status=Failed');
  const response = await fetch(`${url}${LOGIN}`, { method: 'POST', body, redirect: 'manual' });
  t.is(response.status, 302);
  t.is(response.headers.get('location'), '/jobs?status=Failed');
  t.truthy(response.headers.get('set-cookie'));
});

test('a login redirects to the requested path, and never to another host', async (t) => {
  const { port } = await startServer(t);
  const rows: readonly (readonly [wanted: string, went: string])[] = [
    ['/jobs/1?x=%20&y=2#z', '/jobs/1?x=%20&y=2#z'],
    ['/', '/'],
    ['', '/'],
    ['jobs', '/'],
    ['https://elsewhere.example/', '/'],
    ['//elsewhere.example/', '/'],
    ['/\\elsewhere.example/', '/'],
    ['\\\\elsewhere.example', '/'],
    ['/\t/elsewhere.example', '/'],
    ['/a\r\nSet-Cookie: x=1', '/'],
    ['/a\u0085b', '/'],
    [' /jobs', '/'],
    ['javascript:alert(1)', '/'],
    ['/jobs/é ü', '/jobs/%C3%A9%20%C3%BC'],
  ];
  for (const [wanted, went] of rows) {
    const body = new URLSearchParams({ ApiKey: KEY, ReturnUrl: wanted }).toString();
    const { status, headers } = await ask(port, 'POST', { path: LOGIN, headers: FORM, body });
    t.deepEqual([status, headers.location], [302, went], JSON.stringify(wanted));
    t.is(headers['set-cookie']?.length, 1);
  }
});

test('a wrong key is answered with 401, as a problem body or, for clients that prefer HTML, as the login page', async (t) => {
  const { port } = await startServer(t);
  for (const accept of ['', '*/*', 'application/json', 'text/html;q=0.5, application/json']) {
    const { answer, setCookie } = await logIn(port, 'wrong', accept === '' ? {} : { Accept: accept });
    t.is(answer.status, 401, accept);
    t.is(answer.headers['content-type'], 'application/problem+json');
    t.is(codeOf(answer), 'auth.invalid-credentials');
    t.is(answer.headers['www-authenticate'], 'ApiKey header="X-API-Key"');
    t.is(setCookie, '');
  }
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const body = new URLSearchParams({ ApiKey: 'wrong', ReturnUrl: '/jobs"><script>' }).toString();
  const page = await ask(port, 'POST', { path: LOGIN, headers: { ...FORM, Accept: browser }, body });
  t.is(page.status, 401);
  t.is(page.headers['content-type'], 'text/html; charset=utf-8');
  t.is(page.headers['www-authenticate'], 'ApiKey header="X-API-Key"');
  t.is(page.headers['set-cookie'], undefined);
  t.regex(page.text, /role="alert"[^>]*>(<svg.*<\/svg>)?That key is not right/);
  t.true(page.text.includes('value="/jobs&quot;>&lt;script'));
  t.false(page.text.includes('<script'));
  t.false(page.text.includes('wrong'));
});

test('a login without a key, with a repeated key or with another body is refused and starts no session', async (t) => {
  const { port } = await startServer(t);
  for (const body of ['', 'ApiKey=', 'apikey=x', `ReturnUrl=/&ApiKey=&ApiKey=${KEY}`]) {
    const answer = await ask(port, 'POST', { path: LOGIN, headers: FORM, body });
    t.deepEqual([answer.status, codeOf(answer)], [401, 'auth.invalid-credentials'], body);
  }
  for (const [type, body] of [
    ['application/json', `{"ApiKey":"${KEY}"}`],
    ['text/plain', `ApiKey=${KEY}`],
    ['multipart/form-data', 'x'],
    ['multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data; name="ApiKey"\r\n\r\nx'],
    ['application/x-www-form-urlencoded', `ApiKey=${KEY}&x=${'y'.repeat(17_000)}`],
  ] as const) {
    const answer = await ask(port, 'POST', { path: LOGIN, headers: { 'Content-Type': type }, body });
    t.deepEqual([answer.status, codeOf(answer)], [400, 'validation.body-invalid'], type);
    t.is(answer.headers['set-cookie'], undefined);
  }
});

test('the previous key is accepted by the API and starts no session', async (t) => {
  const { port } = await startServer(t, { previousApiKey: 'the-key-of-last-year' });
  t.is(
    (await ask(port, 'GET', { path: '/api/whoami', headers: { 'X-API-Key': 'the-key-of-last-year' } }))
      .status,
    200,
  );
  const { answer } = await logIn(port, 'the-key-of-last-year');
  t.is(codeOf(answer), 'auth.invalid-credentials');
});

test('after ten wrong keys in a minute further ones wait, and the right key never does', async (t) => {
  const clock = new SimulatedClock();
  const { port } = await startServer(t, {}, clock);
  t.is((await logIn(port, KEY)).answer.status, 302, 'right keys are not counted');
  for (let tried = 0; tried < 10; tried += 1) t.is((await logIn(port, `guess ${tried}`)).answer.status, 401);
  clock.advance(20_000);
  const { answer, setCookie } = await logIn(port, 'guess 10');
  t.deepEqual([answer.status, codeOf(answer), answer.headers['retry-after']], [429, 'rate-limited', '40']);
  t.is(setCookie, '');
  const page = await logIn(port, 'guess 11', { Accept: 'text/html' });
  t.deepEqual([page.answer.status, page.answer.headers['retry-after']], [429, '40']);
  t.regex(page.answer.text, /too many wrong keys/);
  t.is((await logIn(port, KEY)).answer.status, 302);
  clock.advance(40_000);
  t.is((await logIn(port, 'guess 12')).answer.status, 401);
});

test('a session is extended by use, and expires without', async (t) => {
  const clock = new SimulatedClock();
  const { port } = await startServer(t, { sessionHours: 8 }, clock);
  let { cookie } = await logIn(port, KEY);
  clock.advance(4 * HOUR);
  const early = await ask(port, 'GET', { path: '/api/whoami', headers: { Cookie: cookie } });
  t.is(early.headers['set-cookie'], undefined, 'half of it is left');
  clock.advance(1);
  const renewed = await ask(port, 'GET', { path: '/api/jobs/none', headers: { Cookie: cookie } });
  t.is(renewed.status, 404, 'what is answered does not matter');
  const fresh = renewed.headers['set-cookie']?.[0] ?? '';
  t.regex(fresh, /^batch-auth=[\w-]+; Path=\/; HttpOnly; SameSite=Strict$/);
  t.not(fresh.split(';')[0], cookie);
  clock.advance(4 * HOUR - 1);
  const old = await ask(port, 'GET', { path: '/api/whoami', headers: { Cookie: cookie } });
  t.deepEqual([old.status, codeOf(old)], [401, 'auth.invalid-credentials']);
  cookie = fresh.split(';')[0] ?? '';
  t.is((await ask(port, 'GET', { path: '/api/whoami', headers: { Cookie: cookie } })).status, 200);
  clock.advance(4 * HOUR + 1);
  t.is((await ask(port, 'GET', { path: '/api/whoami', headers: { Cookie: cookie } })).status, 401);
});

test('a changed, truncated, empty or invented cookie is refused', async (t) => {
  const { port } = await startServer(t);
  const { cookie } = await logIn(port, KEY);
  const token = cookie.slice('batch-auth='.length);
  const flipped = (at: number) => {
    const bytes = Buffer.from(token, 'base64url');
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    return bytes.toString('base64url');
  };
  const length = Buffer.from(token, 'base64url').length;
  const forged = Array.from({ length }, (_, at) => flipped(at));
  const others = ['', 'x', token.slice(0, -4), `${token}AAAA`, `${token}=`, 'A'.repeat(5000), `"${token}"`];
  for (const wrong of [...forged, ...others]) {
    const answer = await ask(port, 'GET', {
      path: '/api/whoami',
      headers: { Cookie: `batch-auth=${wrong}` },
    });
    t.deepEqual([answer.status, codeOf(answer)], [401, 'auth.invalid-credentials'], wrong.slice(0, 100));
  }
  t.is(
    (await ask(port, 'GET', { path: '/api/whoami', headers: { Cookie: `BATCH-AUTH=${token}` } })).status,
    401,
  );
});

test('the key decides when a request has a key and a session', async (t) => {
  const { port } = await startServer(t);
  const { cookie } = await logIn(port, KEY);
  const wrong = await ask(port, 'GET', {
    path: '/api/whoami',
    headers: { Cookie: cookie, 'X-API-Key': 'wrong' },
  });
  t.is(codeOf(wrong), 'auth.invalid-credentials');
  const right = await ask(port, 'GET', {
    path: '/api/whoami',
    headers: { Cookie: 'batch-auth=broken', 'X-API-Key': KEY },
  });
  t.is(JSON.parse(right.text).scheme, 'ApiKey');
  const foreign = { ...CROSS_SITE, Cookie: cookie, 'X-API-Key': KEY };
  t.is((await ask(port, 'POST', { path: '/api/pipeline/pause', headers: foreign })).status, 200);
});

test('a request from a page of another site changes nothing with a session, and may read', async (t) => {
  const { port, service } = await startServer(t);
  const { cookie } = await logIn(port, KEY);
  const own = `http://127.0.0.1:${port}`;
  const pause = (headers: Record<string, string>) =>
    ask(port, 'POST', { path: '/api/pipeline/pause', headers: { Cookie: cookie, ...headers } });
  for (const headers of [
    CROSS_SITE,
    { Origin: 'null' },
    { Origin: `http://127.0.0.1:${port + 1}` },
    { Origin: `http://localhost:${port}` },
    { Origin: 'http://127.0.0.1' },
    { Origin: '*' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'none' },
    { 'Sec-Fetch-Site': 'cross-site', Origin: own },
    { 'Sec-Fetch-Site': 'cross-site', Origin: 'null' },
    { 'Sec-Fetch-Site': 'same-origin', ...CROSS_SITE },
  ]) {
    const answer = await pause(headers);
    t.deepEqual([answer.status, codeOf(answer)], [403, 'auth.cross-origin'], JSON.stringify(headers));
  }
  t.false((await service.pipeline.state()).paused);
  t.is(
    (await ask(port, 'GET', { path: '/api/whoami', headers: { Cookie: cookie, ...CROSS_SITE } })).status,
    200,
  );
  for (const headers of [
    {},
    { Origin: own },
    { Origin: own.replace('http:', 'https:') },
    { 'Sec-Fetch-Site': 'same-origin', Origin: own },
    { 'Sec-Fetch-Site': 'same-origin', Origin: 'null' },
  ]) {
    t.is((await pause(headers)).status, 200, JSON.stringify(headers));
  }
  t.true((await service.pipeline.state()).paused);
});

test('logout clears the cookie and redirects to the login page, also without a session', async (t) => {
  const { port } = await startServer(t);
  for (const headers of [{}, { Cookie: (await logIn(port, KEY)).cookie }]) {
    const answer = await ask(port, 'POST', { path: '/api/auth/logout', headers });
    t.deepEqual([answer.status, answer.headers.location], [302, '/login']);
    t.deepEqual(answer.headers['set-cookie'], [
      'batch-auth=; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/; HttpOnly; SameSite=Strict',
    ]);
  }
});

test('an empty API key is answered with auth.misconfigured on every route, login included, and anonymous routes still work', async (t) => {
  const { port } = await startServer(t, { apiKey: '' });
  for (const headers of [{}, { 'X-API-Key': 'x' }, { Cookie: 'batch-auth=x' }]) {
    const answer = await ask(port, 'GET', { path: '/api/jobs', headers });
    t.deepEqual([answer.status, codeOf(answer)], [401, 'auth.misconfigured']);
  }
  for (const key of ['', 'x']) t.is(codeOf((await logIn(port, key)).answer), 'auth.misconfigured');
  t.regex((await logIn(port, 'x', { Accept: 'text/html' })).answer.text, /No API key is configured/);
  for (const path of ['/api/health', '/api/ready', '/login']) {
    t.is((await ask(port, 'GET', { path })).status, 200, path);
  }
});

test('the login page works without scripts, shows its reason, and loads nothing from other origins', async (t) => {
  const { port } = await startServer(t);
  const page = await ask(port, 'GET', { path: '/login?ReturnUrl=%2Fjobs%3Fa%3D1%26b%3D2' });
  t.is(page.status, 200);
  t.regex(page.text, /<form method="post" action="\/api\/auth\/login">/);
  t.regex(page.text, /name="ReturnUrl" type="hidden" value="\/jobs\?a=1&amp;b=2"/);
  t.false(page.text.includes('role="alert"'));
  t.regex(
    (await ask(port, 'GET', { path: '/login?ReturnUrl=//evil.example' })).text,
    /type="hidden" value="\/"/,
  );
  t.regex(
    (await ask(port, 'GET', { path: '/login?error=invalid' })).text,
    /role="alert"[^>]*>(<svg.*<\/svg>)?That key is not right/,
  );
  t.regex(
    (await ask(port, 'GET', { path: '/login?error=server' })).text,
    /role="alert"[^>]*>(<svg.*<\/svg>)?The service could not/,
  );
  for (const other of ['/login?error=%3Cb%3E', '/login?error=constructor', '/login?error=limited']) {
    t.false((await ask(port, 'GET', { path: other })).text.includes('role="alert"'), other);
  }
  for (const address of page.text.match(/(?:src|href|action)="[^"]*"/g) ?? []) t.regex(address, /="\/(?!\/)/);
  t.notRegex(page.text, /<script|<style| style=/);
  const path = /rel="stylesheet" href="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const style = await ask(port, 'GET', { path });
  t.deepEqual([style.status, style.headers['content-type']], [200, 'text/css; charset=utf-8']);
  t.is(style.headers['cache-control'], 'no-cache');
  t.regex(style.text, /^:root\{/);
  const again = await ask(port, 'GET', {
    path,
    headers: { 'If-None-Match': `"x", W/${style.headers.etag}` },
  });
  t.deepEqual([again.status, again.text], [304, '']);
});

test('cookie and header have their configured names', async (t) => {
  const { port } = await startServer(t, { cookieName: 'sw', apiKeyHeader: 'X-Other' });
  const { cookie, answer } = await logIn(port, KEY);
  t.regex(cookie, /^sw=/);
  t.is((await ask(port, 'GET', { path: '/api/whoami', headers: { Cookie: cookie } })).status, 200);
  t.is((await ask(port, 'GET', { path: '/api/whoami', headers: { 'X-Other': KEY } })).status, 200);
  t.is(answer.headers['www-authenticate'], undefined);
  const refused = await ask(port, 'GET', { path: '/api/whoami', headers: { 'X-API-Key': KEY } });
  t.deepEqual([refused.status, refused.headers['www-authenticate']], [401, 'ApiKey header="X-Other"']);
});

test('request log lines contain no keys, cookies or tokens', async (t) => {
  const { port, lines } = await startServer(t);
  const { cookie } = await logIn(port, KEY);
  await logIn(port, 'a-wrong-key-somebody-typed');
  await ask(port, 'GET', { path: '/api/whoami', headers: { Cookie: cookie } });
  await ask(port, 'POST', { path: '/api/pipeline/pause', headers: { Cookie: cookie, ...CROSS_SITE } });
  const text = JSON.stringify(lines);
  t.true(text.includes('auth.cross-origin'));
  for (const secret of [KEY, cookie.slice(11, 40), 'a-wrong-key']) t.false(text.includes(secret));
  for (const { text: said, properties } of lines) {
    if (!said.startsWith('Request')) continue;
    t.is(properties['Client'], '127.0.0.1');
    t.regex(String(properties['RequestId']), /^0H/);
    t.regex(String(properties['TraceId']), /^00-[0-9a-f]{32}-/);
  }
});
