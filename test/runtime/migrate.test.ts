import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  type ActorDefinition,
  type ActorStore,
  createRuntime,
  systemClock,
  systemIds,
} from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { MemoryStore } from '@sealwright/runtime/testing';
import test from 'ava';
import { assign, setup } from 'xstate';
import { stateNames } from '#runtime/model/machine-shape.js';
import { buildRuntime } from '#runtime/runtime.js';
import { deadlinesOf } from '#runtime/step/derive.js';
import { migrateStore } from '#runtime/step/migrate.js';
import { definitions as batchDefinitions } from '../../actors/batch/registry.ts';
import { portalDefinitions } from '../../actors/portal/registry.ts';
import { smallDisk } from '../service/small-disk.ts';
import { withTools } from '../verifiers/tool.ts';

const toolTest = withTools(test, 'tmpfs');

const log = { debug() {}, info() {}, warn() {}, error() {} };

const first: ActorDefinition = {
  kind: 'lamp',
  version: 1,
  machine: setup({ types: { context: {} as { watts: number } } }).createMachine({
    id: 'lamp',
    context: ({ input }) => input as { watts: number },
    initial: 'Off',
    states: { Off: { on: { TOGGLE: 'On' } }, On: { on: { TOGGLE: 'Off' } } },
  }),
  rows: ({ id, context }) => [{ view: 'lamps', key: [context.watts, id], value: null }],
  counters: ({ context }) => ({ watts: context.watts }),
};

const third: ActorDefinition = {
  kind: 'lamp',
  version: 3,
  machine: setup({
    types: { context: {} as { milliwatts: number; toggles: number } },
    actions: { count: assign({ toggles: ({ context }) => context.toggles + 1 }) },
  }).createMachine({
    id: 'lamp',
    context: ({ input }) => input as { milliwatts: number; toggles: number },
    initial: 'Dark',
    states: {
      Dark: { on: { TOGGLE: { target: 'Lit', actions: 'count' } } },
      Lit: { on: { TOGGLE: { target: 'Dark', actions: 'count' } } },
    },
  }),
  rows: ({ id, context }) => [{ view: 'lamps', key: [context.milliwatts, id], value: null }],
  counters: ({ context }) => ({ milliwatts: context.milliwatts }),
  migrations: {
    1: {
      migrate: ({ state, context }) => ({
        state: state === 'On' ? 'Lit' : 'Dark',
        context: { milliwatts: (context as { watts: number }).watts * 1000 },
      }),
      facts: ({ id, context }) => ({
        rows: [{ view: 'lamps', key: [context.watts, id], value: null }],
        counters: { watts: context.watts },
      }),
    },
    2: {
      migrate: ({ state, context }) => ({
        state,
        context: { ...(context as { milliwatts: number }), toggles: 0 },
      }),
    },
  },
};

function runtimeOf(store: ActorStore, definition: ActorDefinition) {
  return buildRuntime({
    store,
    clock: systemClock,
    ids: systemIds,
    log,
    definitions: [definition],
    handlers: {},
  });
}

async function storeOfLamps(): Promise<ActorStore> {
  const store = new MemoryStore();
  const { system } = runtimeOf(store, first);
  for (const watts of [5, 7, 40]) {
    await system.create({ kind: 'lamp', id: `l${watts}` }, { watts });
    if (watts === 7) await system.send({ kind: 'lamp', id: 'l7' }, { type: 'TOGGLE' });
  }
  return store;
}

test('actors of an earlier version pass every migration once, with their rows and counters', async (t) => {
  const store = await storeOfLamps();
  t.deepEqual(await store.counters('actors/'), { 'actors/lamp/1/Off': 2, 'actors/lamp/1/On': 1 });
  t.deepEqual(await migrateStore(store, [third], { log, now: 0 }), { migrated: 3, rearmed: 0 });
  t.like(await store.load({ kind: 'lamp', id: 'l7' }), {
    version: 3,
    state: 'Lit',
    context: { milliwatts: 7000, toggles: 0 },
  });
  t.deepEqual(
    (await store.rows({ view: 'lamps', limit: 9 })).map(({ key }) => key),
    [
      [5000, 'l5'],
      [7000, 'l7'],
      [40000, 'l40'],
    ],
  );
  t.deepEqual(await store.counters(''), {
    milliwatts: 52_000,
    'actors/lamp/3/Dark': 2,
    'actors/lamp/3/Lit': 1,
  });
  const { system } = runtimeOf(store, third);
  t.true((await system.send({ kind: 'lamp', id: 'l7' }, { type: 'TOGGLE' })).accepted);
  t.deepEqual(
    await migrateStore(store, [third], { log, now: 0 }),
    { migrated: 0, rearmed: 0 },
    'a second start finds nothing to do',
  );
});

test('a store with states that no migration reaches is refused with a line for each, and left unchanged', async (t) => {
  const store = await storeOfLamps();
  const without = { ...third, migrations: { 1: third.migrations?.[1] } } as ActorDefinition;
  const error = await t.throwsAsync(migrateStore(store, [without], { log, now: 0 }), {
    code: 'store.no-path',
  });
  t.regex(error?.message ?? '', /2 of lamp in Off \(version 1\): no migration leads from version 2 to 3/);
  t.regex(error?.message ?? '', /1 of lamp in On \(version 1\)/);
  t.is((await store.load({ kind: 'lamp', id: 'l5' }))?.version, 1);
  await t.throwsAsync(migrateStore(store, [], { log, now: 0 }), {
    message: /this program has no such actors/,
  });
  await migrateStore(store, [third], { log, now: 0 });
  await t.throwsAsync(migrateStore(store, [first], { log, now: 0 }), { message: /a newer program wrote it/ });
  const renamed: ActorDefinition = { ...first, version: 3 };
  await t.throwsAsync(migrateStore(store, [renamed], { log, now: 0 }), {
    message: /the machine has no such state/,
  });
});

test('a store by the program of 2026-11-21 opens with all its jobs', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'sealwright-store-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await mkdir(folder, { recursive: true });
  const packed = await readFile('test/fixtures/stores/2026-11-21-batch.mdb.gz');
  await writeFile(join(folder, 'data.mdb'), gunzipSync(packed));
  for (const visit of ['first', 'second']) {
    const store = openLmdbStore({ folder });
    await migrateStore(store, batchDefinitions, { log, now: 0 });
    const census = await store.counters('actors/job/');
    t.deepEqual(census, { 'actors/job/1/Completed': 1, 'actors/job/1/Failed': 1 }, visit);
    const jobs = await store.actors({ kind: 'job', limit: 10 });
    t.deepEqual(jobs.map(({ state }) => state).sort(), ['Completed', 'Failed'], visit);
    await store.close();
  }
});

test('no machine of the services has a deadline without a name', (t) => {
  const unnamed = [...batchDefinitions, ...portalDefinitions].flatMap((definition) =>
    stateNames(definition)
      .flatMap((state) => [...deadlinesOf(definition.machine, state)])
      .filter(([, { delay }]) => typeof delay === 'number')
      .map(([name]) => name),
  );
  t.deepEqual(unnamed, []);
});

test('a tool beside the program keeps the store as it was before it migrates an actor', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'sealwright-upgrade-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const folder = join(root, 'db');
  const store = openLmdbStore({ folder });
  t.teardown(() => store.close());
  for (const id of ['a', 'b'])
    await runtimeOf(store, first).system.create({ kind: 'lamp', id }, { watts: 5 });
  const same = await createRuntime({ store, actors: [first], start: 'never', log });
  t.true((await same.send(first, 'b', { type: 'TOGGLE' })).accepted);
  await same.stop();
  t.false(existsSync(`${folder}-before-upgrade`), 'nothing is older');
  const tool = await createRuntime({ store, actors: [third], start: 'never', log });
  t.true((await tool.send(third, 'a', { type: 'TOGGLE' })).accepted);
  await tool.stop();
  // The start that follows goes on with the same upgrade.
  await migrateStore(store, [third], { log, now: 0 });
  const kept = openLmdbStore({ folder: `${folder}-before-upgrade` });
  t.teardown(() => kept.close());
  t.deepEqual(await kept.counters('actors/'), { 'actors/lamp/1/Off': 1, 'actors/lamp/1/On': 1 });
});

test('an upgrade keeps the store as it was, a refused downgrade names it, and the earlier program opens it', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'sealwright-upgrade-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const folder = join(root, 'db');
  const copy = `${folder}-before-upgrade`;
  let store = openLmdbStore({ folder });
  t.teardown(() => store.close());
  const reopen = async () => {
    await store.close();
    store = openLmdbStore({ folder });
  };
  for (const id of ['a', 'b'])
    await runtimeOf(store, first).system.create({ kind: 'lamp', id }, { watts: 5 });
  await migrateStore(store, [first], { log, now: 0 });
  t.false(existsSync(copy), 'a start without an upgrade makes no copy');

  let migrated = 0;
  // The second actor fails: the upgrade ends between two actors, as in a crash.
  const failing: ActorDefinition = {
    ...third,
    migrations: {
      ...third.migrations,
      1: {
        migrate: (stored) => {
          migrated += 1;
          if (migrated === 2) throw new Error('ends here');
          return third.migrations?.[1]?.migrate(stored) ?? { state: '', context: {} };
        },
      },
    },
  };
  await t.throwsAsync(migrateStore(store, [failing], { log, now: 0 }), { message: /ends here/ });
  await reopen();
  await migrateStore(store, [third], { log, now: 0 });
  t.is((await store.load({ kind: 'lamp', id: 'b' }))?.version, 3);
  await reopen();
  const refused = await t.throwsAsync(migrateStore(store, [first], { log, now: 0 }), {
    code: 'store.no-path',
  });
  t.true(refused?.message.includes(copy), refused?.message);

  await store.close();
  await rename(folder, join(root, 'new'));
  await rename(copy, folder);
  store = openLmdbStore({ folder });
  t.deepEqual(await migrateStore(store, [first], { log, now: 0 }), { migrated: 0, rearmed: 0 });
  for (const id of ['a', 'b'])
    t.like(await store.load({ kind: 'lamp', id }), { version: 1, context: { watts: 5 } });
  await migrateStore(store, [third], { log, now: 0 });
  t.true(existsSync(copy), 'the next upgrade makes one again');
});

toolTest('an upgrade without room for its copy is refused, and goes on once there is room', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'sealwright-upgrade-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const disk = smallDisk(t, join(root, 'disk'), 16);
  const folder = join(root, 'disk', 'db');
  const store = openLmdbStore({ folder });
  t.teardown(() => store.close());
  await runtimeOf(store, first).system.create({ kind: 'lamp', id: 'a' }, { watts: 5 });
  await migrateStore(store, [first], { log, now: 0 });
  disk.fill(4096);
  const refused = await t.throwsAsync(migrateStore(store, [third], { log, now: 0 }), { code: 'store.full' });
  t.true(refused?.message.includes(`${folder}-before-upgrade`), refused?.message);
  t.like(await store.load({ kind: 'lamp', id: 'a' }), { version: 1 });
  disk.empty();
  await migrateStore(store, [third], { log, now: 0 });
  t.like(await store.load({ kind: 'lamp', id: 'a' }), { version: 3 });
});

toolTest('the copy of a store that has a disk of its own is on that disk', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'sealwright-upgrade-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const folder = join(root, 'volume');
  smallDisk(t, folder, 16);
  let store = openLmdbStore({ folder });
  t.teardown(() => store.close());
  await runtimeOf(store, first).system.create({ kind: 'lamp', id: 'a' }, { watts: 5 });
  await migrateStore(store, [first], { log, now: 0 });
  await migrateStore(store, [third], { log, now: 0 });
  t.deepEqual(await readdir(root), ['volume']);
  const refused = await t.throwsAsync(migrateStore(store, [first], { log, now: 0 }), {
    code: 'store.no-path',
  });
  t.true(refused?.message.includes(join(folder, 'before-upgrade')), refused?.message);

  await store.close();
  await copyFile(join(folder, 'before-upgrade', 'data.mdb'), join(folder, 'data.mdb'));
  store = openLmdbStore({ folder });
  await migrateStore(store, [first], { log, now: 0 });
  t.like(await store.load({ kind: 'lamp', id: 'a' }), { version: 1, context: { watts: 5 } });
});
