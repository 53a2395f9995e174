/** Messages of one actor to another, when two nodes step the sender in turn. */
import {
  type ActorStore,
  createRuntime,
  defineActor,
  type Log,
  type Runtime,
  systemClock,
  tell,
} from '@sealwright/runtime';
import { postgres } from '@sealwright/runtime/postgres';
import { openPostgresStore } from '@sealwright/runtime/postgres-parts';
import { MemoryDatabase, openMemoryNode } from '@sealwright/runtime/testing';
import ava, { type ExecutionContext } from 'ava';
import { assign, setup } from 'xstate';
import { type Cluster, startServer } from '../postgres/cluster.ts';
import { withTools } from '../verifiers/tool.ts';
import { A, effectOf, stepOf } from './steps.ts';

const test = withTools(ava, 'postgres');

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

let cluster: Cluster;
test.before(async () => {
  cluster = await startServer();
});
test.after.always(() => cluster?.remove());

const receiver = defineActor('receiver', {
  version: 1,
  machine: setup({
    types: {} as { context: { heard: readonly number[] }; events: { type: 'TOLD'; n: number } },
    actions: { hear: assign({ heard: ({ context, event }) => [...context.heard, event.n] }) },
  }).createMachine({ context: { heard: [] }, on: { TOLD: { actions: 'hear' } } }),
});

const sender = defineActor('sender', {
  version: 1,
  machine: setup({
    types: {} as { events: { type: 'GO'; n: number; to?: string } },
    actions: { tell: tell(receiver) },
  }).createMachine({
    on: {
      GO: {
        actions: {
          type: 'tell',
          params: ({ event }) => ({ id: event.to ?? 'r', event: { type: 'TOLD', n: event.n } }),
        },
      },
    },
  }),
});

async function startNodes(
  t: ExecutionContext,
  schema: string,
  { url }: Pick<Cluster, 'url'>,
): Promise<readonly [Runtime, Runtime]> {
  const start = async (node: string) => {
    const store = postgres(url, { schema, node, poolSize: 3, leaseSeconds: 5 });
    const runtime = await createRuntime({ store, actors: [sender, receiver], log: SILENT });
    t.teardown(() => runtime.stop());
    return runtime;
  };
  return [await start('a'), await start('b')];
}

const COUNT = 60;
const IN_ORDER = Array.from({ length: COUNT }, (_, n) => n);

test('messages of a pair arrive in the order of their sends, although two nodes take them in turn', async (t) => {
  const [a, b] = await startNodes(t, 'in_turn', cluster);
  await a.create(receiver, 'r');
  await a.create(sender, 's');
  for (const n of IN_ORDER)
    t.true((await (n % 2 === 0 ? a : b).send(sender, 's', { type: 'GO', n })).accepted);
  const all = await a.waitFor(receiver, 'r', ({ context }) => context.heard.length === COUNT, {
    timeoutMs: 60_000,
  });
  t.deepEqual(all.context.heard, IN_ORDER);
});

test('what a node that stops has not delivered comes before what the other node has sent since', async (t) => {
  const [a, b] = await startNodes(t, 'one_stops', cluster);
  await a.create(receiver, 'r');
  await a.create(sender, 's');
  const half = COUNT / 2;
  await Promise.all(IN_ORDER.slice(0, half).map((n) => a.send(sender, 's', { type: 'GO', n })));
  const stopped = a.stop();
  for (const n of IN_ORDER.slice(half)) await b.send(sender, 's', { type: 'GO', n });
  await stopped;
  const all = await b.waitFor(receiver, 'r', ({ context }) => context.heard.length === COUNT, {
    timeoutMs: 60_000,
  });
  t.deepEqual(all.context.heard, IN_ORDER);
});

const NODE = { leaseSeconds: 5, clock: systemClock, log: SILENT };

/** Two nodes on one database. */
const DATABASES: { readonly [name: string]: () => (node: string) => Promise<ActorStore> } = {
  memory: () => {
    const database = new MemoryDatabase(systemClock);
    return (node) => openMemoryNode({ ...NODE, database, link: (statement) => statement(), node });
  },
  PostgreSQL: () => {
    const { url } = cluster;
    return (node) => openPostgresStore({ ...NODE, url, schema: 'leases', poolSize: 2, node });
  },
};

for (const [name, database] of Object.entries(DATABASES))
  (name === 'memory' ? ava : test)(
    `${name}: the first effect of a pair holds back later ones of other nodes, also with clocks that differ`,
    async (t) => {
      const open = database();
      const one = await open('one');
      const two = await open('two');
      t.teardown(() => Promise.all([one.close(), two.close()]));
      const told = (revision: number, due: number) => ({
        ...effectOf(A, revision, 0, due),
        partition: 'tell/pair',
      });
      const first = told(1, 8);
      const second = told(2, 5);
      const third = told(3, 5);
      for (const [at, effect] of [first, second, third].entries())
        t.true((await (at === 0 ? one : two).commit(stepOf(A, at, { effects: [effect] }))).ok);
      const lease = (store: ActorStore, now: number) => store.leaseEffects(now, 1, 'tell/pair', true);

      t.deepEqual(await lease(two, 5), [], 'the clock of the other node is 3 ms ahead');
      t.deepEqual(await lease(one, 5), []);
      t.deepEqual(await lease(two, 8), []);
      t.deepEqual(await lease(one, 8), [first]);
      t.deepEqual(await lease(two, 8), [], 'the first one is under way');
      await one.deferEffect(first.key, 1_000_000, 'set aside');
      t.deepEqual(await lease(two, 8), [second]);
      t.deepEqual(await lease(two, 8), [], 'the third one waits for the second of the same node');
      await two.settleEffects([second.key]);
      t.deepEqual(await lease(two, 8), [third]);
      await two.settleEffects([third.key]);
      t.like(await lease(one, 1_000_000), [{ key: first.key, failures: 1 }]);
    },
  );
