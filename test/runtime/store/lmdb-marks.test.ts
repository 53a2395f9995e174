/** Rows that may have changed since a named moment. Source: docs/decisions/0294-tables-kept-over-a-start.md. */
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ActorStore, Row } from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import test from 'ava';
import { openTables } from '#runtime/store/lmdb/lmdb-tables.js';
import { stepOf } from '../../contract/steps.ts';
import { folderFor } from '../folder.ts';

const SEED = 20_261_128;
const VIEWS = ['a', 'rows', 'rows-by', 'z'];
const ROUNDS = 12;
const ROWS_OF_A_STEP = 40;

/** Numbers from 0 to below 1, the same in each run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

async function mark({ marks }: ActorStore, name: string): Promise<void> {
  await marks?.begin(name);
  await marks?.end(name);
}

type Rows = Map<string, string>;

async function rowsOf(store: ActorStore, view: string): Promise<Rows> {
  const rows = await store.rows({ view, limit: 1_000_000 });
  return new Map(rows.map(({ key, value }) => [JSON.stringify(key), JSON.stringify(value)]));
}

function compareKeys(a: Row['key'], b: Row['key']): number {
  for (const [at, part] of a.entries()) {
    const other = b[at];
    if (other === undefined) return 1;
    if (part !== other) return part < other ? -1 : 1;
  }
  return a.length - b.length;
}

/** LMDB needs none. */
const NO_KEYS = () => Promise.reject(new Error('Not asked for.'));

test('every row that was put, changed or removed since a mark lies in a changed range', async (t) => {
  const next = random(SEED);
  const below = (end: number) => Math.floor(next() * end);
  const folder = folderFor(t);
  let store = openLmdbStore({ folder });
  let revision = 0;
  const write = async (steps: number, spread: number) => {
    const area = below(spread);
    for (let step = 0; step < steps; step += 1) {
      const put: Row[] = [];
      const remove: Omit<Row, 'value'>[] = [];
      const isRemoval = next() < 0.5;
      for (let at = 0; at < ROWS_OF_A_STEP; at += 1) {
        const view = VIEWS[below(VIEWS.length)] ?? '';
        const key = [`o${below(2)}`, area + below(400)];
        // Some are on pages of their own.
        const length = next() < 0.02 ? 9_000 : below(600);
        if (isRemoval) remove.push({ view, key });
        else put.push({ view, key, value: 'x'.repeat(length) });
      }
      t.true((await store.commit(stepOf({ kind: 'k', id: '1' }, revision, { rows: { put, remove } }))).ok);
      revision += 1;
    }
    // Filled pages count as changed.
    for (const _ of [1, 2]) await store.packing?.refill?.(async () => true);
  };
  await write(150, 2_000);
  let changed = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    await mark(store, `m/${round}`);
    const before = new Map<string, Rows>();
    for (const view of VIEWS) before.set(view, await rowsOf(store, view));
    await write(1 + below(12), 3_000);
    if (round % 3 === 0) {
      await store.close();
      store = openLmdbStore({ folder });
    }
    for (const view of VIEWS) {
      const ranges = await store.marks?.changed(`m/${round}`, { view }, NO_KEYS);
      const was = before.get(view) ?? new Map();
      const is = await rowsOf(store, view);
      let within = 0;
      for (const text of new Set([...was.keys(), ...is.keys()])) {
        const key = JSON.parse(text);
        const isIn = ranges?.some(
          ({ from, to }) =>
            (from === undefined || compareKeys(key, from) >= 0) &&
            (to === undefined || compareKeys(key, to) < 0),
        );
        within += isIn ? 1 : 0;
        if (was.get(text) === is.get(text)) continue;
        changed += 1;
        t.true(isIn, `${view} ${text} is in none of the ${ranges?.length} ranges of round ${round}`);
      }
      t.true(within < is.size + was.size);
    }
  }
  t.true(changed > 500, `${changed} rows changed`);
  t.is(
    await store.marks?.changed('m/0', { view: 'rows' }, NO_KEYS),
    undefined,
    'the last that ended is kept, and what is begun since',
  );
  // One of another kind, and one that is begun, take no place of the last that ended.
  await mark(store, 'n/1');
  await store.marks?.begin('m/begun');
  await store.marks?.begin('m/again');
  t.is(await store.marks?.changed('m/again', { view: 'rows' }, NO_KEYS), undefined);
  await store.marks?.end('m/again');
  for (const known of ['n/1', 'm/again', `m/${ROUNDS - 1}`])
    t.truthy(await store.marks?.changed(known, { view: 'rows' }, NO_KEYS), known);
  await store.close();
});

test('nothing lies in a range when nothing was stored, and an older copy knows no later mark', async (t) => {
  const folder = folderFor(t);
  const older = folderFor(t);
  const rows = (count: number) => ({
    rows: { put: Array.from({ length: count }, (_, at) => ({ view: 'v', key: [at], value: 1 })), remove: [] },
  });
  const store = openLmdbStore({ folder });
  await store.commit(stepOf({ kind: 'k', id: '1' }, 0, rows(5_000)));
  await mark(store, 'm/early');
  await store.close();
  cpSync(folder, older, { recursive: true });
  const again = openLmdbStore({ folder });
  t.deepEqual(await again.marks?.changed('m/early', { view: 'v' }, NO_KEYS), []);
  await mark(again, 'm/late');
  t.deepEqual(await again.marks?.changed('m/late', { view: 'v' }, NO_KEYS), []);
  await again.close();
  const copy = openLmdbStore({ folder: older });
  await copy.commit(stepOf({ kind: 'k', id: '1' }, 1, rows(10)));
  t.is(await copy.marks?.changed('m/late', { view: 'v' }, NO_KEYS), undefined);
  const ranges = await copy.marks?.changed('m/early', { view: 'v' }, NO_KEYS);
  t.is(ranges?.length, 1);
  t.deepEqual([ranges?.[0]?.from, Number(ranges?.[0]?.to?.[0]) >= 10], [undefined, true]);
  await copy.close();
});

test('a copy whose pages were numbered anew does not know what has changed', async (t) => {
  const folder = folderFor(t);
  const compact = join(folderFor(t), 'compact');
  mkdirSync(compact);
  const store = openLmdbStore({ folder });
  const rows = (value: number) => ({ rows: { put: [{ view: 'v', key: [1], value }], remove: [] } });
  await store.commit(stepOf({ kind: 'k', id: '1' }, 0, rows(1)));
  await mark(store, 'm/before');
  await store.commit(stepOf({ kind: 'k', id: '1' }, 1, rows(2)));
  t.is((await store.marks?.changed('m/before', { view: 'v' }, NO_KEYS))?.length, 1);
  await store.close();
  const tables = openTables(folder);
  await tables.root.backup(compact, true);
  await tables.root.close();
  const again = openLmdbStore({ folder: compact });
  t.teardown(() => again.close());
  // Other tables are written with numbers behind that of the mark.
  await again.packing?.pack([], 'node', ['node', 1, 1]);
  t.is((await again.rows({ view: 'v', limit: 1 }))[0]?.value, 2);
  t.is(await again.marks?.changed('m/before', { view: 'v' }, NO_KEYS), undefined);
});
