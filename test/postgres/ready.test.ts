/** `GET /api/ready` while the database stores nothing, and afterwards, without a restart. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ava from 'ava';
import pg from 'pg';
import { reached } from '../project/waiting.ts';
import { Service, temporaryRoot } from '../service/service.ts';
import { smallDisk } from '../service/small-disk.ts';
import { withTools } from '../verifiers/tool.ts';
import { type Cluster, startServer } from './cluster.ts';

const test = withTools(ava, 'postgres', 'tmpfs');

let cluster: Cluster;

test.before(async () => {
  cluster = await startServer();
});
test.after.always(() => cluster?.remove());

test('ready is 503 with the reason while the disk of the database is full, it is read-only or has no connection left, and 200 again afterwards', async (t) => {
  // The log of the server is on another disk: a server that cannot write its log ends.
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-space-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const disk = smallDisk(t, folder, 32);
  const space = join(folder, 'space');
  mkdirSync(space);
  const { uid } = statSync(cluster.sockets);
  if (process.getuid?.() === 0)
    for (const path of [folder, space]) execFileSync('chown', [String(uid), path]);
  const admin = new pg.Pool({
    connectionString: cluster.url,
    options: '-c default_transaction_read_only=off',
  });
  t.teardown(() => admin.end());
  await admin.query('CREATE ROLE app LOGIN');
  await admin.query(`CREATE TABLESPACE small LOCATION '${space}'`);
  await admin.query('CREATE DATABASE app OWNER app TABLESPACE small');

  const service = await Service.start(t, {
    root: await temporaryRoot(t),
    settings: {
      'Runtime:Store': 'postgres',
      'Runtime:Postgres:Url': `postgres://app@127.0.0.1:${cluster.port}/app`,
      'Runtime:Postgres:PoolSize': 3,
    },
  });
  const ready = async () => {
    const answer = await service.fetch('/api/ready');
    const { checks } = (await answer.json()) as {
      readonly checks: readonly { readonly name: string; readonly detail: string | null }[];
    };
    return { status: answer.status, why: checks.find(({ name }) => name === 'database')?.detail ?? '' };
  };
  const becomes = async (status: number, why: RegExp) => {
    const begun = performance.now();
    await reached(async () => {
      const now = await ready();
      return now.status === status && why.test(now.why);
    });
    t.log(`${status} after ${Math.round(performance.now() - begun)} ms`);
  };
  const stored = /^reachable/;
  await becomes(200, stored);

  disk.fill();
  await becomes(503, /stores no step: .*No space left on device/);
  disk.empty();
  await becomes(200, stored);

  await admin.query('ALTER DATABASE app SET default_transaction_read_only = on');
  await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'app'");
  await becomes(503, /stores no step: .*read-only transaction/);
  await admin.query('ALTER DATABASE app RESET default_transaction_read_only');
  await becomes(200, stored);

  await admin.query('ALTER ROLE app CONNECTION LIMIT 0');
  await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'app'");
  await becomes(503, /too many connections for role/);
  await admin.query('ALTER ROLE app CONNECTION LIMIT -1');
  await becomes(200, stored);
  t.pass();
});
