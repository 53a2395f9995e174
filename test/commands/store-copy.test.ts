/** `sealwright store copy` moves an installation to PostgreSQL and back. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@sealwright/runtime';
import { copyStore } from '@sealwright/runtime/copy';
import { openLmdbCopy, openLmdbStore } from '@sealwright/runtime/lmdb';
import { openPostgresCopy, openPostgresStore } from '@sealwright/runtime/postgres-parts';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import pg from 'pg';
import { effectText } from '#runtime/store/copy/copy-side.js';
import { SAMPLE } from '../actors/portal/service.ts';
import { type Cluster, startServer } from '../postgres/cluster.ts';
import { casesOf } from '../project/rounds.ts';
import { type Job, Service, temporaryRoot } from '../service/service.ts';
import { withTools } from '../verifiers/tool.ts';
import { freshFolder, run } from './program.ts';

const test = withTools(anyTest as TestFn<{ cluster: Cluster }>, 'postgres');
const SECRET = 'cd'.repeat(32);

test.before(async (t) => {
  t.context = { cluster: await startServer() };
});
test.after.always(async (t) => {
  await t.context.cluster?.remove();
});

function onCluster(
  title: string,
  check: (t: ExecutionContext<{ cluster: Cluster }>, url: string) => Promise<void>,
): void {
  test.serial(title, async (t) => {
    t.timeout(240_000);
    const { cluster } = t.context;
    await check(t, cluster.url);
  });
}

interface Report {
  readonly result: string;
  readonly written: number;
  readonly tables: readonly { readonly table: string; readonly records: number; readonly sha256: string }[];
}

async function copy(from: string, to: string, schema: string) {
  const words = ['store', 'copy', '--from', from, '--to', to, '--schema', schema, '--json'];
  const { code, out, err } = await run(freshFolder(), words);
  return { code, err, report: out === '' ? undefined : (JSON.parse(out) as Report) };
}

const PORTAL = {
  'Runtime:Store': 'lmdb',
  'Runtime:Shards': 1,
  'Portal:Enabled': true,
  // Nothing listens there, so that deliveries fail and wait for their next attempt.
  'Portal:Organizations:0:Name': 'Acme',
  'Portal:Organizations:0:Webhook:Url': 'http://127.0.0.1:9/',
  'Portal:Bootstrap:Organization': 'Acme',
  'Portal:Bootstrap:Application': 'App',
  'Portal:Bootstrap:Secret': SECRET,
};

async function portal<Body>(service: Service, path: string, body?: object): Promise<Body> {
  const isForm = body instanceof FormData;
  const answer = await fetch(`${service.portalUrl}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'X-Api-Key': `App|${SECRET}`,
      ...(!isForm && body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as Body;
}

interface Detail {
  readonly status: string;
  readonly flowActions: readonly { readonly id: string; readonly status: string }[];
}

/** Signs the action at `at` once it is its turn. */
async function sign(service: Service, id: string, at: number): Promise<void> {
  const action = await service.until(`action ${at} to be pending`, async () => {
    const found = (await portal<Detail>(service, `/api/documents/${id}`)).flowActions[at];
    return found?.status === 'Pending' ? found : undefined;
  });
  await portal(service, `/api/documents/${id}/electronic-signature`, { flowActionId: action.id });
}

/** Lists as clients see them. */
async function lists(
  service: Service,
): Promise<{ jobs: readonly Job[]; documents: unknown; events: unknown }> {
  return {
    jobs: await service.jobs(),
    documents: await portal(service, '/api/documents'),
    events: (await service.json<{ items: unknown[] }>('/api/events?kind=PipelinePaused')).items,
  };
}

onCluster('an installation moves to PostgreSQL, continues there, and moves back', async (t, url) => {
  const root = await temporaryRoot(t);
  const db = join(root, 'db');
  const onLmdb = await Service.startOne(t, { root, settings: PORTAL });
  for (const name of ['one.txt', 'two.txt']) await onLmdb.finished((await onLmdb.upload(name, name)).jobId);
  await onLmdb.json('/api/pipeline/pause', { method: 'POST' });
  const queued = [await onLmdb.upload('three.txt', 'three'), await onLmdb.upload('four.txt', 'four')];
  const form = new FormData();
  form.set('content', new Blob([new Uint8Array(SAMPLE.content)], { type: SAMPLE.type }), SAMPLE.name);
  const upload = await portal<{ id: string }>(onLmdb, '/api/uploads', form);
  const signer = (name: string, step: number) => ({
    type: 'Signer',
    step,
    allowElectronicSignature: true,
    user: { name, email: `${name}@example.com`, identifier: name },
  });
  const [made] = await portal<{ documentId: string }[]>(onLmdb, '/api/documents', {
    files: [{ ...upload, displayName: SAMPLE.name }],
    flowActions: [signer('ann', 1), signer('bob', 2)],
  });
  const documentId = made?.documentId ?? '';
  await sign(onLmdb, documentId, 0);
  await onLmdb.until('the turn of the second signer', async () => {
    const { flowActions } = await portal<Detail>(onLmdb, `/api/documents/${documentId}`);
    return flowActions[1]?.status === 'Pending' ? true : undefined;
  });
  const running = await copy(db, url, 'moved');
  t.is(running.code, 3);
  t.regex(running.err, new RegExp(`is in use by process ${onLmdb.pid}`));
  const before = await lists(onLmdb);
  t.is(await onLmdb.stop(), 0);

  const there = await copy(db, url, 'moved');
  t.is(there.code, 0, there.err);
  t.is(there.report?.result, 'copied');
  // Effects are done by the end of the service; the copy below has some.
  for (const { table, records } of there.report?.tables ?? [])
    t.true(records > 0 || table === 'effects', table);
  const again = await copy(db, url, 'moved');
  t.like(again, { code: 0, report: { result: 'unchanged', written: 0, tables: there.report?.tables } });
  const verified = async (...words: string[]) => {
    const { code, out } = await run(freshFolder(), ['verify-history', `--Storage:Root=${root}`, ...words]);
    t.is(code, 0, out);
  };
  await verified(
    '--Runtime:Store=postgres',
    `--Runtime:Postgres:Url=${url}`,
    '--Runtime:Postgres:Schema=moved',
  );

  const settings = {
    ...PORTAL,
    'Runtime:Store': 'postgres',
    'Runtime:Postgres:Url': url,
    'Runtime:Postgres:Schema': 'moved',
    'Runtime:NodeName': 'moved-node',
  };
  const onPostgres = await Service.startOne(t, { root, settings });
  t.deepEqual(await lists(onPostgres), before);
  const living = await copy(url, join(freshFolder(), 'db'), 'moved');
  t.is(living.code, 3);
  t.regex(living.err, /The service runs on .*"moved-node"/);
  await onPostgres.json('/api/pipeline/resume', { method: 'POST' });
  for (const { jobId } of queued) t.is((await onPostgres.finished(jobId)).status, 'Completed');
  await sign(onPostgres, documentId, 1);
  await onPostgres.until('the document to be concluded', async () => {
    const { status } = await portal<Detail>(onPostgres, `/api/documents/${documentId}`);
    return status === 'Concluded' ? true : undefined;
  });
  const after = await lists(onPostgres);
  t.is(await onPostgres.stop(), 0);

  const old = await copy(url, db, 'moved');
  t.is(old.code, 3, 'the earlier state is not overwritten');
  t.regex(old.err, /another installation, or another state .*\(remove the folder/);
  const moved = await temporaryRoot(t);
  const back = await copy(url, join(moved, 'db'), 'moved');
  t.is(back.code, 0, back.err);
  const third = await copy(join(moved, 'db'), url, 'third');
  t.deepEqual(third.report?.tables, back.report?.tables);

  // The files stay where they are; only the folder of the store is another one.
  rmSync(db, { recursive: true });
  cpSync(join(moved, 'db'), db, { recursive: true });
  await verified();
  const home = await Service.startOne(t, { root, settings: PORTAL });
  t.deepEqual(await lists(home), after);
  t.is(await home.stop(), 0);
});

/** Writes a store of many rows and journal lines, and effects of each form. */
async function writeStore(folder: string, rows: number): Promise<void> {
  const store = openLmdbCopy(folder, 'target');
  const value = JSON.stringify('x'.repeat(300));
  const number = Array.from({ length: rows }, (_, at) => at);
  await store.write(
    'journal',
    number.map((at) => ({ key: ['lamp', 'a', at + 1], value })),
  );
  await store.write(
    'rows',
    number.map((at) => ({ key: ['lamps', at - 5, 'é'], value })),
  );
  const effect = (lane: string | undefined, failures: number) =>
    effectText({
      dueAt: 5,
      lane,
      failures,
      lastError: failures > 0 ? 'lost\0' : null,
      effect: { do: 'light' },
    });
  await store.write('effects', [
    { key: ['lamp', 'a/b', 1, 0], value: effect(undefined, 0) },
    { key: ['lamp', 'a/b', 2, 0], value: effect('calls:1', 0) },
    { key: ['lamp', 'a/b', 10, 0], value: effect('calls:1', 2) },
    { key: ['lamp', 'é', 1, 1], value: effect(undefined, 3) },
  ]);
  await store.close();
}

/** A copy that kills itself after so many records: one that is killed from outside may have ended before. */
async function killed(
  t: ExecutionContext<{ cluster: Cluster }>,
  from: string,
  to: string,
  records: number,
): Promise<void> {
  const worker = fileURLToPath(new URL('./copy-worker.js', import.meta.url));
  const child = spawn(process.execPath, [worker, from, to, 'cut', String(records)], { stdio: 'inherit' });
  t.is((await once(child, 'exit'))[1], 'SIGKILL');
}

onCluster('a killed copy is continued, and no service opens a partial copy', async (t, url) => {
  const ROWS = 30_000;
  const source = join(await temporaryRoot(t), 'db');
  await writeStore(source, ROWS);
  await killed(t, source, url, 2_000);
  const settings = { 'Runtime:Store': 'postgres', 'Runtime:Postgres:Url': url };
  const root = await temporaryRoot(t);
  const refused = await t.throwsAsync(
    Service.startOne(t, { root, settings: { ...settings, 'Runtime:Postgres:Schema': 'cut' } }),
  );
  t.regex(refused?.message ?? '', /ended with 3[\s\S]*target of a copy that is not finished/);
  const other = join(await temporaryRoot(t), 'db');
  await writeStore(other, 10);
  const foreign = await copy(other, url, 'cut');
  t.is(foreign.code, 3);
  t.regex(foreign.err, /holds a part of a copy of .*DROP SCHEMA cut CASCADE/);
  const rest = await copy(source, url, 'cut');
  t.is(rest.code, 0, rest.err);
  t.is(rest.report?.result, 'resumed');
  t.true((rest.report?.written ?? 0) < 2 * ROWS);

  const target = join(await temporaryRoot(t), 'db');
  await killed(t, url, target, ROWS + 1_000);
  const lmdb = { 'Runtime:Store': 'lmdb', 'Runtime:Shards': 1 };
  const unopened = await t.throwsAsync(Service.startOne(t, { root: join(target, '..'), settings: lmdb }));
  t.regex(unopened?.message ?? '', /ended with 3[\s\S]*target of a copy that is not finished/);
  const back = await copy(url, target, 'cut');
  t.is(back.code, 0, back.err);
  t.is(back.report?.result, 'resumed');
  t.deepEqual(back.report?.tables, rest.report?.tables);
  const opened = openLmdbStore({ folder: target });
  t.is(await opened.failedEffectCount(), 2);
  t.deepEqual(
    (await opened.leaseEffects(5, 9)).map(({ key }) => key),
    ['lamp/a/b/1/0', 'lamp/é/1/1'],
  );
  t.deepEqual(
    (await opened.leaseEffects(5, 9, 'calls:1')).map(({ lastError }) => lastError),
    [null, 'lost\0'],
  );
  await opened.close();
});

onCluster('a missing store is not created, and a password is not printed', async (t, url) => {
  const folder = freshFolder();
  const missing = await copy(folder, url, 'none');
  t.is(missing.code, 3);
  t.regex(missing.err, /There is no store in/);
  const secret = url.replace('sealwright@', 'sealwright:top-secret@');
  const unknown = await copy(secret, join(folder, 'db'), 'none');
  t.is(unknown.code, 3);
  t.regex(unknown.err, /There is no store in PostgreSQL at/);
  const wrong = await copy('mysql://user:top-secret@host/db', folder, 'none');
  t.is(wrong.code, 2);
  const same = await copy(url, secret, 'none');
  t.is(same.code, 2);
  const closed = await copy('postgres://user:top-secret@127.0.0.1:1/db', folder, 'none');
  t.is(closed.code, 3);
  const misspelt = casesOf(
    [
      'postgres:/user:top-secret@host/db',
      ' postgres://user:top-secret@host:x/db',
      'postgresq:/user:top-secret@host/db',
      '"postgres://user:top-secret@host/db"',
    ],
    [
      'postgres:user:top-secret@host',
      'POSTGRES:/user:top-secret@host/db',
      'postgres:///user:top-secret@host/db',
    ],
  );
  const refused = [];
  for (const [at, text] of misspelt.entries())
    refused.push(await (at % 2 === 0 ? copy(text, folder, 'none') : copy(folder, text, 'none')));
  t.deepEqual(new Set(refused.map(({ code }) => code)), new Set([2]));
  t.deepEqual(readdirSync(folder), [], 'no folder was made');
  for (const { err } of [unknown, wrong, same, closed, ...refused]) t.notRegex(err, /top-secret/);
});

onCluster('reading commands refuse a partial copy with a remedy', async (t, url) => {
  const root = await temporaryRoot(t);
  const parts = [
    { side: openLmdbCopy(join(root, 'db'), 'target'), settings: [`--Storage:Root=${root}`] },
    {
      side: await openPostgresCopy({ url, schema: 'part' }, 'target', systemClock),
      settings: [
        `--Storage:Root=${root}`,
        '--Runtime:Store=postgres',
        `--Runtime:Postgres:Url=${url}`,
        '--Runtime:Postgres:Schema=part',
      ],
    },
  ];
  for (const { side, settings } of parts) {
    await side.begin({ source: 'elsewhere', digest: '' });
    await side.write('rows', [{ key: ['lamps', 1], value: '{}' }]);
    await side.close();
    const backup = join(freshFolder(), 'new');
    const isLmdb = settings.length === 1;
    for (const words of [['verify-history'], ['jobs', 'export'], ...(isLmdb ? [['backup', backup]] : [])]) {
      const { code, out, err } = await run(freshFolder(), [...words, ...settings]);
      t.is(`${code} ${out}`, '3 ', words.join(' '));
      t.regex(err, /target of a copy that is not finished\. Repeat "sealwright store copy"/, words.join(' '));
    }
    if (isLmdb) t.deepEqual(readdirSync(backup), [], 'nothing is left in it');
    const { out } = await run(freshFolder(), ['doctor', '--json', ...settings]);
    const { checks } = JSON.parse(out) as { checks: { name: string; verdict: string; says: string }[] };
    const historyCheck = checks.find(({ name }) => name === 'history');
    t.is(historyCheck?.verdict, 'failed');
    t.regex(historyCheck?.says ?? '', /target of a copy that is not finished/);
  }
});

onCluster('services and further copies are refused during a copy', async (t, url) => {
  const store = { url, schema: 'busy' };
  const made = await openPostgresCopy(store, 'target', systemClock);
  const quiet = () => {};
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const service = { ...store, clock: systemClock, log, node: 'a', leaseSeconds: 5, statementTimeoutMs: 2000 };
  const locked = { code: 'store.locked', message: /store copy" has locked the schema "busy"/ };
  await t.throwsAsync(openPostgresStore(service), locked);
  for (const role of ['source', 'target'] as const)
    await t.throwsAsync(openPostgresCopy(store, role, systemClock), locked);
  await made.close();
  await (await openPostgresStore(service)).close();
});

onCluster('a copy killed while it wrote its marker starts again', async (t, url) => {
  const target = await openPostgresCopy({ url, schema: 'early' }, 'target', systemClock);
  const source = openLmdbCopy(freshFolder(), 'target');
  const client = new pg.Client({ connectionString: url });
  t.teardown(async () => {
    await Promise.all([target.close(), source.close(), client.end()]);
  });
  await client.connect();
  await client.query(
    'CREATE TABLE early.copy_in_progress (only_row boolean PRIMARY KEY DEFAULT true, source text, digest text)',
  );
  t.is((await copyStore(source, target, () => {})).result, 'copied');
  t.is(await target.marker(), undefined);
});

onCluster('a copy with a lost connection reports that the database is unavailable', async (t, url) => {
  const target = await openPostgresCopy({ url, schema: 'lost' }, 'target', systemClock);
  const client = new pg.Client({ connectionString: url });
  t.teardown(async () => {
    await Promise.all([target.close(), client.end()]);
  });
  await client.connect();
  await target.begin({ source: 'elsewhere', digest: '' });
  const { rows } = await client.query<{ ended: boolean }>(
    `SELECT pg_terminate_backend(pid, 10000) AS ended FROM pg_locks
      WHERE relation = 'lost.sessions'::regclass AND mode = 'ExclusiveLock'`,
  );
  t.deepEqual(rows, [{ ended: true }]);
  await t.throwsAsync(target.finish(), { code: 'store.unavailable' });
  t.like(await target.marker(), { source: 'elsewhere' }, 'the target stays unfinished');
});
