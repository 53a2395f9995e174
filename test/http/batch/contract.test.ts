import test from 'ava';
import { REFUSALS } from '../../../contracts/batch/refusals.ts';

import { ask, codeOf } from '../ask.ts';
import { batchTable } from '../descriptions.ts';
import { startServer } from '../harness.ts';
import { ADDED, ADDED_CODES, CODES, DOCUMENTED, PLATFORM_CODES, PROVIDER_LOGIN } from './contract.ts';

const nameOf = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`;
const routes = new Map(batchTable().map((route) => [nameOf(route), route]));
const POLICIES = {
  anonymous: 'anonymous',
  authorized: 'operator',
  metrics: 'operator',
  page: 'page',
} as const;
const documented = new Set(DOCUMENTED.map(({ name }) => name));

for (const row of DOCUMENTED) {
  test(`${row.name} is served as the document describes`, (t) => {
    const route = routes.get(row.name);
    t.is(route?.auth, POLICIES[row.access]);
    t.is(route?.rate, row.rate);
    for (const status of row.success) t.true(Object.hasOwn(route?.responses ?? {}, status), `${status}`);
    for (const code of row.codes) t.true(route?.refusals.some((known) => known === code) ?? false, code);
  });
}

test('every served operation is in the document or among the known additions', (t) => {
  const beyond = [...routes.keys()].filter((name) => !documented.has(name));
  t.deepEqual(
    beyond.filter((name) => !ADDED.some((pattern) => pattern.test(name))),
    [],
  );
});

test('the five anonymous endpoints, the icon and logins at providers alone are served without credentials', async (t) => {
  const { port } = await startServer(t);
  const anonymous = DOCUMENTED.filter(({ access }) => access === 'anonymous').map(({ name }) => name);
  t.is(anonymous.length, 5);
  for (const [name, { method, path, auth }] of routes) {
    const answer = await ask(port, method, { path: path.replace(/\{\w+\}/g, 'x') });
    // Compares the route table with the server's behaviour.
    const isLogin = PROVIDER_LOGIN.includes(name);
    t.is(auth === 'anonymous', anonymous.includes(name) || name === 'GET /favicon.ico' || isLogin, name);
    if (name === 'GET /api/metrics' && answer.status === 404) continue; // served where metrics are kept
    if (name === 'POST /api/auth/login') {
      // Its own 401 concerns the key in the form.
      t.is(codeOf(answer), 'auth.invalid-credentials');
    } else if (isLogin) {
      // There is no provider of that name.
      t.is(codeOf(answer), 'route.not-found', name);
    } else if (auth === 'anonymous') {
      t.true([200, 302, 503].includes(answer.status), name);
    } else if (auth === 'page') {
      const wanted = encodeURIComponent(path.replace(/\{\w+\}/g, 'x'));
      t.deepEqual([answer.status, answer.headers.location], [302, `/login?ReturnUrl=${wanted}`], name);
    } else {
      t.deepEqual([answer.status, codeOf(answer)], [401, 'auth.invalid-credentials'], name);
      t.is(answer.headers['www-authenticate'], 'ApiKey header="X-API-Key"');
    }
  }
});

test('the table of codes equals the document and the additions, status by status', (t) => {
  const statuses = Object.fromEntries(Object.entries(REFUSALS).map(([code, { status }]) => [code, status]));
  t.deepEqual(statuses, { ...CODES, ...ADDED_CODES });
});

test('every code is answered by some route or before routing', (t) => {
  const refused = new Set<string>([...routes.values()].flatMap(({ refusals }) => refusals));
  for (const [code, { status }] of Object.entries(REFUSALS)) {
    if (status === null) t.false(refused.has(code), `${code} is only recorded`);
    else t.true(refused.has(code) || PLATFORM_CODES.includes(code), code);
  }
});

test('the rate-limited endpoints are those of the document, and of the added ones those that change something or accept a file', (t) => {
  for (const [name, { method, rate }] of routes) {
    if (documented.has(name)) continue;
    // All calls of a logout come from the provider: one of many people at once must end all their sessions. Answers of
    // providers have a limit of their own for each network.
    if (name === 'POST /login/{name}/logout' || name === 'POST /login/{name}/acs') {
      t.is(rate, 'none');
      continue;
    }
    t.is(rate, name === 'POST /api/validate' ? 'upload' : method === 'GET' ? 'none' : 'actions', name);
  }
});
