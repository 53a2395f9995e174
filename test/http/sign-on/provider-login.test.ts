/** Login of operators at a real OpenID provider, and attacks on it. Source: docs/decisions/0276-single-sign-on.md. */
import test, { type ExecutionContext } from 'ava';
import { systemClock } from '#runtime/model/clock.js';
import { systemIds } from '#runtime/model/ids.js';
import { SignOn } from '../../../http/core/sign-on/sign-on.ts';
import type { HttpSettings } from '../../../http/index.ts';
import { ask, codeOf } from '../ask.ts';
import { memoryUsedAnswers } from '../core/used-answers.ts';
import { recorder, startServer } from '../harness.ts';
import { onwardOf, SiteBrowser, startProvider, type TestUser } from './oidc-server.ts';

const SECRET = 'a secret of the client, of 32 characters';
const COOKIE = 'batch-auth';

/** Two providers of one issuer: `ops`, and `company`, which speaks for a domain. */
async function fixture(t: ExecutionContext, settings: Partial<HttpSettings> = {}) {
  const provider = await startProvider(t);
  const { issuer } = provider;
  const names = ['ops', 'company'];
  const providers = names.map((name) => ({
    name,
    protocol: {
      kind: 'Oidc' as const,
      name,
      issuer,
      clientId: name,
      clientSecret: SECRET,
      scopes: ['openid', 'email'],
      groupsClaim: 'groups',
    },
    domains: name === 'company' ? ['example.test'] : [],
    roles: [{ group: '*', role: 'Viewer' }],
  }));
  const used = await memoryUsedAnswers(systemClock);
  const parts = { clock: systemClock, ids: systemIds, log: recorder([]), used };
  const signOn = new SignOn({ path: '/login', cookies: COOKIE, providers }, Buffer.alloc(32), parts);
  const { url, port } = await startServer(t, settings, systemClock, { signOn });
  provider.open(
    ...names.map((name) => ({
      client_id: name,
      client_secret: SECRET,
      redirect_uris: [`${url}/login/${name}/callback`],
    })),
  );
  let people = 0;
  return {
    url,
    port,
    /** A new person at the provider. */
    person(claims: TestUser): string {
      people += 1;
      provider.users[`person${people}`] = claims;
      return `person${people}`;
    },
    /** Name of the operator for whom the service takes the browser; undefined: for nobody. */
    async operatorOf(browser: SiteBrowser): Promise<string | undefined> {
      const answer = await browser.fetch(`${url}/api/whoami`, { headers: { Accept: 'application/json' } });
      return answer.status === 200 ? ((await answer.json()) as { operator: string }).operator : undefined;
    },
  };
}

test('a provider of a domain lets in people with addresses there that it does not call unverified', async (t) => {
  const { url, person, operatorOf } = await fixture(t);
  const email = 'ana@example.test';
  for (const [claims, isLetIn] of [
    [{ email, email_verified: true }, true],
    [{ email }, true],
    [{ email, email_verified: false }, false],
    [{ email: 'ana@elsewhere.test', email_verified: true }, false],
    [{ email: 'ana@below.example.test', email_verified: true }, false],
    [{ email: 'ana@example.test@elsewhere.test', email_verified: true }, false],
    [{}, false],
  ] as const) {
    const browser = new SiteBrowser();
    const answer = await browser.signIn(`${url}/login/company`, person(claims));
    t.is(answer.status, isLetIn ? 200 : 403, JSON.stringify(claims));
    t.is(await operatorOf(browser), isLetIn ? email : undefined, JSON.stringify(claims));
  }
  // A provider without a domain lets in everybody, but a name in the log is an address only where it is verified.
  for (const email_verified of [true, false, undefined]) {
    const login = person({ email, ...(email_verified !== undefined && { email_verified }) });
    const browser = new SiteBrowser();
    await browser.signIn(`${url}/login/ops`, login);
    t.is(await operatorOf(browser), email_verified ? email : `user:${login}`);
  }
});

test('a login at a provider leads to a path of this service alone, in a new session', async (t) => {
  const { url, person, operatorOf } = await fixture(t);
  for (const [wanted, went] of [
    ['/jobs?status=Failed', '/jobs?status=Failed'],
    ['https://evil.example/', '/'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['/\t/evil.example', '/'],
    ['javascript:alert(1)', '/'],
  ] as const) {
    const browser = new SiteBrowser();
    const start = `${url}/login/ops?ReturnUrl=${encodeURIComponent(wanted)}`;
    const callback = await browser.signInAtProvider(start, person({}));
    // The answer of the provider says nothing about it.
    const answer = await browser.fetch(`${callback}&ReturnUrl=https%3A%2F%2Fevil.example`, {}, true);
    t.is(onwardOf(await answer.text(), callback), `${url}${went}`, wanted);
  }

  const attacker = new SiteBrowser();
  const known = person({});
  await attacker.signIn(`${url}/login/ops`, known);
  for (const [planted = '', owner] of [
    [attacker.cookie(url, COOKIE), `user:${known}`],
    ['invented', undefined],
  ]) {
    t.not(planted, '');
    const browser = new SiteBrowser();
    // Another host of the domain can plant a cookie, which browsers then send with the answer of the provider, too.
    browser.plant(url, COOKIE, planted);
    const login = person({});
    await browser.signIn(`${url}/login/ops`, login);
    t.not(browser.cookie(url, COOKIE), planted);
    t.is(await operatorOf(browser), `user:${login}`);
    const other = new SiteBrowser();
    other.plant(url, COOKIE, planted);
    t.is(await operatorOf(other), owner, 'the planted one is nobody else');
  }
});

test('the host of a request becomes that of redirect_uri only where the service is known by it', async (t) => {
  const forwarded = { anyProxy: true, proxies: [], networks: [], limit: 1 };
  const named = { allowedHosts: ['ops.example', '*.inner.example'], forwarded };
  const callbackUrl = 'https://ops.example';
  for (const [settings, hosts] of [
    [
      {},
      [
        ['localhost:1', 'http://localhost:1'],
        ['[::1]', 'http://[::1]'],
        ['evil.example', undefined],
        ['localhost.evil.example', undefined],
        ['evil.example/localhost', undefined],
        ['localhost@evil.example', undefined],
        ['127.0.0.1.evil.example', undefined],
      ],
    ],
    [{ forwarded }, [['evil.example', undefined]]],
    [
      named,
      [
        ['ops.example', 'http://ops.example'],
        ['a.inner.example:8443', 'http://a.inner.example:8443'],
        ['evil.example', undefined],
        ['evil.example?.inner.example', undefined],
      ],
    ],
    [{ callbackUrl, forwarded }, [['evil.example', callbackUrl]]],
  ] as const) {
    const { port } = await fixture(t, settings);
    for (const [host, base] of hosts) {
      const headers = 'forwarded' in settings ? { 'X-Forwarded-Host': host } : { Host: host };
      const name = `${JSON.stringify(settings)} ${host}`;
      const answer = await ask(port, 'GET', { path: '/login/ops', headers });
      if (base === undefined) {
        t.deepEqual([answer.status, codeOf(answer)], [400, 'host.not-allowed'], name);
        for (const path of ['/login/ops/callback?code=a&state=b', '/login/ops/metadata'])
          t.is(codeOf(await ask(port, 'GET', { path, headers })), 'host.not-allowed', `${name} ${path}`);
      } else {
        const to = new URL(String(answer.headers['location'])).searchParams.get('redirect_uri');
        t.is(to, `${base}/login/ops/callback`, name);
      }
    }
  }
  // The session ends all the same.
  const { port } = await fixture(t);
  const left = await ask(port, 'POST', { path: '/api/auth/logout', headers: { Host: 'evil.example' } });
  t.deepEqual([left.status, left.headers['location']], [302, '/login']);
});
