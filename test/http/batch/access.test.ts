import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '@sealwright/runtime/testing';
import test, { type ExecutionContext } from 'ava';
import { systemClock } from '#runtime/model/clock.js';
import { systemIds } from '#runtime/model/ids.js';
import { SimulatedClock } from '#runtime/testing/simulated-clock.js';
import {
  ACCESS_SCOPES,
  type AccessScope,
  accessOf,
  OPERATOR_ROLES,
  type OperatorRole,
  ROLE_SCOPES,
} from '../../../contracts/batch/access.ts';
import { readKeyFile } from '../../../http/core/access/access-files.ts';
import { mayDo } from '../../../http/core/access/permission.ts';
import { memorySessionKeys, openSessionKeyRing } from '../../../http/core/access/session-keys.ts';
import { createSessions } from '../../../http/core/access/sessions.ts';
import { FolderObjects } from '../../actors/shared/objects/folder-objects.ts';
import { reached } from '../../project/waiting.ts';

import { ask, codeOf } from '../ask.ts';
import { batchTable } from '../descriptions.ts';
import { KEY, recorder, startServer, type TestServer } from '../harness.ts';

const HOUR = 3_600_000;
const ROUTES = batchTable().filter(({ auth }) => auth !== 'anonymous');
const nameOf = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`;

/** Written apart from the decisions. An operation that stands nowhere fails the test. */
const EXPECTED: { readonly [scope in AccessScope | 'any']: readonly RegExp[] } = {
  any: [/^GET \/api\/whoami$/, /^GET \/(?!api\/)/],
  read: [
    /^GET \/api\/(?:jobs|operations)(?:\/\{id\}(?:\/output)?)?$/,
    /^GET \/api\/(?:events|folders|profiles|failures|metrics|changes|runtime|actor-kinds\/\{kind\})$/,
    /^GET \/api\/(?:statistics(?:\/series)?|pipeline\/state|actors(?:\/\{kind\}\/\{id\})?)$/,
    /^GET \/api\/(?:portal\/(?:activity|keys)|mails(?:\/\{id\})?|webhooks\/(?:deliveries|portal))$/,
    /^GET \/api\/webhooks\/portal\/\{organizationId\}\/deliveries$/,
    /^POST \/api\/validate$/,
  ],
  submit: [/^POST \/api\/files$/],
  operate: [
    /^POST \/api\/jobs\/(?:\{id\}\/)?(?:retry|cancel)$/,
    /^DELETE \/api\/jobs$/,
    /^POST \/api\/(?:operations(?:\/\{id\}\/cancel)?|pipeline\/(?:pause|resume)|rescan|cleanup)$/,
    /^POST \/api\/(?:actors\/\{kind\}\/\{id\}\/restart|mails\/(?:\{id\}\/)?resend|webhooks\/replay)$/,
    /^POST \/api\/webhooks\/(?:portal\/\{organizationId\}\/)?deliveries\/\{id\}\/resend$/,
  ],
  administer: [
    /^(?:GET|POST) \/api\/keys$/,
    /^POST \/api\/keys\/\{name\}\/(?:rotate|revoke)$/,
    /^POST \/api\/runtime\/nodes\/\{id\}\/drain$/,
    /^GET \/api\/mails\/\{id\}\/(?:text|html)$/,
  ],
};
/** Roles that have each scope. */
const ROLES: { readonly [scope in AccessScope]: readonly OperatorRole[] } = {
  read: ['viewer', 'operator', 'administrator'],
  submit: ['operator', 'administrator'],
  operate: ['operator', 'administrator'],
  administer: ['administrator'],
};
/** Operations that apply the bounds of a key themselves. */
const WITHIN_BOUNDS =
  /^(?:GET|POST) \/(?!api\/)|^(?:GET \/api\/(?:whoami|jobs(?:\/\{id\}(?:\/output)?)?)|POST \/api\/(?:files|validate|rescan|jobs\/\{id\}\/(?:retry|cancel)))$/;

function expected(name: string): AccessScope | 'any' {
  const scopes = (Object.keys(EXPECTED) as (keyof typeof EXPECTED)[]).filter((scope) =>
    EXPECTED[scope].some((pattern) => pattern.test(name)),
  );
  if (scopes.length !== 1) throw new Error(`${name}: decided ${scopes.length} times`);
  return scopes[0] as AccessScope;
}

interface CreatedKey {
  readonly secret: string;
  readonly key: {
    readonly name: string;
    readonly lastUsedAt: string | null;
    readonly secrets: readonly unknown[];
  };
}

async function post<Answer>({ call }: TestServer, path: string, body: object = {}): Promise<Answer> {
  const answer = await call(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

const makeKey = (server: TestServer, body: object) => post<CreatedKey>(server, '/api/keys', body);
const withKey = (secret: string) => ({ 'X-API-Key': secret, 'Content-Type': 'application/json' });

test('each operation is decided, and each role may do what its scopes permit', (t) => {
  for (const route of ROUTES) {
    const name = nameOf(route);
    const scope = expected(name);
    const access = accessOf(route);
    t.is(access?.scope, scope, name);
    if (access === undefined) continue;
    for (const role of OPERATOR_ROLES)
      t.is(
        mayDo({ scopes: ROLE_SCOPES[role] }, access),
        scope === 'any' || ROLES[scope].includes(role),
        `${name} ${role}`,
      );
    t.is(mayDo({ profiles: ['invoices'] }, access), WITHIN_BOUNDS.test(name), `${name}, bound`);
  }
});

test('a key reaches the operations of its scopes and no other', async (t) => {
  const server = await startServer(t);
  for (const scope of ACCESS_SCOPES) {
    const { secret } = await makeKey(server, { name: `only-${scope}`, scopes: [scope] });
    for (const route of ROUTES) {
      const name = nameOf(route);
      if (name === 'GET /api/metrics') continue; // served where metrics are kept
      const path = route.path.replace(/\{\w+\}/g, 'x');
      const answer = await ask(server.port, route.method, { path, headers: withKey(secret) });
      const needed = expected(name);
      const isRefused = answer.status === 403 && codeOf(answer) === 'auth.forbidden';
      t.is(isRefused, needed !== 'any' && needed !== scope, `${name} with ${scope}: ${answer.status}`);
    }
  }
});

test('the session of a person reaches what its role permits, and is named by the person', async (t) => {
  const sessionKeys = memorySessionKeys();
  const server = await startServer(t, {}, systemClock, { sessionKeys });
  const parts = { clock: systemClock, ids: systemIds, log: recorder([]) };
  const sessions = createSessions({
    ring: openSessionKeyRing(sessionKeys, parts),
    ended: server.service.access.ended,
    lifetime: HOUR,
    apiKey: KEY,
    ...parts,
  });
  for (const role of OPERATOR_ROLES) {
    const person = { role, key: 'k', since: systemClock.now() };
    const Cookie = `batch-auth=${sessions.issue('ana@example.com', undefined, person)}`;
    const who = JSON.parse(
      (await ask(server.port, 'GET', { path: '/api/whoami', headers: { Cookie } })).text,
    );
    t.deepEqual(who, { operator: 'ana@example.com', scheme: 'Cookie', role, scopes: [...ROLE_SCOPES[role]] });
    for (const route of ROUTES) {
      const name = nameOf(route);
      if (name === 'GET /api/metrics') continue; // served where metrics are kept
      const path = route.path.replace(/\{\w+\}/g, 'x');
      const headers = { Cookie, 'Content-Type': 'application/json' };
      const answer = await ask(server.port, route.method, { path, headers });
      const needed = expected(name);
      const isRefused = answer.status === 403 && codeOf(answer) === 'auth.forbidden';
      t.is(
        isRefused,
        needed !== 'any' && !ROLES[needed].includes(role),
        `${name} as ${role}: ${answer.status}`,
      );
    }
  }
  const { items } = await server.service.events.list({ kinds: ['RescanCompleted'], page: 1, pageSize: 1 });
  t.is(items[0]?.actor, 'ana@example.com');
});

test('a key is shown once, counted as its own caller, rotated with two valid secrets, and revoked', async (t) => {
  const clock = new SimulatedClock();
  const store = new MemoryStore();
  const server = await startServer(t, {}, clock, { store });
  const stored = async () => (await store.actors({ kind: 'access-key', limit: 9 }))[0];
  const { secret } = await makeKey(server, { name: 'billing', scopes: ['operate', 'read'] });
  t.regex(secret, /^swk_[0-9a-f]{16}_[\w-]{43}$/);
  t.false(JSON.stringify(await stored()).includes(secret.slice(-43)));
  const who = await ask(server.port, 'GET', { path: '/api/whoami', headers: withKey(secret) });
  t.deepEqual(JSON.parse(who.text), {
    operator: 'key:billing',
    scheme: 'ApiKey',
    scopes: ['operate', 'read'],
  });
  const list = async () => (await server.call('/api/keys')).text();
  const lastUse = async () =>
    (JSON.parse(await list()) as { items: readonly CreatedKey['key'][] }).items[0]?.lastUsedAt ?? null;
  await reached(async () => (await lastUse()) !== null);
  const listed = await list();
  t.false(listed.includes('sha256') || listed.includes(secret));
  const first = await lastUse();
  const revision = (await stored())?.revision;
  clock.advance(599_000);
  await ask(server.port, 'GET', { path: '/api/whoami', headers: withKey(secret) });
  t.is((await stored())?.revision, revision, 'at most once in ten minutes');
  clock.advance(1_000);
  await ask(server.port, 'GET', { path: '/api/whoami', headers: withKey(secret) });
  await reached(async () => (await lastUse()) !== first);
  const next = await post<CreatedKey>(server, '/api/keys/billing/rotate', { overlapHours: 1 });
  t.is(next.key.secrets.length, 2);
  const status = async (given: string) =>
    (await ask(server.port, 'GET', { path: '/api/whoami', headers: withKey(given) })).status;
  t.deepEqual([await status(secret), await status(next.secret)], [200, 200]);
  clock.advance(HOUR);
  t.deepEqual([await status(secret), await status(next.secret)], [401, 200]);
  t.is(await status(`${next.secret.slice(0, -1)}${next.secret.endsWith('A') ? 'B' : 'A'}`), 401);
  const revoked = await server.call('/api/keys/billing/revoke', { method: 'POST' });
  t.is(revoked.status, 200);
  t.is(await status(next.secret), 401);
  t.is(await stored(), undefined);
  const events = await server.service.events.list({ kinds: ['KeyChanged'], page: 1, pageSize: 9 });
  t.is(events.totalCount, 3);
});

test('keys of a file of an earlier version are taken over once: none that was changed later comes back', async (t) => {
  const secrets = ['a', 'b'].map((letter) => `swk_${letter.repeat(16)}_${letter.repeat(43)}`) as [
    string,
    string,
  ];
  const file = readKeyFile(
    JSON.stringify({
      version: 1,
      keys: secrets.map((secret, at) => ({
        id: secret.slice(4, 20),
        name: `key-${at}`,
        scopes: ['read'],
        profiles: null,
        folders: null,
        expiresAt: null,
        rateLimit: null,
        createdAt: 5,
        createdBy: 'operator',
        secrets: [{ sha256: hash('sha256', secret), createdAt: 5, expiresAt: null }],
      })),
    }),
  );
  const ended = [{ id: 'e'.repeat(24), until: systemClock.now() + HOUR }];
  const store = new MemoryStore();
  const start = () => startServer(t, {}, systemClock, { store, batch: { fromFiles: { keys: file, ended } } });
  const statuses = ({ port }: TestServer, given: readonly string[]) =>
    Promise.all(
      given.map(
        async (key) => (await ask(port, 'GET', { path: '/api/whoami', headers: withKey(key) })).status,
      ),
    );
  const first = await start();
  t.deepEqual(await statuses(first, secrets), [200, 200]);
  t.true(first.service.access.ended.has('e'.repeat(24)));
  const next = await post<CreatedKey>(first, '/api/keys/key-0/rotate', { overlapHours: 0 });
  await post(first, '/api/keys/key-1/revoke');
  const second = await start();
  t.deepEqual(await statuses(second, [...secrets, next.secret]), [401, 401, 200]);
  const { secret } = await makeKey(second, { name: 'key-1', scopes: ['read'] });
  t.deepEqual(await statuses(await start(), [secret, secrets[1]]), [200, 401]);
});

test('an expired key is refused, and keys give neither scopes that they lack nor a longer life', async (t) => {
  const clock = new SimulatedClock();
  const server = await startServer(t, {}, clock);
  const end = clock.now() + HOUR;
  const expiresAt = new Date(end).toISOString();
  const { secret } = await makeKey(server, { name: 'maker', scopes: ['administer', 'read'], expiresAt });
  const make = async (body: object) =>
    ask(server.port, 'POST', { path: '/api/keys', headers: withKey(secret), body: JSON.stringify(body) });
  t.is((await make({ name: 'a', scopes: ['read'], expiresAt })).status, 200);
  for (const body of [
    { name: 'b', scopes: ['read'] },
    { name: 'b', scopes: ['read', 'submit'], expiresAt },
    { name: 'b', scopes: ['read'], expiresAt: new Date(end + 1000).toISOString() },
  ])
    t.is(codeOf(await make(body)), 'auth.forbidden', JSON.stringify(body));
  await makeKey(server, { name: 'strong', scopes: ['operate'], expiresAt });
  const rotated = await ask(server.port, 'POST', {
    path: '/api/keys/strong/rotate',
    headers: withKey(secret),
    body: '{}',
  });
  t.is(codeOf(rotated), 'auth.forbidden');
  t.is(codeOf(await make({ name: 'a', scopes: ['read'], expiresAt })), 'key.exists');
  clock.advance(HOUR);
  t.is(codeOf(await make({ name: 'c', scopes: ['read'], expiresAt })), 'auth.invalid-credentials');
});

test('a key with a limit of its own counts against it alone', async (t) => {
  const rateLimiting = {
    enabled: true,
    upload: { permits: 30, windowSeconds: 60 },
    actions: { permits: 60, windowSeconds: 60 },
  };
  const server = await startServer(t, { rateLimiting }, new SimulatedClock());
  const rateLimit = { permits: 70, windowSeconds: 60 };
  const { secret } = await makeKey(server, { name: 'fast', scopes: ['read'], rateLimit });
  const read = () => ask(server.port, 'GET', { path: '/api/pipeline/state', headers: withKey(secret) });
  for (let at = 0; at < 70; at += 1) t.is((await read()).status, 200);
  const refused = await read();
  t.deepEqual([refused.status, codeOf(refused)], [429, 'rate-limited']);
  t.is((await server.call('/api/pipeline/state')).status, 200);
});

test('a bound key sees and changes the jobs of its profiles alone', async (t) => {
  const server = await startServer(t);
  const { service, port } = server;
  const own = await service.add({ profile: 'invoices' });
  const other = await service.add();
  // Shared answers are kept by their query; a bound caller must not get that of another.
  const { version } = (await (await server.call('/api/changes')).json()) as { version: string };
  t.is(
    ((await (await server.call(`/api/jobs?version=${version}`)).json()) as { totalCount: number }).totalCount,
    2,
  );
  const { secret } = await makeKey(server, {
    name: 'bound',
    scopes: ['read', 'operate', 'submit'],
    profiles: ['invoices'],
  });
  const get = (path: string) => ask(port, 'GET', { path, headers: withKey(secret) });
  for (const path of ['/api/jobs', `/api/jobs?version=${version}`, '/api/jobs?profile=Invoices'])
    t.deepEqual(
      (JSON.parse((await get(path)).text) as { items: { id: string }[] }).items.map(({ id }) => id),
      [own.id],
      path,
    );
  t.is(codeOf(await get('/api/jobs?profile=default')), 'auth.forbidden');
  t.is((await get(`/api/jobs/${own.id}`)).status, 200);
  t.is(codeOf(await get(`/api/jobs/${other.id}`)), 'job.not-found');
  t.is(codeOf(await get(`/api/jobs/${other.id}/output`)), 'job.not-found');
  const cancel = (id: string) =>
    ask(port, 'POST', { path: `/api/jobs/${id}/cancel`, headers: withKey(secret), body: '{}' });
  t.is(codeOf(await cancel(other.id)), 'job.not-found');
  t.is((await cancel(own.id)).status, 200);
  t.is((await service.jobs.get(other.id)).status, 'Queued');
  const upload = async (query: string) => {
    const body = new FormData();
    body.set('file', new Blob(['%PDF-1.7']), 'a.pdf');
    const headers = { 'X-API-Key': secret };
    return fetch(`${server.url}/api/files${query}`, { method: 'POST', headers, body });
  };
  const refused = await upload('?profile=default');
  t.deepEqual([refused.status, ((await refused.json()) as { code: string }).code], [403, 'auth.forbidden']);
  const taken = (await (await upload('')).json()) as { jobId: string };
  t.is(String((await service.jobs.get(taken.jobId as typeof own.id)).profileName), 'invoices');
});

test('a download leads to the bucket where clients reach it, after the check of the key', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-objects-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const links: string[] = [];
  const link = async (key: string, { disposition }: { readonly disposition: string }) => {
    links.push(`${key} ${disposition}`);
    return 'https://bucket.example/output?signature';
  };
  const objects = Object.assign(new FolderObjects(folder), { link });
  const server = await startServer(t, {}, systemClock, { batch: { objects } });
  const { id } = await server.service.add();
  const { path } = await server.service.finish(id, Buffer.from('signed'), 'a.signed.pdf');
  await objects.put('batch/output/a.signed.pdf', { path, length: 6 });
  const get = (key: string) =>
    ask(server.port, 'GET', { path: `/api/jobs/${id}/output?redirect=true`, headers: withKey(key) });
  t.is((await get('wrong')).status, 401);
  const { secret } = await makeKey(server, { name: 'bound', scopes: ['read'], profiles: ['invoices'] });
  t.is(codeOf(await get(secret)), 'job.not-found');
  t.deepEqual(links, []);
  const answer = await get(KEY);
  t.is(answer.status, 302);
  t.is(answer.headers.location, 'https://bucket.example/output?signature');
  t.is(answer.headers['cache-control'], 'no-store');
  t.deepEqual(links, [
    'batch/output/a.signed.pdf attachment; filename="a.signed.pdf"; filename*=UTF-8\'\'a.signed.pdf',
  ]);
  const output = `/api/jobs/${id}/output`;
  const etag = `"${hash('sha256', 'signed')}"`;
  const known = await ask(server.port, 'GET', {
    path: `${output}?redirect=true`,
    headers: {
      ...withKey(KEY),
      'If-None-Match': etag,
    },
  });
  t.is(known.status, 304);
  for (const [method, path] of [
    ['HEAD', `${output}?redirect=true`],
    ['GET', output],
    ['GET', `${output}?redirect=false`],
  ] as const) {
    const sent = await ask(server.port, method, { path, headers: withKey(KEY) });
    t.is(sent.status, 200);
    t.is(sent.headers.etag, etag);
    t.is(sent.headers['content-length'], '6');
  }
  t.is(links.length, 1);
});

test('a key that is bound to folders rescans its own, and uploads nothing', async (t) => {
  const server = await startServer(t);
  const job = await server.service.add();
  const body = { name: 'bound', scopes: ['read', 'operate'], folders: ['default'] };
  const { secret } = await makeKey(server, body);
  const rescan = (query: string) =>
    ask(server.port, 'POST', { path: `/api/rescan${query}`, headers: withKey(secret) });
  t.is((await rescan('')).status, 200);
  t.is(codeOf(await rescan('?folder=other')), 'auth.forbidden');
  const { items } = await server.service.events.list({ kinds: ['RescanCompleted'], page: 1, pageSize: 1 });
  t.is(items[0]?.actor, 'key:bound');
  // The job was uploaded.
  t.is(
    codeOf(await ask(server.port, 'GET', { path: `/api/jobs/${job.id}`, headers: withKey(secret) })),
    'job.not-found',
  );
  for (const [wrong, member] of [
    [{ ...body, name: 'c', scopes: ['submit'] }, 'folders'],
    [{ ...body, name: 'c', folders: ['nowhere'] }, 'folders'],
    [{ name: 'c', scopes: ['read'], profiles: ['nowhere'] }, 'profiles'],
    [{ name: 'C!', scopes: ['read'] }, 'name'],
    [{ name: 'c', scopes: ['all'] }, 'scopes'],
  ] as const) {
    const answer = await server.call('/api/keys', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(wrong),
    });
    const { code, errors } = (await answer.json()) as { code: string; errors?: object };
    t.is(code, 'validation.body-invalid');
    t.deepEqual(Object.keys(errors ?? {}), [member]);
  }
});

test('events, histories and the log name the key that acted', async (t) => {
  const server = await startServer(t);
  const { service, port } = server;
  service.runEffects();
  const { secret } = await makeKey(server, { name: 'night', scopes: ['operate'] });
  const queued = await service.add();
  const failed = await service.add({ status: 'Failed' });
  const act = (path: string) => ask(port, 'POST', { path, headers: withKey(secret), body: '{}' });
  for (const path of [`/api/jobs/${queued.id}/cancel`, `/api/jobs/${failed.id}/retry`, '/api/pipeline/pause'])
    t.is((await act(path)).status, 200, path);
  const actors = async (id: typeof queued.id) =>
    (await service.jobs.get(id)).history.map(({ message, actor }) => `${message} ${actor ?? '-'}`);
  t.deepEqual((await actors(queued.id)).slice(-1), ['Operator canceled. key:night']);
  t.regex((await actors(failed.id)).at(-1) ?? '', /^Retried as job .* key:night$/);
  await recorded(t, server, 'PipelinePaused', ['key:night', 'Pipeline paused by operator.']);
  const logged = server.lines.find(({ properties }) => properties?.['Route'] === '/api/pipeline/pause');
  t.is(logged?.properties?.['Operator'], 'key:night');
  await server.call('/api/pipeline/resume', { method: 'POST' });
  await recorded(t, server, 'PipelineResumed', ['operator', 'Pipeline resumed by operator.']);
});

async function recorded(
  t: ExecutionContext,
  { service }: TestServer,
  kind: 'PipelinePaused' | 'PipelineResumed',
  wanted: readonly string[],
) {
  const list = async () => (await service.events.list({ kinds: [kind], page: 1, pageSize: 1 })).items[0];
  await reached(async () => (await list()) !== undefined);
  const found = await list();
  t.deepEqual([found?.actor, found?.message], [...wanted]);
}
