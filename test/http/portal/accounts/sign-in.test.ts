/** Sign-in of users by a mailed link, over HTTP. Source: docs/decisions/0135-users-sign-in-by-mail.md. */
import anyTest, { type TestFn } from 'ava';
import { type PortalProgram, startProgram, until } from '../../../actors/portal/service.ts';
import { NODES } from '../../../postgres/test-store.ts';
import { endedAfter } from '../../../project/ended-after.ts';
import { clockedPortal } from '../requests/clocked-portal.ts';
import { ADMINISTRATOR, mailedLink, mailedLinks, register, SENDER, signedIn, UserBrowser } from './users.ts';

// The tests share one program; together they ask for fewer links than one address may, but for the last.
const test = anyTest as TestFn<PortalProgram>;
const shared = endedAfter(test);
test.before(async (t) => {
  t.context = await startProgram(shared);
});

test.serial('a link signs in once by its button, and a GET of it changes nothing', async (t) => {
  const program = t.context;
  await register(program, 'ana@example.org');
  const link = await mailedLink(program, 'Ana@Example.org');
  const { pathname, search, searchParams } = new URL(link);
  const path = `${pathname}${search}`;
  // Scanners open links, with and without scripts, and before the person does.
  for (const method of ['GET', 'HEAD', 'GET']) t.is((await fetch(link, { method })).status, 200);

  const browser = new UserBrowser(program.url);
  browser.cookie = 'sealwright-user=11111111-1111-4111-8111-111111111111.attacker';
  const text = await browser.page(path);
  t.true(text.includes('Zoë &lt;Müller') && !text.includes('<Müller'), 'names are escaped');
  t.true(text.includes('Sign in to Acme'));
  const planted = browser.cookie;
  const signedInBy = await browser.follow(link);
  t.is(signedInBy.headers.get('location'), '/account?from=link');
  const cookie = signedInBy.headers.get('set-cookie') ?? '';
  t.regex(cookie, /^sealwright-user=[\w.-]+; Path=\/; HttpOnly; SameSite=Strict$/);
  t.not(browser.cookie, planted, 'a session of its own');
  const shown = await browser.fetch('/account');
  t.is(shown.headers.get('content-security-policy')?.includes("frame-ancestors 'none'"), true);
  t.is(shown.headers.get('cache-control')?.includes('no-store'), true);
  t.true((await shown.text()).includes('ana@example.org'));

  const led = await browser.fetch('/sign-in');
  t.deepEqual([led.status, led.headers.get('location')], [302, '/account?from=link'], 'nothing to ask for');
  t.is((await browser.fetch('/sign-in?again=yes')).status, 200, 'a proof is asked for anew');

  // The same link again, from a page that still shows the button.
  const ticket = searchParams.get('ticket') ?? '';
  const organization = /name="organization" value="([^"]+)"/.exec(text)?.[1] ?? '';
  const again = await new UserBrowser(program.url).post('/sign-in/link', { ticket, organization });
  t.is(again.status, 200);
  t.is(again.headers.get('set-cookie'), null);
  t.true((await again.text()).includes('does not work any more'));
  t.true((await new UserBrowser(program.url).page(path)).includes('does not work any more'));

  // After signing out, no copy of the cookie is good.
  const copy = new UserBrowser(program.url);
  copy.cookie = browser.cookie;
  t.is((await browser.submit('/sign-out')).headers.get('location'), '/sign-in');
  const ended = await copy.fetch('/account');
  t.is(ended.status, 302);
  t.is(ended.headers.get('location'), '/sign-in');
});

test.serial(
  'a page that another site links to is asked for again, and then kept for the sign-in',
  async (t) => {
    const page = '/account/documents/3c9f6f2e-6f0e-4b52-9e3b-0a2f8d1c7b11';
    const ask = (headers: Readonly<Record<string, string>>, path = page): Promise<Response> =>
      fetch(`${t.context.url}${path}`, { headers, redirect: 'manual' });
    const followed = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'document' };
    // A browser keeps a SameSite=Strict cookie back from such a request; it repeats it from the page that it gets.
    const first = await ask(followed);
    t.is(first.status, 200);
    t.is(first.headers.get('refresh'), '0');
    t.is(first.headers.get('set-cookie'), null);
    const kept = async (headers: Readonly<Record<string, string>>, path = page) => {
      const answer = await ask(headers, path);
      t.is(answer.headers.get('location'), '/sign-in');
      return answer.headers.get('set-cookie');
    };
    const cookie = `sealwright-onward=${page}; Max-Age=1800; Path=/; HttpOnly; SameSite=Strict`;
    const here = { 'Sec-Fetch-Site': 'same-origin' };
    t.is(await kept({ ...here, 'Sec-Fetch-Dest': 'document' }), cookie);
    t.is(await kept({}), cookie, 'a browser that does not tell');
    // What is no page that a person opened.
    for (const dest of ['iframe', 'empty', 'image'])
      t.is(await kept({ ...here, 'Sec-Fetch-Dest': dest }), null, dest);
    t.is(await kept({}, '/account/changes'), null);
    // The filters of a list are kept, unless a cookie cannot have them.
    const list = '/account/documents';
    for (const [asked, to] of [
      [`${list}?q=S%C3%A3o+Paulo&status=Concluded`, `${list}?q=S%C3%A3o+Paulo&status=Concluded`],
      [`${list}?q=a;Domain=evil.example`, list],
      [`${list}?q=${'a'.repeat(600)}`, list],
    ] as const)
      t.is(await kept({}, asked), cookie.replace(page, to), asked);
  },
);

test.serial('forms need the token of the session and their own origin', async (t) => {
  const program = t.context;
  await register(program, 'bea@example.org');
  const browser = await signedIn(program, 'bea@example.org');
  await browser.page('/account');
  const { token } = browser;
  t.regex(token, /^[\w-]{43}$/);
  const send = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    browser.post('/sign-out', fields, headers);
  for (const formToken of ['', 'x', token.slice(1), 'a'.repeat(43)]) {
    const answer = await send({ formToken });
    t.is(answer.status, 403);
    t.true((await answer.text()).includes('You may not do this'));
  }
  for (const headers of [
    { Origin: 'https://evil.example' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { Origin: 'null' },
  ])
    t.is((await send({ formToken: token }, headers as Record<string, string>)).status, 403);
  await browser.page('/account');
  const other = new UserBrowser(program.url);
  const headers = { Origin: 'https://evil.example' };
  t.is((await other.post('/sign-in', { email: 'bea@example.org' }, headers)).status, 403);
  t.is((await other.post('/sign-in/link', { ticket: 'x', organization: 'y' }, headers)).status, 403);
  // A new session has another token, and does not begin with the page that was asked for before the end of this one.
  const out = await browser.submit('/sign-out');
  t.is(out.status, 302);
  t.deepEqual(
    out.headers.getSetCookie().map((one) => one.split(';', 2)),
    ['user', 'onward'].map((name) => [`sealwright-${name}=`, ' Max-Age=0']),
  );
  const next = await signedIn(program, 'bea@example.org');
  await next.page('/account');
  t.not(next.token, token);
  // The page that was asked for before the sign-in, and nothing else.
  const signedInFrom = (path: string): Promise<Response> => {
    const headers = { Cookie: `${next.cookie}; sealwright-onward=${path}` };
    return fetch(`${program.url}/account?from=link`, { headers, redirect: 'manual' });
  };
  const led = await signedInFrom('/account/documents/one-2');
  t.is(led.headers.get('location'), '/account/documents/one-2');
  t.regex(led.headers.get('set-cookie') ?? '', /^sealwright-onward=; Max-Age=0/);
  const filtered = '/account/documents?q=a%20b&status=Concluded';
  t.is((await signedInFrom(filtered)).headers.get('location'), filtered);
  for (const path of [
    '/account/documents?q=<b>',
    '//evil.example?q=a',
    '//evil.example',
    '/account//evil.example',
    '/account/..%2f',
    'https://evil.example',
  ]) {
    const answer = await signedInFrom(path);
    t.is(answer.headers.get('location'), '/account/documents', path);
  }
});

test.serial('a session ends when the user is removed, and when the role changes', async (t) => {
  const program = t.context;
  const id = await register(program, 'carl@example.org');
  const browser = await signedIn(program, 'carl@example.org');
  t.true((await browser.page('/account')).includes('administrator'));
  await register(program, 'carl@example.org', SENDER);
  t.is((await browser.fetch('/account')).status, 302);
  const sender = await signedIn(program, 'carl@example.org');
  t.true((await sender.page('/account')).includes('sender'));
  await program.acme.fetch(`/api/organizations/users/${id}`, { method: 'DELETE' });
  t.is((await sender.fetch('/account')).status, 302);
  await register(program, 'carl@example.org', SENDER);
  t.is((await sender.fetch('/account')).status, 302, 'also when the person comes back');
});

test.serial(
  'every address gets the same answer, only users get a mail, and attempts are limited',
  async (t) => {
    const program = t.context;
    const none = { administrator: false, manager: false, operator: false };
    await register(program, 'directory@example.org', none);
    const browser = new UserBrowser(program.url);
    const answers: string[] = [];
    for (const email of ['ana@example.org', 'nobody@example.org', 'directory@example.org', '']) {
      const answer = await browser.askForLink(email);
      answers.push(`${answer.status} ${await answer.text()}`);
    }
    t.is(new Set(answers).size, 1);
    t.is(mailedLinks(program, 'nobody@example.org').length, 0);
    t.is(mailedLinks(program, 'directory@example.org').length, 0);
    // Forged and foreign tickets are refused, and each node counts them.
    let refused = 0;
    for (let guess = 0; guess < 12 * NODES; guess += 1) {
      const answer = await browser.post('/sign-in/link', { ticket: `AQcA${guess}`, organization: 'x' });
      if (answer.status === 429) refused += 1;
      else t.true((await answer.text()).includes('does not work any more'));
    }
    t.true(refused > 0);
    const limited = await browser.askForLink('ana@example.org');
    t.is(limited.status, 429);
    t.true((await limited.text()).includes('role="alert"'));
  },
);

test.serial(
  'keys of the role Normal register no user in the organization that administers the instance',
  async (t) => {
    const { administrator } = t.context;
    const { items } = await administrator.get<{ items: readonly { id: string; name: string }[] }>(
      '/api/admin/organizations',
    );
    const system = items.find(({ name }) => name === 'Sys Admin')?.id ?? '';
    const path = `/api/admin/organizations/${system}/applications`;
    const { id } = await administrator.post<{ id: string }>(path, { name: 'Plain', role: 'Normal' });
    const { key } = await administrator.post<{ key: string }>(`${path}/${id}/keys`, {});
    const body = JSON.stringify({
      name: 'Eve',
      email: 'eve@example.org',
      accessProfile: { administrator: true },
    });
    const answer = await administrator.fetch('/api/organizations/users', {
      method: 'POST',
      headers: { 'X-Api-Key': key, 'Content-Type': 'application/json' },
      body,
    });
    t.is(answer.status, 403);
  },
);

test.serial('a user on another network gets a link while many clients of some networks ask', async (t) => {
  const { client, fixture } = await clockedPortal(t, { trustsProxy: true });
  const ask = async (address: string, email: string) => {
    const headers = { 'X-Forwarded-For': address };
    const body = new URLSearchParams({ email });
    const answer = await fetch(`${client.url}/sign-in`, { method: 'POST', headers, body });
    return { status: answer.status, text: await answer.text() };
  };
  const person = { name: 'Ana', email: 'ana@example.org', accessProfile: ADMINISTRATOR };
  await client.post('/api/organizations/users', person);
  // More than are looked up in a minute: ten of each client, forty of each network.
  for (const network of [
    '198.51.1',
    '198.51.2',
    '198.51.3',
    '198.51.4',
    '198.51.5',
    '2001:db8:0:10',
    '2001:db8:0:20',
    '2001:db8:0:30',
  ]) {
    const [separator, host] = network.includes(':') ? ['', '::1'] : ['.', ''];
    for (let one = 0; one < 4; one += 1)
      for (let tried = 0; tried < 10; tried += 1) {
        const { status } = await ask(`${network}${separator}${one}${host}`, `nobody${tried}@example.org`);
        t.is(status, 200);
      }
    t.is((await ask(`${network}${separator}4${host}`, 'nobody@example.org')).status, 429, network);
  }
  const unknown = await ask('203.0.113.7', 'nobody@example.org');
  t.deepEqual(await ask('203.0.113.8', 'ana@example.org'), unknown);
  t.is(unknown.status, 200);
  await until(async () => fixture.mails.find(({ to }) => to.address === 'ana@example.org'));
});

test.serial('over HTTPS, no other host of the domain can plant a session', async (t) => {
  const { client, fixture } = await clockedPortal(t, { trustsProxy: true });
  const email = 'ana@example.org';
  await client.post('/api/organizations/users', { name: 'Ana', email, accessProfile: ADMINISTRATOR });
  const headers = { 'X-Forwarded-Proto': 'https' };
  const browser = new UserBrowser(client.url, headers);
  await browser.askForLink(email);
  const mail = await until(async () => fixture.mails.find(({ to }) => to.address === email));
  await browser.follow(/http[^\s"\\]+\/sign-in\/link\?ticket=[\w-]+/.exec(JSON.stringify(mail))?.[0] ?? '');
  t.regex(browser.cookie, /^__Host-sealwright-user=[\w.-]+$/);
  t.is((await browser.fetch('/account')).status, 200);
  // Browsers let other hosts set a cookie without the prefix, or with white space before it.
  for (const planted of [
    browser.cookie.replace('__Host-', ''),
    `other=1; ${Buffer.from(`\u2003${browser.cookie}`).toString('latin1')}`,
  ]) {
    const other = new UserBrowser(client.url, headers);
    other.cookie = planted;
    t.is((await other.fetch('/account')).headers.get('location'), '/sign-in', planted);
  }
  const out = await browser.submit('/sign-out');
  t.regex(out.headers.get('set-cookie') ?? '', /^__Host-sealwright-user=; .*; Secure$/);
});
