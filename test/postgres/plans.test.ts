/**
 * No statement of a serving store reads a whole table: plans of all statements, those inside of functions too, as the
 * server executed them (`auto_explain`) on 20,000 actors.
 */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ActorStore, type StoreNodes, systemClock } from '@sealwright/runtime';
import { openPostgresStore } from '@sealwright/runtime/postgres-parts';
import ava, { type ExecutionContext } from 'ava';
import pg from 'pg';
import type { StoreRecord } from '#runtime/store/copy/copy-side.js';
import { migrateSchema } from '#runtime/store/postgres/migrate-schema.js';
import { COPY_TABLES } from '#runtime/store/postgres/postgres-copy.js';
import { SILENT } from '../actors/portal/uploads/upload-harness.ts';
import { effectOf, stepOf } from '../contract/steps.ts';
import { withTools } from '../verifiers/tool.ts';
import { type Cluster, startServer } from './cluster.ts';

const test = withTools(ava, 'postgres');

const ACTORS = 20_000;
const SCHEMA = 'plans';

/** Tables that grow with the number of actors. */
const TABLES = new Set(['actors', 'journal', 'rows', 'names', 'effects', 'timers']);

/** Rows of such a table that one scan of a statement may visit; pages of lists have 10 here. */
const MAX_VISITED = 200;

/** Pages of 8 KiB that one scan of a statement may read; the smallest index has 100. */
const MAX_PAGES = 60;

/** Lines of the actor that has many, behind those that each one has. */
const MANY_LINES = 3000;

/** Queue of every eighth effect; others have about 50. */
const LONG_QUEUE = 'queue/0';

/** Calls of each operation: after five the server may choose a plan that does not depend on the parameters. */
const ROUNDS = 7;

const DUE = 1_000;
const idOf = (number: number) => `job-${String(number).padStart(5, '0')}`;
const address = (id: string) => ({ kind: 'job', id });

type Operation = (store: ActorStore, round: number) => Promise<unknown>;
type Silent =
  | 'nodes'
  | 'upgradeCopy'
  | 'shareWithThreads'
  | 'marks'
  | 'flushed'
  | 'refusal'
  | 'describe'
  | 'close';
/** The first changes all effects of its node, once, at a start after the clock was set back; the other reads no table. */
type Exceptional = 'rescheduleAfterClockRegression' | 'obstacle';
type SilentOfNodes = 'started' | 'clock' | 'name' | 'slot' | 'deadline' | 'count' | 'follow' | 'drain';

let created = 0;
let packed = 0;

/** Every operation of the port with a statement while the service runs. */
const OPERATIONS: {
  readonly [name in Exclude<keyof ActorStore, Silent | Exceptional>]: Operation;
} = {
  load: (store, round) => store.load(address(idOf(round * 100))),
  actors: async (store, round) => {
    await store.actors({ kind: 'job', limit: 10 });
    await store.actors({ kind: 'job', after: idOf(round * 1000), limit: 10 });
  },
  journal: async (store, round) => {
    await store.journal(address(idOf(round * 100)));
    await store.journal(address(idOf(round * 100)), { after: 1, limit: 10 });
    await store.journal(address(idOf(1)), { after: round, limit: 10 });
  },
  rows: async (store, round) => {
    for (const reverse of [false, true]) {
      await store.rows({ view: 'all', reverse, limit: 10 });
      await store.rows({ view: 'all', reverse, offset: 40, limit: 10 });
      await store.rows({ view: 'all', reverse, after: [round * 1000], limit: 10 });
      await store.rows({ view: 'state', prefix: ['Queued'], reverse, limit: 10 });
      await store.rows({
        view: 'state',
        prefix: ['Queued'],
        reverse,
        limit: 10,
        after: ['Queued', idOf(round * 1000)],
      });
    }
  },
  counters: (store) => store.counters('actors/'),
  holder: (store, round) => store.holder(`name-${idOf(round * 100)}`),
  names: (store, round) => store.names({ after: `name-${idOf(round * 100)}`, limit: 10 }),
  leaseEffects: async (store, round) => {
    const leased = [
      ...(await store.leaseEffects(DUE + ACTORS, 4)),
      ...(await store.leaseEffects(DUE + ACTORS, 4, `queue/${round * 2}`)),
      ...(await store.leaseEffects(DUE + ACTORS, 1, `queue/${round * 2 + 200}`, true)),
      ...(await store.leaseEffects(DUE + ACTORS, 1, LONG_QUEUE)),
    ];
    for (const { key } of leased.slice(2)) await store.deferEffect(key, DUE + 10 * ACTORS, 'no answer');
    await store.settleEffects(leased.slice(0, 2).map(({ key }) => key));
  },
  partitions: async (store, round) => {
    await store.partitions({ prefix: 'queue/', limit: 10 });
    await store.partitions({ prefix: 'queue/', after: `queue/${round}`, limit: 10 });
  },
  deferEffect: (store, round) => store.deferEffect(`job/${idOf(round * 200)}/1/0`, DUE + ACTORS, 'again'),
  releaseEffects: (store, round) => store.releaseEffects([`job/${idOf(round * 400)}/1/0`, 'job/none/1/0']),
  settleEffects: (store, round) => store.settleEffects([`job/${idOf(round * 300)}/1/0`, 'job/none/1/0']),
  nextEffectDue: (store) => store.nextEffectDue(),
  pendingEffects: (store, round) => store.pendingEffects(address(idOf(round * 100))),
  failedEffects: async (store, round) => {
    await store.failedEffects({ limit: 10 });
    await store.failedEffects({ after: `job/${idOf(round * 1000)}/1/0`, limit: 10 });
  },
  effects: async (store, round) => {
    await store.effects({ limit: 10 });
    await store.effects({ kind: 'job', after: `job/${idOf(round * 1000)}/1/0`, limit: 10 });
  },
  takeEffect: (store, round) => store.takeEffect(`job/${idOf(round * 500)}/1/0`, DUE + ACTORS, 'asked'),
  failedEffectCount: (store) => store.failedEffectCount(),
  dueTimers: (store) => store.dueTimers(DUE + ACTORS, 10),
  nextTimerDue: (store) => store.nextTimerDue(),
  timers: async (store, round) => {
    await store.timers({ limit: 10 });
    const after = { due: DUE + round * 1000, actor: address(idOf(round)), name: 'w' };
    await store.timers({ after, limit: 10 });
  },
  packing: async (store) => {
    packed += 1;
    const actor = address(idOf(ACTORS / 2 + packed));
    await store.packing?.begin?.();
    await store.packing?.doneUntil('node');
    await store.packing?.pack([{ ...actor, revision: 1, states: ['Queued'] }], 'node', ['node', 1, packed]);
    await store.packing?.end?.();
    // Unpacks it.
    if (!(await store.commit(stepOf(actor, 1))).ok) throw new Error('A step was refused.');
  },
  commit: async (store) => {
    created += 1;
    const actor = address(`new-${created}`);
    const effect = effectOf(actor, 1, 0, DUE);
    const timer = { name: 'w', due: DUE + created };
    const row = { view: 'all', key: [-created] };
    const name = `name-${actor.id}`;
    const line = (id: number) => ({ id, at: id, state: 'Queued', message: 'm', cause: 'X' });
    const steps = [
      stepOf(actor, 0, {
        journal: [line(1)],
        effects: [effect, { ...effectOf(actor, 1, 1, DUE), partition: `queue/${created}` }],
        timers: { arm: [{ ...timer, event: { type: 'W' } }], disarm: [] },
        rows: { put: [{ ...row, value: 1 }], remove: [] },
        names: { take: [name], release: [] },
        counters: { [`c/${created}`]: 1 },
        moved: { from: null, to: '1/Queued' },
      }),
      stepOf(actor, 1, {
        journal: [line(2)],
        settles: effect.key,
        dropsEffects: true,
        timers: { arm: [], disarm: [timer] },
        rows: { put: [], remove: [row] },
        names: { take: [], release: [name] },
        moved: { from: '1/Queued', to: '1/Done' },
      }),
      stepOf(actor, 2, { ends: true, moved: { from: '1/Done', to: null } }),
    ];
    for (const step of steps) {
      const { ok } = await store.commit(step);
      if (!ok) throw new Error('A step was refused.');
    }
  },
};

const OPERATIONS_OF_NODES: {
  readonly [name in Exclude<keyof StoreNodes, SilentOfNodes>]: (nodes: StoreNodes) => Promise<unknown>;
} = {
  sync: (nodes) => nodes.sync(),
  countersInOrder: (nodes) => nodes.countersInOrder('actors/', () => {}),
  acquire: (nodes) => nodes.acquire('one-at-a-time'),
  release: (nodes) => nodes.release('one-at-a-time'),
  takePermit: (nodes) => nodes.takePermit('upload/127.0.0.1', 5, 60),
  list: (nodes) => nodes.list(),
};

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

interface Plan {
  readonly 'Query Text': string;
  readonly Plan: PlanNode;
}

/** Scans of a statement that read more than a few rows or pages of a growing table. */
function longScans({ 'Query Text': text, Plan: root }: Plan): readonly string[] {
  const found: string[] = [];
  const visit = (node: PlanNode): void => {
    const { 'Node Type': type, 'Relation Name': table = node['Index Name']?.split('_')[0] ?? '' } = node;
    const rows =
      (node['Actual Loops'] ?? 0) *
      ((node['Actual Rows'] ?? 0) +
        (node['Rows Removed by Filter'] ?? 0) +
        (node['Rows Removed by Index Recheck'] ?? 0));
    const pages = (node['Shared Hit Blocks'] ?? 0) + (node['Shared Read Blocks'] ?? 0);
    const isLong = type === 'Seq Scan' || rows > MAX_VISITED || pages > MAX_PAGES;
    if (TABLES.has(table) && type.endsWith('Scan') && isLong)
      found.push(
        `${type} of ${table}, ${rows} rows, ${pages} pages: ${text.replaceAll(/\s+/g, ' ').slice(0, 200)}`,
      );
    for (const child of node.Plans ?? []) visit(child);
  };
  visit(root);
  return found;
}

/** The log of the server, in which `auto_explain` writes each plan. */
class PlanLog {
  readonly #client: pg.Client;
  readonly #file: string;
  #read = 0;
  #marks = 0;

  constructor(client: pg.Client, file: string) {
    this.#client = client;
    this.#file = file;
  }

  /** Plans of the statements that were answered since the call before. */
  async next(): Promise<readonly Plan[]> {
    this.#marks += 1;
    const mark = `SELECT 'end of part ${this.#marks}'`;
    await this.#client.query(mark);
    const patience = AbortSignal.timeout(90_000);
    for (;;) {
      const lines = existsSync(this.#file) ? readFileSync(this.#file, 'utf8').split('\n') : [];
      // The last one may be incomplete.
      const plans = lines.slice(this.#read, -1).flatMap(planOf);
      const end = plans.findIndex(({ 'Query Text': text }) => text === mark);
      if (end >= 0) {
        this.#read = lines.length - 1;
        return plans.slice(0, end);
      }
      patience.throwIfAborted();
      await sleep(25);
    }
  }
}

function planOf(line: string): readonly Plan[] {
  const { message = '' } = JSON.parse(line) as { message?: string };
  const plan = message.startsWith('duration: ') ? message.indexOf('plan:\n{') : -1;
  return plan < 0 ? [] : [JSON.parse(message.slice(plan + 'plan:\n'.length)) as Plan];
}

/** Lets the server write plans from its next start on. */
async function explainEverything(cluster: Cluster): Promise<string> {
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  const settings = {
    logging_collector: 'on',
    log_destination: 'jsonlog',
    log_directory: 'log',
    log_filename: 'plans.log',
    log_rotation_size: '0',
    log_rotation_age: '0',
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_buffers': 'on',
    'auto_explain.log_timing': 'off',
    'auto_explain.log_nested_statements': 'on',
    'auto_explain.log_format': 'json',
    // Nothing but the operations changes what the plans depend on.
    autovacuum: 'off',
  };
  await client.query(`LOAD 'auto_explain'`);
  for (const [name, value] of Object.entries(settings))
    await client.query(`ALTER SYSTEM SET ${name} = '${value}'`);
  const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
  await client.end();
  await cluster.stop('fast');
  await cluster.start();
  return join(rows[0]?.data_directory ?? '', 'log', 'plans.json');
}

/** Writes the actors with lists, names, effects and timers. */
async function fill(pool: pg.Pool): Promise<void> {
  await migrateSchema(pool, SCHEMA);
  const numbers = Array.from({ length: ACTORS }, (_, at) => at);
  const actor = (number: number) => stepOf(address(idOf(number)), 0).actor;
  const body = (value: unknown) => JSON.stringify(value);
  const tables: { readonly [table in keyof typeof COPY_TABLES]: readonly StoreRecord[] } = {
    actors: numbers.map((number) => ({ key: ['job', idOf(number)], value: body(actor(number)) })),
    journal: numbers.flatMap((number) =>
      Array.from({ length: number === 1 ? MANY_LINES : 2 }, (_, at) => ({
        key: ['job', idOf(number), at + 1],
        value: body({ id: at + 1, message: 'A line.' }),
      })),
    ),
    rows: numbers.flatMap((number) => [
      { key: ['all', number], value: body({ id: idOf(number) }) },
      { key: ['state', number % 3 === 0 ? 'Done' : 'Queued', idOf(number)], value: 'null' },
    ]),
    names: numbers.map((number) => ({
      key: [`name-${idOf(number)}`],
      value: body(address(idOf(number))),
    })),
    counters: numbers.slice(0, 50).map((number) => ({ key: [`actors/job/1/${number}`], value: '1' })),
    effects: numbers.map((number) => ({
      key: ['job', idOf(number), 1, 0],
      value: body({
        dueAt: DUE + number,
        ...(number % 2 === 0 && { lane: number % 8 === 0 ? LONG_QUEUE : `queue/${number % 400}` }),
        failures: number % 400 === 0 ? 1 : 0,
        lastError: number % 400 === 0 ? 'no answer' : null,
        effect: { do: 'sign' },
      }),
    })),
    timers: numbers.map((number) => ({
      key: [DUE + number, 'job', idOf(number), 'w'],
      value: body({ type: 'W' }),
    })),
  };
  for (const [table, records] of Object.entries(tables)) {
    const { insert, values } = COPY_TABLES[table as keyof typeof COPY_TABLES];
    await pool.query(insert, values(records));
  }
}

test('no statement of a serving store reads a whole table, and each index of the tables is needed for that', async (t) => {
  t.timeout(240_000);
  const cluster = await startServer();
  t.teardown(() => cluster.remove());
  const file = await explainEverything(cluster);
  const pool = new pg.Pool({ connectionString: cluster.url, max: 1, options: `-c search_path=${SCHEMA}` });
  t.teardown(() => pool.end());
  await fill(pool);
  const client = new pg.Client({ connectionString: cluster.url, options: `-c search_path=${SCHEMA}` });
  await client.connect();
  t.teardown(() => client.end());
  const open = (node: string) =>
    openPostgresStore({
      url: cluster.url,
      schema: SCHEMA,
      poolSize: 2,
      node,
      leaseSeconds: 60,
      clock: systemClock,
      log: SILENT,
    });
  // The first node takes over all effects and timers; the second one has none.
  const stores = [await open('one'), await open('two')];
  t.teardown(() => Promise.all(stores.map((store) => store.close())));
  await client.query('VACUUM ANALYZE');
  const log = new PlanLog(client, file);
  await log.next();

  const serve = async (rounds = ROUNDS): Promise<void> => {
    for (const store of stores) {
      for (const operation of Object.values(OPERATIONS))
        for (let round = 1; round <= rounds; round += 1) await operation(store, round);
      for (const operation of Object.values(OPERATIONS_OF_NODES))
        for (let round = 1; round <= rounds; round += 1) await operation(store.nodes as StoreNodes);
    }
    // A node that ends, and takes over its own work when it starts again.
    for (const isLast of [false, true]) {
      const three = await open('three');
      created += 1;
      const actor = address(`new-${created}`);
      if (!isLast) await three.commit(stepOf(actor, 0, { effects: [effectOf(actor, 1, 0, DUE)] }));
      await three.close();
    }
  };

  await serve();
  const plans = await log.next();
  t.log(`${plans.length} plans of ${new Set(plans.map((plan) => plan['Query Text'])).size} statements`);
  for (const table of TABLES)
    t.true(
      plans.some((plan) => JSON.stringify(plan.Plan).includes(`"Relation Name":"${table}"`)),
      table,
    );
  t.deepEqual([...new Set(plans.flatMap(longScans))], []);
  await checkIndexes(t, client, async () => {
    await serve(1);
    return (await log.next()).flatMap(longScans);
  });
});

/** Drops each index in turn: either a statement reads a whole table then, or one that relies on uniqueness fails. */
async function checkIndexes(
  t: ExecutionContext,
  client: pg.Client,
  scansOfService: () => Promise<readonly string[]>,
): Promise<void> {
  const { rows } = await client.query<{ name: string; of: string; made: string; is_key: boolean }>(
    `SELECT indexname AS name, tablename AS of, indexdef AS made,
        EXISTS (SELECT FROM pg_constraint WHERE conname = indexname AND connamespace = to_regnamespace($1::text)) AS is_key
      FROM pg_indexes WHERE schemaname = $1::text AND tablename = ANY ($2) ORDER BY 1`,
    [SCHEMA, [...TABLES]],
  );
  t.true(rows.length >= TABLES.size);
  for (const { name, of, made, is_key } of rows) {
    await client.query(is_key ? `ALTER TABLE ${of} DROP CONSTRAINT ${name}` : `DROP INDEX ${name}`);
    const scans = await scansOfService().catch((error: { code?: unknown }) => {
      if (error.code !== 'store.unavailable') throw error;
      return ['refused'];
    });
    t.true(scans.length > 0, `nothing reads more without ${name}`);
    t.log(`${name}: ${scans.length}`);
    await client.query(made);
  }
}
