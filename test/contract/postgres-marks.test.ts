/** Rows that may have changed since a mark, on PostgreSQL. Source: docs/decisions/0294-tables-kept-over-a-start.md. */
import { type ActorStore, type Row, systemClock } from '@sealwright/runtime';
import { openPostgresStore } from '@sealwright/runtime/postgres-parts';
import ava, { type ExecutionContext } from 'ava';
import pg from 'pg';
import { compareKeys } from '#runtime/model/keys.js';
import { KeyBlocks } from '../../actors/shared/tables/table-snapshots.ts';
import { SILENT } from '../actors/portal/uploads/upload-harness.ts';
import { startServer } from '../postgres/cluster.ts';
import { withTools } from '../verifiers/tool.ts';
import { stepOf } from './steps.ts';

const test = withTools(ava, 'postgres');

const SCHEMA = 'marks';
const VIEW = 'v';
const MARK = 'm/1';
const PREFIXES = ['a', 'ab', 'b'];
const ROUNDS = 6;

type Rows = Map<string, Row>;

/** A generator of numbers from 0 to 1, the same in each run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

async function fixture(t: ExecutionContext) {
  t.timeout(120_000);
  const cluster = await startServer();
  t.teardown(() => cluster.remove());
  const { url } = cluster;
  const open = (node: string) =>
    openPostgresStore({
      url,
      schema: SCHEMA,
      poolSize: 4,
      node,
      // Beyond the tests: a heartbeat would begin a new session, and is a transaction beside what is written.
      leaseSeconds: 300,
      clock: systemClock,
      log: SILENT,
    });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`SET search_path = ${SCHEMA}`);
  const store = await open('one');
  t.teardown(async () => {
    await store.close();
    await client.end();
  });
  const rows: Rows = new Map();
  let revision = 0;
  const write = async (put: readonly Row[], remove: readonly Row[] = []) => {
    const changes = { put, remove: remove.map(({ view, key }) => ({ view, key })) };
    const step = stepOf({ kind: 'k', id: '1' }, revision, { rows: changes });
    t.true((await store.commit(step)).ok);
    revision += 1;
    for (const { key } of remove) rows.delete(JSON.stringify(key));
    for (const row of put) rows.set(JSON.stringify(row.key), row);
  };
  return { open, client, store, rows, write };
}

async function mark(store: ActorStore): Promise<void> {
  await store.marks?.begin(MARK);
  await store.marks?.end(MARK);
}

function changed(store: ActorStore, kept: Rows, prefix: string) {
  return store.marks?.changed(MARK, { view: VIEW, prefix: [prefix] }, async () => {
    const blocks = new KeyBlocks();
    const keys = [...kept.values()].map(({ key }) => key).filter(([first]) => first === prefix);
    for (const key of keys.sort(compareKeys)) blocks.add(() => key);
    return blocks;
  });
}

test('each row that was written or removed since a mark is in a range, and few others are', async (t) => {
  const made = await fixture(t);
  const { client, store, rows, write } = made;
  const next = numbers(29);
  const rowOf = (prefix: string, number: number): Row => ({
    view: VIEW,
    key: [prefix, number],
    value: Math.floor(next() * 1e9),
  });
  for (const prefix of PREFIXES) await write(Array.from({ length: 700 }, (_, at) => rowOf(prefix, at * 3)));
  await write([{ view: 'w', key: ['a', 1], value: 1 }]);
  rows.delete(JSON.stringify(['a', 1]));
  let differences = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    // A table may have been kept with what was stored since the mark was begun.
    await store.marks?.begin(MARK);
    const atBegin = new Map(rows);
    const change = async (most: number) => {
      const count = Math.floor(next() ** 3 * most);
      const all = [...rows.values()];
      const some = () => all[Math.floor(next() * all.length)] as Row;
      const remove = new Map(
        Array.from({ length: count }, some).map((row) => [JSON.stringify(row.key), row]),
      );
      const put = Array.from({ length: count }, (_, at) =>
        at % 2 === 0 ? rowOf(PREFIXES[at % 3] ?? '', Math.floor(next() * 2_100)) : { ...some(), value: at },
      ).filter(({ key }) => !remove.has(JSON.stringify(key)));
      await write(
        [...new Map(put.map((row) => [JSON.stringify(row.key), row])).values()],
        [...remove.values()],
      );
    };
    await change(30);
    const kept = round % 2 === 0 ? atBegin : new Map(rows);
    await store.marks?.end(MARK);
    await change(60);
    if (round === 3) await client.query('VACUUM FREEZE rows');
    for (const prefix of PREFIXES) {
      const ranges = await changed(store, kept, prefix);
      const isIn = (key: Row['key']) =>
        ranges?.some(
          ({ from, to }) =>
            (from === undefined || compareKeys(key, from) >= 0) &&
            (to === undefined || compareKeys(key, to) < 0),
        ) === true;
      for (const name of new Set([...kept.keys(), ...rows.keys()])) {
        const was = kept.get(name);
        const is = rows.get(name);
        const { key } = (was ?? is) as Row;
        if (key[0] !== prefix || was?.value === is?.value) continue;
        differences += 1;
        t.true(isIn(key), `${name} is in none of the ${ranges?.length} ranges of round ${round}`);
      }
      if (round > 0) continue;
      const within = [...rows.values()].filter(({ key }) => key[0] === prefix && isIn(key)).length;
      t.true(within < 690, `${within} of 700 rows are in ranges`);
    }
  }
  t.true(differences > 60, `${differences} rows differ`);
  // A transaction in progress, such as a heartbeat, makes what was written beside it count as changed.
  for (let count = 1; count > 0; ) {
    await mark(store);
    count = 0;
    for (const prefix of PREFIXES) count += (await changed(store, rows, prefix))?.length ?? 1;
  }
});

test('steps of other nodes before a mark are observed when it is begun', async (t) => {
  const made = await fixture(t);
  const { open, store, write } = made;
  const other = await open('two');
  t.teardown(() => other.close());
  const seen: unknown[] = [];
  other.nodes?.follow({
    committed: ({ rows }) => void seen.push(...rows.put.map(({ value }) => value)),
    adopted: () => {},
  });
  for (let at = 0; at < 5; at += 1) {
    await write([{ view: VIEW, key: ['a', at], value: at }]);
    await other.marks?.begin(`m/${at}`);
    t.is(seen.at(-1), at);
  }
  t.is(await changed(store, new Map(), 'a'), undefined, 'none has ended');
});

test('a mark whose row is not the one that was written is not known', async (t) => {
  const made = await fixture(t);
  const { client, store, rows, write } = made;
  await write([{ view: VIEW, key: ['a', 1], value: 1 }]);
  t.is(await changed(store, rows, 'a'), undefined, 'before the first');
  await mark(store);
  t.truthy(await changed(store, rows, 'a'));
  // As a dump writes it.
  await client.query('CREATE TABLE dumped AS SELECT * FROM marks');
  await client.query('TRUNCATE marks');
  await client.query('INSERT INTO marks SELECT * FROM dumped');
  t.is(await changed(store, rows, 'a'), undefined);
  await mark(store);
  t.truthy(await changed(store, rows, 'a'));
});

test('a mark that a node ends when its session is over is not known: steps of others were not told', async (t) => {
  const made = await fixture(t);
  const { client, open, store, rows, write } = made;
  await write([{ view: VIEW, key: ['a', 1], value: 1 }]);
  const other = await open('two');
  t.teardown(() => other.close());
  // As the other node takes over.
  await client.query("DELETE FROM sessions WHERE node = 'one'");
  const step = stepOf({ kind: 'k', id: '2' }, 0, {
    rows: { put: [{ view: VIEW, key: ['a', 1], value: 2 }], remove: [] },
  });
  t.true((await other.commit(step)).ok);
  await store.marks?.begin(MARK);
  await t.throwsAsync(async () => store.marks?.end(MARK), { code: 'store.unavailable' });
  t.is(await changed(store, rows, 'a'), undefined);
  // Its next step is refused, and opens a new session.
  await t.throwsAsync(write([]), { code: 'store.unavailable' });
  await write([{ view: VIEW, key: ['b', 1], value: 3 }]);
  await t.throwsAsync(async () => store.marks?.end(MARK), { code: 'store.unavailable' });
  await mark(store);
  t.truthy(await changed(store, rows, 'a'), 'a mark of the new session is known');
});
