import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import {
  type ActorStore,
  type EffectHandler,
  type Row,
  type RowQuery,
  systemClock,
  systemIds,
} from '@sealwright/runtime';
import { postgres } from '@sealwright/runtime/postgres';
import { openPostgresCopy, openPostgresReader, openPostgresStore } from '@sealwright/runtime/postgres-parts';
import ava, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { LEAVES_VIEW, storedLeaf } from '#runtime/history/checkpoint.js';
import { machineTime } from '#runtime/model/clock.js';
import { LeaseDeadline } from '#runtime/model/lease-deadline.js';
import { type BuiltRuntime, buildRuntime } from '#runtime/runtime.js';
import type { StoreRecord } from '#runtime/store/copy/copy-side.js';
import { startGuard } from '#runtime/store/postgres/start-guard.js';
import { SILENT } from '../actors/portal/uploads/upload-harness.ts';
import { type Cluster, type Pooler, startPooler, startServer } from '../postgres/cluster.ts';
import { reached } from '../project/waiting.ts';
import {
  address,
  all,
  linesOf,
  packed,
  recordsOf,
  resting,
  stepWith,
} from '../runtime/store/ended-actors.ts';
import { heard, mortalTally, T1, T2, type TallyContext, until } from '../runtime/test-runtime.ts';
import { withTools } from '../verifiers/tool.ts';
import { pendingWorkContract } from './pending-work.ts';
import { publicContract } from './public.ts';
import { runtimeContract } from './runtime.ts';
import { stepOf } from './steps.ts';
import { storeContract } from './store.ts';

const test = withTools(ava, 'postgres', 'pgbouncer');

/** Many tests begin at once and keep this thread and the server busy for seconds: no node may take another for silent. */
const LEASE_SECONDS = 20;

let cluster: Cluster;
let pooler: Pooler;
let schemas = 0;

test.before(async () => {
  cluster = await startServer();
  pooler = await startPooler(cluster);
});
test.after.always(async () => {
  await pooler?.remove();
  await cluster?.remove();
});

/** Returns a function that opens a new schema as a node. */
function newSchema({ url }: Pick<Cluster, 'url'>) {
  schemas += 1;
  const schema = `contract_${schemas}`;
  return (node = 'one') =>
    openPostgresStore({
      url,
      schema,
      poolSize: 3,
      node,
      leaseSeconds: LEASE_SECONDS,
      clock: systemClock,
      log: SILENT,
    });
}

async function openStore(t: ExecutionContext, place: Pick<Cluster, 'url'> = cluster) {
  const open = newSchema(place);
  let store = await open();
  t.teardown(() => store.close());
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await open();
      return store;
    },
  };
}

storeContract('PostgreSQL store', openStore, test);
// In turn: its four connections to the server are shared by all of these stores, which report one as dead after seconds in its queue.
storeContract('PostgreSQL store behind a pooler', (t) => openStore(t, pooler), test.serial);
runtimeContract('PostgreSQL store', openStore, test);
pendingWorkContract('PostgreSQL store', openStore, test);
publicContract(
  'PostgreSQL store',
  () => {
    const { url } = cluster;
    schemas += 1;
    const schema = `contract_${schemas}`;
    return (node) => postgres(url, { schema, node, poolSize: 3, leaseSeconds: LEASE_SECONDS });
  },
  true,
  test,
);

test('PostgreSQL store: an actor that ends and is made anew on three nodes gives out no key twice and takes no outcome of an earlier life', async (t) => {
  const open = newSchema(cluster);
  const keys: string[] = [];
  const delayed: (() => void)[] = [];
  const work: EffectHandler = {
    after: 'visible',
    run: async ({ what }, { key }) => {
      keys.push(key);
      if (what.startsWith('late')) await new Promise<void>((resolve) => delayed.push(resolve));
      return { type: 'WORKED', what };
    },
  };
  const told: string[] = [];
  const nodes: BuiltRuntime[] = [];
  for (const node of ['one', 'two', 'three']) {
    const store = await open(node);
    const runtime = buildRuntime({
      store,
      clock: systemClock,
      ids: systemIds,
      log: SILENT,
      definitions: [mortalTally],
      handlers: { work },
      onCommitted: (step, isOwn) => {
        if (isOwn && step.actor.address.id === T2.id) told.push(heard(step).at(-1) ?? '');
      },
    });
    runtime.start();
    t.teardown(async () => {
      await runtime.stop(100);
      await store.close();
    });
    nodes.push(runtime);
  }
  const system = (at: number) => {
    const runtime = nodes[at % nodes.length];
    if (runtime === undefined) throw new Error('no such node');
    return runtime.system;
  };
  const LIVES = 12;
  await system(0).create(T2, null);
  const of = async () => (await system(0).read(T1))?.context as TallyContext | undefined;
  for (let life = 0; life < LIVES; life++) {
    t.like(await system(life).create(T1, null), { accepted: true }, `life ${life} begins`);
    await system(life).send(T1, { type: 'WORK', what: `late ${life}` });
    await system(life + 1).send(T1, { type: 'SEND', to: T2, event: { type: 'ADD', what: `${life}` } });
    await system(life + 2).send(T1, { type: 'WORK', what: `${life}` });
    await until('the effect of the life before ends', () => delayed.length > life);
    delayed[life - 1]?.();
    await until('the outcome of this life', async () => (await of())?.heard.includes(`${life}`) === true);
    t.deepEqual((await of())?.heard, [`${life}`]);
    await until('the message of this life', () => told.includes(`${life}`));
    t.like(await system(life + 1).send(T1, { type: 'END' }), { accepted: true }, `life ${life} ends`);
  }
  delayed[LIVES - 1]?.();
  t.is(keys.length, 2 * LIVES);
  t.is(new Set(keys).size, keys.length);
  t.deepEqual(
    told.filter((what) => what !== ''),
    Array.from({ length: LIVES }, (_, life) => `${life}`),
  );
});

test('a node whose start is blocked for longer than its lease serves afterwards, and one that dies is replaced', async (t) => {
  const { url } = cluster;
  schemas += 1;
  const schema = `contract_${schemas}`;
  const warned: string[] = [];
  const watching = await openPostgresStore({
    url,
    schema,
    poolSize: 2,
    node: 'watching',
    leaseSeconds: 1,
    clock: systemClock,
    log: {
      ...SILENT,
      // Its own session too may be late where many tests begin at once.
      warn: (text) => void (text.startsWith('This node was silent') || warned.push(text)),
    },
  });
  t.teardown(() => watching.close());
  const slow = async () => (await watching.nodes?.list())?.find(({ name }) => name === 'slow');
  const folder = mkdtempSync(join(tmpdir(), 'slow-'));
  const start = (file: string) => {
    const args = [fileURLToPath(new URL('./slow-starter.js', import.meta.url)), url, schema, file];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    t.teardown(() => child.kill('SIGKILL'));
    return { child, lines: createInterface(child.stdout)[Symbol.asyncIterator]() };
  };

  const file = join(folder, 'go');
  const first = start(file);
  t.is((await first.lines.next()).value, 'blocked');
  const openedAt = (await slow())?.openedAt ?? 0;
  const clock = watching.nodes?.clock ?? systemClock;
  await until('three leases to pass', () => clock.now() > openedAt + 6000);
  t.deepEqual(warned, [], 'nobody took its work over');
  t.is((await slow())?.openedAt, openedAt);
  writeFileSync(file, '');
  t.is((await first.lines.next()).value, 'served');
  await once(first.child, 'close');
  await until('the end of the first one', async () => (await slow()) === undefined);

  const second = start(join(folder, 'never'));
  t.is((await second.lines.next()).value, 'blocked');
  second.child.kill('SIGKILL');
  await until('the dead node to be replaced', async () => (await slow()) === undefined);
  t.deepEqual([...new Set(warned)], ['The work of silent nodes was taken over.']);
});

test('packed actors read as before by nodes, readers and copies, and are whole again for their next step', async (t) => {
  const { url } = cluster;
  const open = newSchema(cluster);
  const schema = `contract_${schemas}`;
  const first = await open();
  for (let number = 0; number < 30; number += 1)
    await first.commit(stepWith(number, 0, linesOf(number, 1, number % 6, '')));
  const before = await all(first, 30);
  await first.close();
  const copied = () => openPostgresCopy({ url, schema }, 'source', systemClock).then(recordsOf);
  const records = await copied();
  const query = async (text: string) => {
    const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` });
    await client.connect();
    return client.query(text).finally(() => client.end());
  };

  let one = await open();
  let two = await open('two');
  t.teardown(() => Promise.all([one.close(), two.close()]));
  // A node of an earlier version runs.
  await query('UPDATE sessions SET reads_packed = false WHERE token = (SELECT max(token) FROM sessions)');
  t.false(await one.packing?.begin?.());
  await query('UPDATE sessions SET reads_packed = true');
  await t.throwsAsync(
    query("INSERT INTO sessions (node, lease, info, slot) VALUES ('old', '1 day', '{}', 5)"),
    {
      code: '23502',
    },
  );
  t.true(await one.packing?.begin?.());
  t.false(await two.packing?.begin?.());
  await one.packing?.end?.();
  t.true(await two.packing?.begin?.());

  await packed(one, resting(0, 25));
  await packed(two, resting(0, 28));
  t.deepEqual(await two.packing?.doneUntil('node'), ['node', 1, 28]);
  t.is(await all(one, 30), before);
  t.is(await all(two, 30), before);
  const reader = await openPostgresReader({ url, schema });
  t.is(await all(reader, 30), before);
  await reader.close();
  const { rows } = await query('SELECT key FROM actors WHERE packed IS NOT NULL');
  t.is(rows.length, 28);
  t.is((await query('SELECT DISTINCT actor FROM journal')).rows.length, 2);
  await Promise.all([one.close(), two.close()]);
  t.deepEqual(await copied(), records);
  one = await open();
  two = await open('two');

  // Of one actor both nodes make a step at once.
  const next = linesOf(10, 5, 2, (await one.journal(address(10))).at(-1)?.hash ?? '');
  const outcomes = await Promise.all([one, two].map((node) => node.commit(stepWith(10, 1, next))));
  t.deepEqual(outcomes.map(({ ok }) => ok).sort(), [false, true]);
  t.deepEqual(await two.journal(address(10)), linesOf(10, 1, 6, ''));
  t.deepEqual(await one.commit(stepWith(11, 2, [])), { ok: false, reason: 'stale' });
  t.true((await two.commit(stepWith(11, 1, [], { ends: true }))).ok);
  t.is(await one.load(address(11)), undefined);
  t.deepEqual(await one.journal(address(11)), []);

  // A value that was changed from outside fails no other actor.
  await query(
    "UPDATE actors SET packed = '\\x010203' WHERE revision < 0 AND position('job-4' IN encode(key, 'escape')) > 0",
  );
  const [damaged, whole] = await Promise.allSettled([one.load(address(4)), one.load(address(5))]);
  t.like(damaged, { status: 'rejected', reason: { code: 'store.damaged' } });
  t.is(whole.status, 'fulfilled');
  t.deepEqual(await one.commit(stepWith(4, 1, [])), { ok: false, reason: 'stale' });
});

test('a start that hangs is renewed no longer than the longest start, and its work is taken over', async (t) => {
  const options = { url: cluster.url, schema: 'hanging', poolSize: 2, node: 'one', leaseSeconds: 3 };
  const store = await openPostgresStore({ ...options, clock: systemClock, log: SILENT });
  t.teardown(() => store.close());
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  const { rows } = await client.query<{ token: number }>('SELECT token FROM hanging.sessions');
  await client.end();
  const held = new LeaseDeadline(machineTime);
  const guard = await startGuard(options, SILENT, 2_000);
  t.teardown(() => guard.end());
  guard.renew({ token: Number(rows[0]?.token), leaseSeconds: 3, deadline: held.memory });
  // This thread may look too late to see it held.
  const until = new BigInt64Array(held.memory);
  await reached(() => Atomics.load(until, 0) > 0n);
  await reached(() => !held.isHeld);
  t.false(held.isHeld);
});

test('leaves of the history are stored in blocks once all nodes read them, and answers stay the same', async (t) => {
  const { url } = cluster;
  const hash = (at: number) => createHash('sha256').update(`${at}`).digest('hex');
  const leaf = (at: number) =>
    storedLeaf(
      { type: 'head', kind: 'job', id: `job-${at >> 1} “ü\n`, line: at, hash: hash(at) },
      at % 3 > 0,
    );
  const history = { kind: 'history', id: 'a' };
  /** Leaves of three checkpoints, the second one of another node, and what stands beside them. */
  const fill = async (store: ActorStore, sequence: number) => {
    const node = sequence === 2 ? 'b' : 'a';
    const put: Row[] = [{ view: 'history-checkpoints', key: [node, sequence], value: { leaves: 99 } }];
    for (let at = 0; at < [60, 99, 25][sequence - 1]!; at += 1)
      put.push({ view: LEAVES_VIEW, key: [node, sequence, at], value: leaf(at) });
    put.push({ view: LEAVES_VIEW, key: [node, sequence, 200], value: 'x'.repeat(5000) });
    put.push({ view: `${LEAVES_VIEW}-`, key: [node, sequence, 1], value: 1 });
    t.true((await store.commit(stepOf(history, sequence - 1, { rows: { put, remove: [] } }))).ok);
  };
  const queries: Omit<RowQuery, 'view'>[] = [];
  for (const prefix of [[], ['a'], ['b'], ['b', 2], ['a', 3], ['c'], ['a', 2], ['b', 2, 24], ['b', 2, 98]]) {
    for (const limit of [1, 23, 1000])
      for (const offset of [0, 22])
        for (const reverse of [false, true]) queries.push({ prefix, limit, offset, reverse });
    for (const after of [0, 21, 22, 98, 150])
      for (const reverse of [false, true])
        if (prefix.length === 2) queries.push({ prefix, after: [...prefix, after], limit: 30, reverse });
  }
  const answers = async (store: Pick<ActorStore, 'rows'>) => {
    const found: unknown[] = [];
    for (const query of queries) found.push(await store.rows({ view: LEAVES_VIEW, ...query }));
    found.push(await store.rows({ view: `${LEAVES_VIEW}-`, limit: 9 }));
    return JSON.stringify(found);
  };
  const stored = async (schema: string, text: string) => {
    const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` });
    await client.connect();
    return client.query(text).finally(() => client.end());
  };
  const copied = async (schema: string) => {
    const side = await openPostgresCopy({ url, schema }, 'source', systemClock);
    const found: StoreRecord[] = [];
    for (let batch = await side.read('rows', undefined); batch.length > 0; ) {
      found.push(...batch);
      const middle = batch[batch.length >> 1];
      t.deepEqual((await side.read('rows', middle?.key))[0], batch[(batch.length >> 1) + 1]);
      batch = await side.read('rows', batch.at(-1)?.key);
    }
    t.is(await side.count('rows'), found.length);
    t.deepEqual(await side.lastKey('rows'), found.at(-1)?.key);
    await side.close();
    return found;
  };
  const COUNT = `SELECT count(*)::integer AS count FROM rows WHERE encode(key, 'escape') LIKE '%history-leaves\\\\000%'`;

  const plain = await newSchema(cluster)();
  const plainSchema = `contract_${schemas}`;
  const open = newSchema(cluster);
  const schema = `contract_${schemas}`;
  const one = await open();
  const two = await open('two');
  t.teardown(() => Promise.all([one.close(), two.close(), plain.close()]));
  for (const sequence of [1, 2, 3]) await fill(plain, sequence);
  const expected = await answers(plain);
  t.true(expected.length > 100_000);

  // A node of an earlier version runs, and none can start.
  await stored(schema, "UPDATE sessions SET reads_blocks = false WHERE node = 'two'");
  await one.packing?.begin?.();
  await fill(one, 1);
  t.is((await stored(schema, COUNT)).rows[0].count, 61);
  await t.throwsAsync(
    stored(
      schema,
      "INSERT INTO sessions (node, lease, info, slot, reads_packed) VALUES ('old', '1 day', '{}', 5, true)",
    ),
    { code: '23502' },
  );
  await stored(schema, 'UPDATE sessions SET reads_blocks = true');
  await one.packing?.begin?.();
  await fill(one, 2);
  // The other node has not asked.
  await fill(two, 3);
  t.is((await stored(schema, COUNT)).rows[0].count, 61 + 6 + 26);
  t.is(await answers(one), expected);
  t.is(await answers(two), expected);
  const reader = await openPostgresReader({ url, schema });
  t.is(await answers(reader), expected);
  await reader.close();
  await Promise.all([one.close(), two.close(), plain.close()]);
  const records = await copied(plainSchema);
  t.deepEqual(await copied(schema), records);

  schemas += 1;
  const target = `contract_${schemas}`;
  await openPostgresCopy({ url, schema: target }, 'target', systemClock).then(async (side) => {
    await side.write('rows', records);
    await side.close();
  });
  t.is((await stored(target, COUNT)).rows[0].count, 4 + 6 + 3);
  t.deepEqual(await copied(target), records);

  await stored(schema, "UPDATE rows SET value = replace(value, '#22:', '#21:')");
  const again = await open();
  t.teardown(() => again.close());
  await t.throwsAsync(again.rows({ view: LEAVES_VIEW, prefix: ['b'], limit: 30 }), { code: 'store.damaged' });
  t.is((await again.rows({ view: LEAVES_VIEW, prefix: ['a'], limit: 30 })).length, 30);

  // No other value is taken for an empty block, and none ends a command with an error of another kind.
  const noJson = deflateRawSync('{\n{').toString('base64');
  for (const value of ['#', '#0:', '#2:', `#2:${noJson}`, '{', '#x:']) {
    await stored(
      schema,
      `UPDATE rows SET value = '${value}' WHERE encode(key, 'escape') LIKE '%history-leaves\\\\000\\\\000_b%'`,
    );
    const damaged = again.rows({ view: LEAVES_VIEW, prefix: ['b'], limit: 30 });
    await t.throwsAsync(damaged, { code: 'store.damaged' }, value);
  }
  await again.close();
  const side = await openPostgresCopy({ url, schema }, 'source', systemClock);
  t.teardown(() => side.close());
  t.true((await side.count('rows')) > 0);
  await t.throwsAsync(side.read('rows', undefined), { code: 'store.damaged' });
});
