import {
  type BuiltRuntime,
  buildRuntime,
  type EffectHandler,
  systemClock,
  systemIds,
} from '@sealwright/runtime';
import { postgres } from '@sealwright/runtime/postgres';
import { openPostgresStore } from '@sealwright/runtime/postgres-parts';
import test, { type ExecutionContext } from 'ava';
import { SILENT } from '../actors/portal/uploads/upload-harness.ts';
import { type Cluster, type Pooler, startCluster, startPooler } from '../postgres/cluster.ts';
import { heard, mortalTally, T1, T2, type TallyContext, until } from '../runtime/test-runtime.ts';
import { pendingWorkContract } from './pending-work.ts';
import { publicContract } from './public.ts';
import { runtimeContract } from './runtime.ts';
import { storeContract } from './store.ts';

let cluster: Cluster | undefined;
let pooler: Pooler | undefined;
let schemas = 0;

test.before(async (t) => {
  cluster = await startCluster(t as ExecutionContext);
  pooler = cluster && (await startPooler(cluster));
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
      leaseSeconds: 5,
      clock: systemClock,
      log: SILENT,
    });
}

async function openStore(t: ExecutionContext, place: Pick<Cluster, 'url'> | undefined = cluster) {
  if (place === undefined) return undefined;
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

storeContract('PostgreSQL store', openStore);
// Without a pooler nothing is tested: the default place is the server itself.
storeContract('PostgreSQL store behind a pooler', async (t) =>
  pooler === undefined ? undefined : openStore(t, pooler),
);
runtimeContract('PostgreSQL store', openStore);
pendingWorkContract('PostgreSQL store', openStore);
publicContract(
  'PostgreSQL store',
  () => {
    if (cluster === undefined) return undefined;
    const { url } = cluster;
    schemas += 1;
    const schema = `contract_${schemas}`;
    return (node) => postgres(url, { schema, node, poolSize: 3, leaseSeconds: 3 });
  },
  true,
);

test('PostgreSQL store: an actor that ends and is made anew on three nodes gives out no key twice and takes no outcome of an earlier life', async (t) => {
  if (cluster === undefined) {
    t.pass('the engine is not installed');
    return;
  }
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
      ...{ store, clock: systemClock, ids: systemIds, log: SILENT },
      ...{ definitions: [mortalTally], handlers: { work } },
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
