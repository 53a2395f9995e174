import test from 'ava';
import { ask, FORM, logIn } from '../ask.ts';
import { KEY, RawClient, startServer } from '../harness.ts';

/** On every response. Source: docs/batch-values.md §10. */
const ALWAYS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'content-security-policy': "default-src 'self'; frame-ancestors 'none'",
};

test('every answer has the security headers, without a server name or other origins', async (t) => {
  const { port, service } = await startServer(t);
  const job = await service.add();
  await service.finish(job.id, Buffer.from('signed'));
  const { cookie } = await logIn(port, KEY);
  const withKey = { 'X-API-Key': KEY };
  const rows: readonly (readonly [
    status: number,
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string,
  ])[] = [
    [200, 'GET', '/api/health', {}],
    [200, 'HEAD', '/api/health', {}],
    [200, 'GET', '/api/jobs', withKey],
    [200, 'GET', '/api/whoami', { Cookie: cookie }],
    [200, 'GET', `/api/jobs/${job.id}/output`, withKey],
    [206, 'GET', `/api/jobs/${job.id}/output`, { ...withKey, Range: 'bytes=0-1' }],
    [416, 'GET', `/api/jobs/${job.id}/output`, { ...withKey, Range: 'bytes=99-' }],
    [200, 'GET', '/login', {}],
    [302, 'POST', '/api/auth/logout', {}],
    [302, 'POST', '/api/auth/login', FORM, `ApiKey=${KEY}`],
    [401, 'POST', '/api/auth/login', FORM, 'ApiKey=x'],
    [401, 'POST', '/api/auth/login', { ...FORM, Accept: 'text/html' }, 'ApiKey=x'],
    [401, 'GET', '/api/jobs', {}],
    [403, 'POST', '/api/pipeline/pause', { Cookie: cookie, Origin: 'https://elsewhere.example' }],
    [404, 'GET', '/nowhere', withKey],
    [405, 'DELETE', '/api/health', withKey],
    [400, 'POST', '/api/files', withKey],
    [404, 'OPTIONS', '/nowhere', { Origin: 'https://x.example', 'Access-Control-Request-Method': 'POST' }],
  ];
  for (const [status, method, path, headers, body] of rows) {
    const answer = await ask(port, method, { path, headers, body });
    const what = `${method} ${path}`;
    t.is(answer.status, status, what);
    t.like(answer.headers, { ...ALWAYS, 'cache-control': 'no-store' }, what);
    t.regex(String(answer.headers['x-request-id']), /^0H[0-9A-V]{11}:[0-9A-F]{8}$/, what);
    for (const name of Object.keys(answer.headers)) {
      t.notRegex(
        name,
        /^(?:server|x-powered-by|access-control-|strict-transport-security|uwebsockets)/,
        what,
      );
    }
  }
  const style = await ask(port, 'GET', { path: '/login?part=style' });
  t.like(style.headers, { ...ALWAYS, 'cache-control': 'no-cache' });
});

test('an answer during the stop has the security headers, too', async (t) => {
  const { port, server, service } = await startServer(t);
  let open = () => {};
  const asked = new Promise<void>((resolve) => {
    service.health.checks = async () => {
      resolve();
      await new Promise<void>((go) => {
        open = go;
      });
      return [];
    };
  });
  const waiting = ask(port, 'GET', { path: '/api/ready' });
  await asked;
  // Nothing else is awaited while it is idle: on a busy machine ten seconds would be over, after which it is closed.
  const idle = await RawClient.connect(port);
  await idle.send('GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n');
  await idle.until(/Healthy/);
  const closing = server.close();
  await idle.send('GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n');
  await idle.until(/503 [\s\S]*\r\n\r\n/);
  const last = idle.received.slice(idle.received.indexOf('503')).toLowerCase();
  for (const [name, value] of Object.entries(ALWAYS))
    t.true(last.includes(`${name}: ${value.toLowerCase()}`));
  open();
  await waiting;
  await closing;
});
