/** Addresses of PostgreSQL: several hosts with fail-over, Unix sockets, TLS, and a pooler of transactions. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ActorStore, systemClock } from '@sealwright/runtime';
import { openPostgresStore } from '@sealwright/runtime/postgres-parts';
import test, { type ExecutionContext } from 'ava';
import pg from 'pg';
import type { Finding } from '../../commands/doctor/finding.ts';
import { SILENT } from '../actors/portal/uploads/upload-harness.ts';
import { freshFolder, run } from '../commands/program.ts';
import { A, B, effectOf, stepOf } from '../contract/steps.ts';
import { reached } from '../project/waiting.ts';
import { type Cluster, freePort, startCluster, startPooler, startServer } from './cluster.ts';

let cluster: Cluster | undefined;

test.before(async (t) => {
  cluster = await startCluster(t as ExecutionContext);
});
test.after.always(() => cluster?.remove());

async function open(t: ExecutionContext, url: string, schema: string, node = 'one'): Promise<ActorStore> {
  const store = await openPostgresStore({
    ...{ url, schema, node, poolSize: 3, leaseSeconds: 3, clock: systemClock, log: SILENT },
  });
  t.teardown(() => store.close());
  return store;
}

test.serial(
  'a store finds the server that takes writes among several hosts, also by a Unix socket',
  async (t) => {
    if (cluster === undefined) {
      t.pass('the engine is not installed');
      return;
    }
    const standby = await startServer({ standbyOf: cluster });
    t.teardown(() => standby?.remove());
    const nobody = await freePort();
    const socket = encodeURIComponent(cluster.sockets);
    for (const hosts of [
      `127.0.0.1:${nobody},127.0.0.1:${standby?.port},localhost:${cluster.port}`,
      `127.0.0.1:${standby?.port},${socket}:${cluster.port}`,
    ]) {
      const url = `postgres://sealwright@${hosts}/postgres?target_session_attrs=read-write`;
      const store = await open(t, url, 'hosts', hosts);
      const stored = await store.load(A);
      t.true((await store.commit(stepOf(A, stored?.revision ?? 0))).ok);
      t.regex(store.describe().location, new RegExp(`:${standby?.port},`));
      await store.close();
    }
    const url = `postgres://sealwright@127.0.0.1:${standby?.port}/postgres`;
    await t.throwsAsync(open(t, url, 'hosts', 'three'), { message: /is a standby, which takes no writes/ });
    // Says so where one of the hosts is on another machine.
    const cwd = freshFolder();
    for (const [host, verdict] of [
      ['db.invalid', 'warning'],
      ['localhost', 'good'],
    ] as const) {
      const named = `postgres://sealwright@127.0.0.1:${cluster.port},${host}:1/postgres`;
      const settings = [`--Runtime:Postgres:Url=${named}`, '--Runtime:Postgres:Schema=hosts'];
      const { out } = await run(cwd, ['doctor', '--json', '--Runtime:Store=postgres', ...settings]);
      const { checks } = JSON.parse(out) as { readonly checks: readonly Finding[] };
      t.is(checks.find(({ name }) => name === 'database')?.verdict, verdict, out);
    }
    const parameters = `host=${cluster.sockets}&port=${cluster.port}`;
    t.is(
      (await (await open(t, `postgres://sealwright@/postgres?${parameters}`, 'hosts')).load(A))?.revision,
      2,
    );
  },
);

test.serial(
  'a server with another certificate than that of the authority in sslrootcert is refused',
  async (t) => {
    if (cluster === undefined) {
      t.pass('the engine is not installed');
      return;
    }
    const folder = join(cluster.sockets, 'tls');
    mkdirSync(folder);
    const { uid } = statSync(cluster.sockets);
    const pem = (name: string) => join(folder, name);
    for (const name of ['own', 'other']) {
      const paths = ['-keyout', pem(`${name}.key`), '-out', pem(`${name}.pem`)];
      const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
      execFileSync(
        'openssl',
        ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...paths, ...subject],
        {
          stdio: 'pipe',
        },
      );
      chmodSync(pem(`${name}.key`), 0o600);
      if (process.getuid?.() === 0) chownSync(pem(`${name}.key`), uid, 0);
    }
    const files = [`ssl_cert_file=${pem('own.pem')}`, `ssl_key_file=${pem('own.key')}`];
    const server = await startServer({ settings: ['ssl=on', ...files] });
    t.teardown(() => server?.remove());
    const url = (host: string, mode: string, name: string) =>
      `postgres://sealwright@${host}:${server?.port}/postgres?sslmode=${mode}&sslrootcert=${pem(`${name}.pem`)}`;
    t.true((await (await open(t, url('localhost', 'verify-full', 'own'), 'tls')).commit(stepOf(A, 0))).ok);
    t.is((await (await open(t, url('127.0.0.1', 'verify-ca', 'own'), 'tls', 'two')).load(A))?.revision, 1);
    for (const [refused, message] of [
      [url('localhost', 'verify-full', 'other'), /self-signed certificate/],
      [url('127.0.0.1', 'verify-full', 'own'), /IP: 127\.0\.0\.1 is not in the cert's list/],
      [url('127.0.0.1', 'verify-ca', 'other'), /self-signed certificate/],
      [url('localhost', 'verify-full', 'missing'), /names the file ".*missing\.pem" as sslrootcert: ENOENT/],
    ] as const)
      await t.throwsAsync(open(t, refused, 'tls', 'three'), { message }, refused);
  },
);

/** Fail-overs of the next test; each takes some five seconds. */
const FAIL_OVERS = Number(process.env['SEALWRIGHT_FAIL_OVERS'] ?? 1);

/** Commits wait for this standby from now on. */
async function followSynchronously(primary: Cluster, port?: number): Promise<Cluster> {
  const standby = await startServer({ standbyOf: primary, ...(port !== undefined && { port }) });
  const client = new pg.Client({ connectionString: primary.url });
  await client.connect();
  await client.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
  await client.query('SELECT pg_reload_conf()');
  const state = "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'";
  await reached(async () => (await client.query(state)).rowCount === 1);
  await client.end();
  if (standby === undefined) throw new Error('The standby did not start.');
  return standby;
}

test.serial(
  'each acknowledged step is there once after its server was killed and the standby took over',
  async (t) => {
    let primary = await startServer();
    if (primary === undefined) {
      t.pass('the engine is not installed');
      return;
    }
    let standby = await followSynchronously(primary);
    t.teardown(() => Promise.all([primary?.remove(), standby.remove()]));
    const url = `postgres://sealwright@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`;
    const stores = [await open(t, url, 'taken', 'one'), await open(t, url, 'taken', 'two')];
    let isOver = false;
    let acknowledged = 0;
    let found = 0;
    /** Commits step after step of one actor; one without an answer is sent again until it is known to be stored. */
    const write = async (store: ActorStore, id: string): Promise<number> => {
      const actor = { kind: 'k', id };
      for (let revision = 0; ; ) {
        const committed = await store
          .commit(stepOf(actor, revision, { counters: { c: 1 } }))
          .catch(() => undefined);
        if (committed?.ok === false) {
          t.is(committed.reason, 'stale');
          found += 1;
        }
        if (committed === undefined) await sleep(5);
        else revision += 1;
        if (committed?.ok) acknowledged += 1;
        if (isOver && committed !== undefined) return revision;
      }
    };
    const writers = [0, 1, 2, 3].map((at) => write(stores[at % 2] as ActorStore, `w${at}`));
    for (let round = 1; round <= FAIL_OVERS; round++) {
      const before = acknowledged;
      await reached(() => acknowledged > before + 50);
      await primary.kill();
      await standby.promote();
      const promoted = performance.now();
      const last = acknowledged;
      await reached(() => acknowledged > last);
      t.log(
        `fail-over ${round}: a step was stored ${Math.round(performance.now() - promoted)} ms after the promotion`,
      );
      const { port }: Cluster = primary;
      await primary.remove();
      primary = standby;
      standby = await followSynchronously(primary, port);
    }
    isOver = true;
    const revisions = await Promise.all(writers);
    t.log(`${acknowledged} steps acknowledged, ${found} stored without an answer`);
    const direct = await open(t, primary.url, 'taken', 'three');
    for (const [at, revision] of revisions.entries())
      t.is((await direct.load({ kind: 'k', id: `w${at}` }))?.revision, revision);
    t.deepEqual(await direct.counters(''), { c: revisions.reduce((sum, revision) => sum + revision, 0) });
    await Promise.all(stores.map((store) => store.close()));
  },
);

for (const lines of [[], ['ignore_startup_parameters = extra_float_digits,statement_timeout,options']]) {
  test.serial(
    `two nodes behind a pooler of transactions store, report and take over steps ${lines.length > 0 ? 'where it drops parameters' : 'where it refuses parameters'}`,
    async (t) => {
      if (cluster === undefined) {
        t.pass('the engine is not installed');
        return;
      }
      const pooler = await startPooler(cluster, lines);
      if (pooler === undefined) {
        t.pass('pgbouncer is not installed');
        return;
      }
      t.teardown(() => pooler.remove());
      const schema = `pooled_${lines.length}`;
      const one = await open(t, pooler.url, schema, 'one');
      const two = await open(t, pooler.url, schema, 'two');
      const told: string[] = [];
      two.nodes?.follow({
        committed: ({ actor }) => told.push(`${actor.address.id}/${actor.revision}`),
        adopted: () => told.push('adopted'),
      });
      // More statements at a time than the pooler has server processes.
      await Promise.all([
        (async () => {
          for (let revision = 0; revision < 20; revision++)
            t.true((await one.commit(stepOf(A, revision, { counters: { c: 1 } }))).ok);
        })(),
        ...Array.from({ length: 40 }, () => two.load(B)),
        ...Array.from({ length: 40 }, () => two.counters('')),
      ]);
      t.true((await one.commit(stepOf(B, 0, { effects: [effectOf(B, 1, 0, 5)] }))).ok);
      await two.nodes?.sync();
      t.deepEqual(told, [...Array.from({ length: 20 }, (_, at) => `a/${at + 1}`), 'b/1']);
      t.deepEqual(await two.counters(''), { c: 20 });
      t.deepEqual([await one.nodes?.acquire('l'), await two.nodes?.acquire('l')], [true, false]);
      await one.close();
      await reached(() => told.includes('adopted'));
      t.is((await two.leaseEffects(Number.MAX_SAFE_INTEGER, 9)).length, 1);
    },
  );
}
