import test from 'ava';
import { assertProblem, KEY, RawClient, startServer } from '../harness.ts';
import { MAIL_HTML, MAIL_TEXT, memoryMails } from './memory-mails.ts';

interface Listed {
  readonly items: readonly { readonly id: string; readonly hasText: boolean }[];
  readonly page: number;
  readonly pageSize: number;
  readonly totalCount: number;
}

test('operators list mails newest first, by status and page by page', async (t) => {
  const { call } = await startServer(t);
  const list = async (query: string) => {
    const { items, ...rest } = (await (await call(`/api/mails${query}`)).json()) as Listed;
    return { ids: items.map(({ id }) => id).join(''), ...rest };
  };
  t.deepEqual(await list(''), { ids: 'cba', page: 1, pageSize: 50, totalCount: 3 });
  t.deepEqual(await list('?page=2&pageSize=2'), { ids: 'a', page: 2, pageSize: 2, totalCount: 3 });
  t.deepEqual(await list('?search=b%40'), { ids: 'b', page: 1, pageSize: 50, totalCount: 1 });
  t.deepEqual(await list('?status=sent'), { ids: 'ca', page: 1, pageSize: 50, totalCount: 2 });
  t.deepEqual(await list('?status=Failed&pageSize=999'), { ids: '', page: 1, pageSize: 200, totalCount: 0 });
  for (const query of [
    '?status=gone',
    `?search=${'x'.repeat(201)}`,
    '?status=Sent&status=Failed',
    '?page=0',
    '?pageSize=x',
    '?page=1e9',
  ])
    await assertProblem(t, await call(`/api/mails${query}`), 'validation.filter-invalid');
});

test('one mail is read with its attempts, and with its content where it was written to a folder', async (t) => {
  const { call, lines } = await startServer(t);
  t.like(await (await call('/api/mails/b')).json(), {
    status: 'Waiting',
    nextTryAt: '1970-01-01T00:00:00.009Z',
    hasText: false,
    failures: [{ at: '1970-01-01T00:00:00.002Z', code: 'mail.folder', message: 'ENOSPC: no space left' }],
  });
  const answer = await call('/api/mails/c/text');
  t.is(answer.status, 200);
  t.is(answer.headers.get('content-type'), 'text/plain; charset=utf-8');
  t.is(answer.headers.get('cache-control'), 'no-store');
  t.is(await answer.text(), MAIL_TEXT);
  t.false(JSON.stringify(lines).includes('only-for-ana'));
  const shown = await call('/api/mails/c/html');
  t.deepEqual([shown.status, await shown.text()], [200, MAIL_HTML]);
  t.is(shown.headers.get('cache-control'), 'no-store');
  t.regex(shown.headers.get('content-security-policy') ?? '', /^default-src 'none'.*form-action 'none'/);
  t.like(await (await call('/api/mails/c')).json(), { hasText: true, textRemoved: false });
  t.like(await (await call('/api/mails/a')).json(), { hasText: false, textRemoved: true });
  for (const view of ['text', 'html'])
    await assertProblem(t, await call(`/api/mails/a/${view}`), 'mail.text-unavailable');
  for (const path of ['/api/mails/none', '/api/mails/none/text', '/api/mails/..%2F..%2Fkeys%2Fapi-key/text'])
    await assertProblem(t, await call(path), 'mail.not-found');
});

test('a waiting mail is sent at once, and a sent one is not', async (t) => {
  const { call, url } = await startServer(t);
  const answer = await call('/api/mails/b/resend', { method: 'POST' });
  t.deepEqual([answer.status, await answer.json()], [202, { id: 'b' }]);
  await assertProblem(t, await call('/api/mails/a/resend', { method: 'POST' }), 'mail.already-sent');
  await assertProblem(t, await call('/api/mails/none/resend', { method: 'POST' }), 'mail.not-found');
  const unknown = await fetch(`${url}/api/mails/b/resend`, { method: 'POST' });
  await assertProblem(t, unknown, 'auth.invalid-credentials');
});

test('failed mails are sent again since a time, or all of them', async (t) => {
  const { call } = await startServer(t);
  const again = (body: object) => {
    const headers = { 'content-type': 'application/json' };
    return call('/api/mails/resend', { method: 'POST', headers, body: JSON.stringify(body) });
  };
  const answer = await again({ since: '2026-05-26T00:00:00Z' });
  t.deepEqual([answer.status, await answer.json()], [202, { count: 1, complete: true }]);
  t.deepEqual(await (await again({})).json(), { count: 2, complete: true });
  await assertProblem(t, await again({ since: 'yesterday' }), 'validation.body-invalid');
});

test('with a relay the content of mails is not served', async (t) => {
  const { call } = await startServer(t, {}, undefined, { mails: memoryMails(false) });
  const { items } = (await (await call('/api/mails')).json()) as Listed;
  t.deepEqual(
    items.map(({ hasText }) => hasText),
    [false, false, false],
  );
});

test('a mail and the page of mails are refused to callers without the key', async (t) => {
  const { url } = await startServer(t);
  for (const path of ['/api/mails', '/api/mails/c', '/api/mails/c/text', '/api/mails/c/html'])
    await assertProblem(t, await fetch(`${url}${path}`), 'auth.invalid-credentials');
  const page = await fetch(`${url}/mails`, { redirect: 'manual' });
  t.is(page.status, 302);
  t.is(page.headers.get('location'), '/login?ReturnUrl=%2Fmails');
});

test('the page of mails and the link to it are served with the portal alone', async (t) => {
  const withPortal = await startServer(t);
  const html = await (await withPortal.call('/mails')).text();
  t.regex(
    html,
    /<a href="\/mails" aria-current="page"><svg [^>]*>(?:<(?:path|rect) [^>]*>)+<\/svg><span [^>]*>E-mails<\/span><\/a>/,
  );
  t.regex(html, /<option value="Waiting">Waiting<\/option>/);
  t.is((await withPortal.call('/assets/mail-list.js')).status, 200);
  const { call, port } = await startServer(t, {}, undefined, { mails: undefined });
  t.notRegex(await (await call('/jobs')).text(), /\/mails/);
  // The description of these tests has the routes; this service has not.
  for (const path of ['/mails', '/api/mails', '/api/mails/c', '/api/mails/c/text']) {
    const client = await RawClient.connect(port);
    await client.send(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\nConnection: close\r\n\r\n`);
    await client.until(/route\.not-found/);
    t.regex(client.received, /^HTTP\/1\.1 404 /, path);
    client.reset();
  }
});
