import test, { type ExecutionContext } from 'ava';
import { openPostgresStore, systemClock } from '../../runtime/index.ts';
import { SILENT } from '../actors/portal/uploads/upload-harness.ts';
import { type Cluster, startCluster } from '../postgres/cluster.ts';
import { runtimeContract } from './runtime.ts';
import { storeContract } from './store.ts';

let cluster: Cluster | undefined;
let schemas = 0;

test.before(async (t) => {
  cluster = await startCluster(t as ExecutionContext);
});
test.after.always(() => cluster?.remove());

async function openStore(t: ExecutionContext) {
  if (cluster === undefined) return undefined;
  const { url } = cluster;
  schemas += 1;
  const schema = `contract_${schemas}`;
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
    store,
    reopen: async () => {
      await store.close();
      store = await open();
      return store;
    },
  };
}

storeContract('PostgreSQL store', openStore);
runtimeContract('PostgreSQL store', openStore);
