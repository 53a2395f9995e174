/** Runs the promises of the PostgreSQL store while each actor is packed as soon as its step is stored. */
import { systemClock } from '@sealwright/runtime';
import { openPostgresStore } from '@sealwright/runtime/postgres-parts';
import ava, { type ExecutionContext } from 'ava';
import { SILENT } from '../actors/portal/uploads/upload-harness.ts';
import { type Cluster, startServer } from '../postgres/cluster.ts';
import { withTools } from '../verifiers/tool.ts';
import { packing } from './packing.ts';
import { storeContract } from './store.ts';

const test = withTools(ava, 'postgres');

let cluster: Cluster;
let schemas = 0;

test.before(async () => {
  cluster = await startServer();
});
test.after.always(() => cluster?.remove());

const openPacked = async (t: ExecutionContext) => {
  const { url } = cluster;
  schemas += 1;
  const schema = `packed_${schemas}`;
  const open = () =>
    openPostgresStore({
      url,
      schema,
      poolSize: 3,
      node: 'one',
      leaseSeconds: 5,
      clock: systemClock,
      log: SILENT,
    });
  let store = await open();
  t.teardown(() => store.close());
  return {
    store: packing(store),
    reopen: async () => {
      await store.close();
      store = await open();
      return packing(store);
    },
  };
};

storeContract('PostgreSQL store whose actors are packed', openPacked, test);
