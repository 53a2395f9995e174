/** A rolling upgrade: nodes of two versions of the program work on one database. */

import { readFileSync } from 'node:fs';
import { type ActorDefinition, systemClock, systemIds } from '@sealwright/runtime';
import { finishUpgrade, openPostgresStore } from '@sealwright/runtime/postgres-parts';
import ava, { type ExecutionContext } from 'ava';
import { assign, setup } from 'xstate';
import { type BuiltRuntime, buildRuntime } from '#runtime/runtime.js';
import { migrateStore } from '#runtime/step/migrate.js';
import { SILENT } from '../actors/portal/uploads/upload-harness.ts';
import { freshFolder, run } from '../commands/program.ts';
import { withTools } from '../verifiers/tool.ts';
import { startServer } from './cluster.ts';

const test = withTools(ava, 'postgres');

const earlier: ActorDefinition = {
  kind: 'lamp',
  version: 1,
  machine: setup({ types: { context: {} as { watts: number } } }).createMachine({
    id: 'lamp',
    context: ({ input }) => input as { watts: number },
    initial: 'Off',
    states: { Off: { on: { TOGGLE: 'On' } }, On: { on: { TOGGLE: 'Off' } } },
  }),
  rows: ({ id, context }) => [{ view: 'lamps', key: [id], value: context.watts }],
};

const later: ActorDefinition = {
  kind: 'lamp',
  version: 2,
  machine: setup({
    types: { context: {} as { watts: number; toggles: number } },
    actions: { count: assign({ toggles: ({ context }) => context.toggles + 1 }) },
  }).createMachine({
    id: 'lamp',
    context: ({ input }) => ({ ...(input as { watts: number }), toggles: 0 }),
    initial: 'Off',
    states: {
      Off: { on: { TOGGLE: { target: 'On', actions: 'count' } } },
      On: { on: { TOGGLE: { target: 'Off', actions: 'count' } } },
    },
  }),
  rows: ({ id, context }) => [{ view: 'lamps', key: [id], value: context.watts }],
  migrations: {
    1: {
      migrate: ({ state, context }) => ({
        state,
        context: { ...(context as { watts: number }), toggles: 0 },
      }),
    },
  },
};

const LAMP = (id: string) => ({ kind: 'lamp', id });
const TOGGLE = { type: 'TOGGLE' };

interface UpgradedNode {
  readonly runtime: BuiltRuntime;
  readonly migrated: number;
  stop(): Promise<void>;
}

/** Starts a node as the program does: it migrates the store, then its actors live. */
async function startNode(
  t: ExecutionContext,
  url: string,
  {
    name,
    version,
    definition,
  }: { readonly name: string; readonly version: string; readonly definition: ActorDefinition },
): Promise<UpgradedNode> {
  const store = await openPostgresStore({
    url,
    schema: 'upgrade',
    poolSize: 3,
    node: name,
    leaseSeconds: 5,
    info: { version },
    clock: systemClock,
    log: SILENT,
  });
  const { migrated } = await migrateStore(store, [definition], {
    log: SILENT,
    now: systemClock.now(),
  });
  const clock = store.nodes?.clock ?? systemClock;
  const runtime = buildRuntime({
    store,
    clock,
    ids: systemIds,
    log: SILENT,
    definitions: [definition],
    handlers: {},
  });
  runtime.start();
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= runtime.stop().then(() => store.close());
    return stopping;
  };
  t.teardown(stop);
  return { runtime, migrated, stop };
}

test('nodes of two versions run side by side, and the last new node migrates the remaining actors', async (t) => {
  t.timeout(120_000);
  const cluster = await startServer();
  t.teardown(() => cluster.remove());
  const start = (name: string, version: string, definition: ActorDefinition) =>
    startNode(t, cluster.url, { name, version, definition });

  const one = await start('one', '1.0', earlier);
  const two = await start('two', '1.0', earlier);
  for (const id of ['a', 'b', 'c'])
    t.true((await one.runtime.system.create(LAMP(id), { watts: 5 })).accepted);

  await two.stop();
  const upgraded = await start('two', '2.0', later);
  t.is(upgraded.migrated, 0, 'the node of the earlier version still reads the actors');
  t.true((await one.runtime.system.send(LAMP('a'), TOGGLE)).accepted);

  // The new node reads an earlier actor in its own form, and migrates it with its first step.
  t.deepEqual((await upgraded.runtime.system.read(LAMP('a')))?.context, { watts: 5, toggles: 0 });
  t.like(await upgraded.runtime.system.send(LAMP('a'), TOGGLE), { accepted: true, actor: { state: 'Off' } });
  t.like(await upgraded.runtime.store.load(LAMP('a')), { version: 2, context: { watts: 5, toggles: 1 } });

  // The earlier node leaves it to the others, and goes on with the rest.
  await t.throwsAsync(one.runtime.system.send(LAMP('a'), TOGGLE), { code: 'actor.newer-version' });
  await t.throwsAsync(one.runtime.system.read(LAMP('a')), { code: 'actor.newer-version' });
  t.true((await one.runtime.system.send(LAMP('b'), TOGGLE)).accepted);
  t.true((await one.runtime.system.create(LAMP('d'), { watts: 7 })).accepted);
  t.like(await upgraded.runtime.store.load(LAMP('a')), { stopped: null });
  t.like(await upgraded.runtime.system.send(LAMP('d'), TOGGLE), { accepted: true, actor: { state: 'On' } });

  // A node of the earlier version that ends may start again meanwhile.
  await one.stop();
  const again = await start('one', '1.0', earlier);
  t.true((await again.runtime.system.send(LAMP('c'), TOGGLE)).accepted);

  await again.stop();
  const last = await start('one', '2.0', later);
  t.is(last.migrated, 2, 'b and c');
  t.deepEqual(await last.runtime.store.counters('actors/'), {
    'actors/lamp/2/Off': 1,
    'actors/lamp/2/On': 3,
  });
});

test('once an upgrade is finished, nodes of the earlier version refuse to start and name the backup', async (t) => {
  t.timeout(120_000);
  const cluster = await startServer();
  t.teardown(() => cluster.remove());
  const start = (name: string, version: string) =>
    startNode(t, cluster.url, { name, version, definition: earlier });
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  const one = await start('one', '0.0.9');
  await start('two', version);
  const backup = '/mnt/backup/before';
  await t.throwsAsync(finishUpgrade({ url: cluster.url, schema: 'upgrade', version, backup }), {
    code: 'store.earlier-nodes',
    message: /Nodes of another version than \S+ run: one \(0\.0\.9\)\. Replace them first/,
  });
  // Until then the way back is open.
  await one.stop();
  const again = await start('one', '0.0.9');
  t.true((await again.runtime.system.create(LAMP('a'), { watts: 5 })).accepted);
  await again.stop();

  const finished = await run(freshFolder(), [
    'store',
    'finish-upgrade',
    `--backup=${backup}`,
    '--Runtime:Store=postgres',
    `--Runtime:Postgres:Url=${cluster.url}`,
    '--Runtime:Postgres:Schema=upgrade',
  ]);
  t.is(finished.code, 0, finished.err);
  await t.throwsAsync(start('one', '0.0.9'), {
    code: 'store.too-new',
    message:
      /is finished; this one has version 0\.0\.9.*restore the backup that was made before: \/mnt\/backup\/before\./,
  });
  const later = await start('one', `${version.split('.')[0]}.99.0`);
  t.true((await later.runtime.system.send(LAMP('a'), TOGGLE)).accepted);
});
