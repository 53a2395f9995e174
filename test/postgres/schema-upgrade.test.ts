/** A store in the schema of version 1, as a node of this version finds it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ActorStore, systemClock } from '@sealwright/runtime';
import { openPostgresStore } from '@sealwright/runtime/postgres-parts';
import ava, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { SCHEMA_VERSION } from '#runtime/model/store-formats.js';
import { SCHEMA_UPGRADES } from '#runtime/store/postgres/schema.js';
import { SILENT } from '../actors/portal/uploads/upload-harness.ts';
import { A, B, effectOf, stepOf } from '../contract/steps.ts';
import { temporaryRoot } from '../service/service.ts';
import { withTools } from '../verifiers/tool.ts';
import { startServer } from './cluster.ts';

const test = withTools(ava, 'postgres');

/** Folder of the compiled program. */
const BUILD = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** Tables of version 1 whose content a node keeps, with their columns of that version. */
const VERSION_1 = {
  actors: 'key, revision, body',
  journal: 'actor, id, line',
  rows: 'key, value',
  names: 'name, holder',
  counters: 'name, value',
  counter_deltas: 'name, delta',
  effects: 'key, queue, due, failures, last_error, body, lease',
  timers: 'key, due, body',
} as const;

const LATER = 4_000_000_000_000;
const TEXT = 'ä\u0000😀';

/** Commits steps that leave something in each table. */
async function fill(store: ActorStore): Promise<void> {
  const line = (id: number) => ({ id, at: id, state: 'Queued', message: `line ${id} ${TEXT}`, cause: 'X' });
  const steps = [
    stepOf(
      A,
      0,
      {
        journal: [line(1), line(2)],
        effects: [
          effectOf(A, 1, 0, 5),
          { ...effectOf(A, 1, 1, 7), partition: 'queue/one' },
          effectOf(A, 1, 2, LATER),
        ],
        timers: {
          arm: [
            { name: 'soon', due: 3, event: { type: 'SOON' } },
            { name: 'late', due: LATER, event: { type: 'LATE' } },
          ],
          disarm: [],
        },
        rows: { put: [{ view: 'v', key: ['x', -1.5], value: { text: TEXT } }], remove: [] },
        names: { take: ['name-a'], release: [] },
        counters: { c: 2 },
      },
      { context: { text: TEXT, list: [1, null, true] }, journalLength: 2 },
    ),
    stepOf(B, 0, {
      journal: [line(1)],
      rows: {
        put: [
          { view: 'v', key: ['x', 2], value: 2 },
          { view: 'w', key: [], value: null },
        ],
        remove: [],
      },
      names: { take: ['name-b'], release: [] },
      counters: { c: 1, d: 5 },
    }),
    stepOf(A, 1, { counters: { c: -1 } }, { state: 'Signing', context: { text: TEXT }, journalLength: 2 }),
  ];
  for (const step of steps) if (!(await store.commit(step)).ok) throw new Error('A step was refused.');
  const [failing] = await store.leaseEffects(6, 1);
  await store.deferEffect(failing?.key ?? '', LATER - 1, 'no answer');
}

/** Everything that each node reads, whichever of them has the effects and timers. */
async function content(store: ActorStore) {
  const actors = [A, B];
  return {
    loaded: await Promise.all(actors.map((actor) => store.load(actor))),
    listed: await store.actors({ kind: 'job', limit: 9 }),
    journals: await Promise.all(actors.map((actor) => store.journal(actor))),
    rows: await Promise.all(['v', 'w'].map((view) => store.rows({ view, limit: 9 }))),
    counters: await store.counters(''),
    holders: await Promise.all(['name-a', 'name-b'].map((name) => store.holder(name))),
    effects: (await Promise.all(actors.map((actor) => store.pendingEffects(actor))))
      .flat()
      .map(({ isTakenOver: _, ...effect }) => effect),
    failed: (await store.failedEffects({ limit: 9 })).map(({ isTakenOver: _, ...effect }) => effect),
    failures: await store.failedEffectCount(),
  };
}

async function open(t: ExecutionContext, url: string, schema: string, node = 'one'): Promise<ActorStore> {
  const store = await openPostgresStore({
    url,
    schema,
    poolSize: 3,
    node,
    leaseSeconds: 5,
    clock: systemClock,
    log: SILENT,
  });
  t.teardown(() => store.close());
  return store;
}

/** Makes a schema of version 1 with what a store of this version holds, and the session of a node that was killed. */
async function makeVersion1(client: pg.Client, from: string, to: string): Promise<void> {
  await client.query(`CREATE SCHEMA ${to}`);
  await client.query(`SET search_path = ${to}`);
  await client.query(
    'CREATE TABLE schema_version (only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row), version integer NOT NULL)',
  );
  await client.query('INSERT INTO schema_version (version) VALUES (1)');
  for (const statement of SCHEMA_UPGRADES[1] ?? []) await client.query(statement);
  for (const [table, columns] of Object.entries(VERSION_1))
    await client.query(`INSERT INTO ${table} (${columns}) SELECT ${columns} FROM ${from}.${table}`);
  // That node held a lease of an effect, and still counts as alive.
  const { rows } = await client.query<{ token: string }>(
    `INSERT INTO sessions (node, lease) VALUES ('earlier', interval '1 hour') RETURNING token`,
  );
  await client.query('UPDATE effects SET lease = $1 WHERE queue IS NOT NULL', [rows[0]?.token]);
  // Version 1 had a function of this name with fewer parameters; the upgrade removes it.
  await client.query(
    'CREATE FUNCTION commit_steps(session bigint) RETURNS bigint LANGUAGE sql AS $$SELECT session$$',
  );
}

/** Starts a copy of the program that knows version 1 alone; resolves when it has ended. */
async function startEarlierBuild(t: ExecutionContext, url: string, schema: string) {
  const root = await temporaryRoot(t);
  const build = join(root, 'dist');
  cpSync(BUILD, build, { recursive: true, filter: (path) => path !== join(BUILD, 'test') });
  for (const name of ['node_modules', 'package.json']) symlinkSync(join(BUILD, '..', name), join(root, name));
  // The program is bundled: the constant stands in one of its chunks too.
  const current = new RegExp(`(SCHEMA_VERSION = )${SCHEMA_VERSION};`);
  const files = readdirSync(build, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.js'),
  );
  const holders = files
    .map((name) => join(build, name))
    .filter((path) => current.test(readFileSync(path, 'utf8')));
  t.true(holders.length > 0);
  for (const path of holders) writeFileSync(path, readFileSync(path, 'utf8').replace(current, '$11;'));
  const settings = {
    'Storage:Root': join(root, 'data'),
    'Runtime:Store': 'postgres',
    'Runtime:Postgres:Url': url,
    'Runtime:Postgres:Schema': schema,
    'Runtime:NodeName': 'three',
    'Batch:Url': 'http://127.0.0.1:0',
  };
  const words = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
  const child = spawn(process.execPath, [join(build, 'main.js'), 'serve', ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => void child.kill('SIGKILL'));
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, text: printed };
}

/** Columns, indexes, constraints and functions of a schema. */
async function structure(client: pg.Client, schema: string): Promise<unknown> {
  const list = async (text: string) =>
    (await client.query<{ line: string }>(text, [schema])).rows.map(({ line }) =>
      line.replaceAll(`${schema}.`, ''),
    );
  return {
    columns:
      await list(`SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default, is_identity) AS line
      FROM information_schema.columns WHERE table_schema = $1 ORDER BY 1`),
    indexes: await list('SELECT indexdef AS line FROM pg_indexes WHERE schemaname = $1 ORDER BY 1'),
    functions: await list(
      `SELECT pg_get_functiondef(oid) AS line FROM pg_proc WHERE pronamespace = $1::regnamespace ORDER BY 1`,
    ),
    constraints: await list(`SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) AS line
      FROM pg_constraint WHERE connamespace = $1::regnamespace ORDER BY 1`),
  };
}

test('a node upgrades a schema of version 1 with its content, and a program of version 1 would refuse it', async (t) => {
  t.timeout(120_000);
  const cluster = await startServer();
  t.teardown(() => cluster.remove());
  const { url } = cluster;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.teardown(() => client.end());

  const present = await open(t, url, 'present');
  await fill(present);
  const expected = await content(present);
  const timers = await present.dueTimers(LATER, 9);
  t.is(timers.length, 2);
  t.is(expected.effects.length, 3);
  t.deepEqual([expected.failures, expected.counters], [1, { c: 2, d: 5 }]);
  await present.close();
  await makeVersion1(client, 'present', 'earlier');

  const [one, two] = await Promise.all([open(t, url, 'earlier'), open(t, url, 'earlier', 'two')]);
  for (const node of [one, two]) t.deepEqual(await content(node), expected);
  const { rows } = await client.query<{ version: number }>('SELECT version FROM schema_version');
  t.deepEqual(rows, [{ version: SCHEMA_VERSION }]);
  t.deepEqual(await structure(client, 'earlier'), await structure(client, 'present'));

  // One of the nodes has the effects and timers, those leased by the earlier node too.
  const owned = async (store: ActorStore) => ({
    timers: await store.dueTimers(LATER, 9),
    effects: [
      ...(await store.leaseEffects(LATER, 9)),
      ...(await store.leaseEffects(LATER, 9, 'queue/one')),
    ].map(({ key }) => key),
  });
  const each = [await owned(one), await owned(two)];
  t.deepEqual(
    each.flatMap((node) => node.timers),
    timers,
  );
  t.deepEqual(each.flatMap(({ effects }) => effects).sort(), expected.effects.map(({ key }) => key).sort());

  // The upgraded store takes further steps.
  const step = stepOf(B, 1, { timers: { arm: [], disarm: [] }, counters: { d: 1 } });
  t.true((await one.commit(step)).ok);
  t.like(await two.load(B), { revision: 2 });
  t.deepEqual(await two.counters('d'), { d: 6 });

  const refused = await startEarlierBuild(t, url, 'earlier');
  t.is(refused.code, 3);
  t.regex(refused.text, new RegExp(`version ${SCHEMA_VERSION}; this program knows versions up to 1\\.`));
  t.deepEqual(await one.counters('d'), { d: 6 });
});

test('a node that runs goes on while one of this version adds the index of messages in order', async (t) => {
  t.timeout(120_000);
  const cluster = await startServer();
  t.teardown(() => cluster.remove());
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  t.teardown(() => client.end());
  const earlier = await open(t, cluster.url, 'beside');
  const present = await structure(client, 'beside');
  await client.query('DROP INDEX beside.effects_order; UPDATE beside.schema_version SET version = 5');
  t.notDeepEqual(await structure(client, 'beside'), present);

  let revision = 0;
  const tell = async (store: ActorStore) => {
    const effects = [{ ...effectOf(A, revision + 1, 0, 5), partition: 'tell/pair' }];
    t.true((await store.commit(stepOf(A, revision, { effects }))).ok);
    revision += 1;
  };
  await tell(earlier);
  let isOpen = false;
  const opening = open(t, cluster.url, 'beside', 'two').finally(() => {
    isOpen = true;
  });
  while (!isOpen) await tell(earlier);
  const later = await opening;
  t.true(revision > 1);
  t.deepEqual(await structure(client, 'beside'), present);
  const { rows } = await client.query<{ version: number }>('SELECT version FROM beside.schema_version');
  t.deepEqual(rows, [{ version: SCHEMA_VERSION }]);

  await tell(later);
  const lease = async (store: ActorStore) =>
    (await store.leaseEffects(5, 1, 'tell/pair', true)).map(({ key }) => key);
  t.deepEqual(await lease(later), [], 'messages of the earlier node come first');
  for (let at = 1; at < revision; at += 1) {
    const [key = ''] = await lease(earlier);
    t.is(key, effectOf(A, at, 0, 5).key);
    await earlier.settleEffects([key]);
  }
  t.deepEqual(await lease(later), [effectOf(A, revision, 0, 5).key]);
});
