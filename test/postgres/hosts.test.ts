/** Addresses of PostgreSQL: several hosts with fail-over, Unix sockets, TLS, and a pooler of transactions. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ActorStore, systemClock } from '@sealwright/runtime';
import { openPostgresStore } from '@sealwright/runtime/postgres-parts';
import ava, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { openPool } from '#runtime/store/postgres/connection/connection.js';
import { transactionsOf } from '#runtime/store/postgres/connection/pooler.js';
import type { Finding } from '../../commands/doctor/finding.ts';
import { SILENT } from '../actors/portal/uploads/upload-harness.ts';
import { freePort } from '../commands/free-port.ts';
import { freshFolder, run } from '../commands/program.ts';
import { A, B, effectOf, stepOf } from '../contract/steps.ts';
import { reached } from '../project/waiting.ts';
import { withTools } from '../verifiers/tool.ts';
import { type Cluster, startPooler, startServer } from './cluster.ts';
import { startProxy } from './proxy.ts';

const test = withTools(ava, 'postgres', 'pgbouncer');

let cluster: Cluster;

test.before(async () => {
  cluster = await startServer();
});
test.after.always(() => cluster?.remove());

async function open(t: ExecutionContext, url: string, schema: string, node = 'one'): Promise<ActorStore> {
  const store = await openPostgresStore({
    url,
    schema,
    node,
    poolSize: 3,
    leaseSeconds: 3,
    clock: systemClock,
    log: SILENT,
  });
  t.teardown(() => store.close());
  return store;
}

test.serial(
  'a store finds the server that takes writes among several hosts, also by a Unix socket',
  async (t) => {
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
    const renewed = url('localhost', 'verify-full', 'renewed');
    copyFileSync(pem('other.pem'), pem('renewed.pem'));
    await t.throwsAsync(open(t, renewed, 'tls', 'three'), { message: /self-signed certificate/ });
    copyFileSync(pem('own.pem'), pem('renewed.pem'));
    t.is((await (await open(t, renewed, 'tls', 'three')).load(A))?.revision, 1);
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
  return standby;
}

test.serial(
  'each acknowledged step is there once after its server was killed and the standby took over',
  async (t) => {
    let primary = await startServer();
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

test.serial(
  'a store finds the server that takes writes while another one accepts and never answers',
  async (t) => {
    t.timeout(240_000);
    const frozen = await startServer();
    const taker = await startServer({ standbyOf: frozen });
    t.teardown(async () => {
      await frozen.kill();
      await Promise.all([frozen.remove(), taker?.remove()]);
    });
    frozen.freeze();
    // One attempt would take longer than this test may.
    const url = `postgres://sealwright@127.0.0.1:${frozen.port},127.0.0.1:${taker?.port}/postgres?connect_timeout=300`;
    const opened = open(t, url, 'frozen');
    await taker?.promote();
    const store = await opened;
    t.true((await store.commit(stepOf(A, 0))).ok);
    await store.close();
    // Nothing holds a connection to the frozen server any more.
    await reached(() => openSocketsTo(frozen.port) === 0);
  },
);

/** Sockets of this process that are open or being opened to a port. */
function openSocketsTo(port: number): number {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const own = new Set(
    readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        return [/socket:\[(\d+)\]/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1]];
      } catch {
        return [];
      }
    }),
  );
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[2]?.endsWith(end) && own.has(fields[9])).length;
}

/** A message of the protocol: its type, its length and its fields. */
function message(type: string, ...fields: readonly Buffer[]): Buffer {
  const body = Buffer.concat(fields);
  const head = Buffer.alloc(5, type);
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}

/** The answer of a server to a client that it lets in. */
const LET_IN = [message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))];

/** The message of a server that is shut down. */
const SHUT_DOWN = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'));

for (const [what, answer] of [
  ['answers nothing once a connection is open', LET_IN],
  ['is shut down in the moment in which a connection is open', [...LET_IN, SHUT_DOWN]],
] as const)
  test.serial(`a store goes on to the next host where one ${what}`, async (t) => {
    let asked = 0;
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        asked += 1;
        socket.write(Buffer.concat(answer));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    const { port } = server.address() as { port: number };
    const hosts = `127.0.0.1:${port},127.0.0.1:${cluster.port}`;
    const store = await open(t, `postgres://sealwright@${hosts}/postgres`, `next_${answer.length}`);
    t.true((await store.commit(stepOf(A, 0))).ok);
    t.true(asked > 0);
  });

test.serial('a server that has no further connection keeps those that it has given', async (t) => {
  const admin = new pg.Client({ connectionString: cluster.url });
  await admin.connect();
  t.teardown(() => admin.end());
  await admin.query('CREATE ROLE few LOGIN CONNECTION LIMIT 2');
  const others = [await freePort(), await freePort()].map((port) => `127.0.0.1:${port}`);
  const url = `postgres://few@127.0.0.1:${cluster.port},${others.join(',')}/postgres`;
  const pool = openPool({ url, poolSize: 3 }, () => {});
  t.teardown(() => pool.end());
  const clients = [await pool.connect(), await pool.connect()];
  const pids = async () =>
    (await admin.query("SELECT pid FROM pg_stat_activity WHERE usename = 'few' ORDER BY pid")).rows;
  const given = await pids();
  await t.throwsAsync(pool.connect(), { message: /too many connections for role "few"/ });
  for (const client of clients) client.release();
  await pool.query('SELECT 1');
  t.deepEqual(await pids(), given);
});

test.serial('a connection behind a pooler is as before after a transaction could not begin', async (t) => {
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  t.teardown(() => client.end());
  const send = client.query.bind(client);
  const { query } = transactionsOf(send, ['statement_timeout = no_number']);
  for (const text of ['SELECT 1', 'BEGIN']) {
    await t.throwsAsync(query(text), { message: /invalid value for parameter "statement_timeout"/ });
    t.is((await send('SELECT 1')).rowCount, 1, text);
  }
});

test.serial('the limit of a statement behind a pooler is that of its transaction too', async (t) => {
  const line = await startProxy(cluster.port);
  t.teardown(() => line.close());
  for (const marker of ['BEGIN', 'SELECT 7', 'COMMIT']) {
    const client = new pg.Client({
      connectionString: `postgres://sealwright@127.0.0.1:${line.port}/postgres`,
      query_timeout: 60_000,
    });
    client.on('error', () => {});
    await client.connect();
    const sent: unknown[] = [];
    const { query } = transactionsOf(
      ((statement: string | pg.QueryConfig) => {
        sent.push(statement);
        return client.query(statement);
      }) as pg.Client['query'],
      [],
    );
    line.stallNext(marker);
    const limited = { text: 'SELECT 7', query_timeout: 200 };
    await t.throwsAsync(query(limited), { message: 'Query read timeout' }, marker);
    t.deepEqual(
      sent.map((one) => (one as { readonly query_timeout?: number }).query_timeout),
      sent.map(() => 200),
    );
    await client.end();
  }
});

for (const lines of [[], ['ignore_startup_parameters = extra_float_digits,statement_timeout,options']]) {
  test.serial(
    `two nodes behind a pooler of transactions store, report and take over steps ${lines.length > 0 ? 'where it drops parameters' : 'where it refuses parameters'}`,
    async (t) => {
      const pooler = await startPooler(cluster, lines);
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
