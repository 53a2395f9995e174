import { memory } from '@sealwright/runtime/memory';
import { storeContract as contract, MemoryStore } from '@sealwright/runtime/testing';
import test from 'ava';
import { pendingWorkContract } from './pending-work.ts';
import { publicContract } from './public.ts';
import { runtimeContract } from './runtime.ts';
import { storeContract } from './store.ts';

const openStore = async () => ({ store: new MemoryStore() });

storeContract('memory store', openStore);
runtimeContract('memory store', openStore);
pendingWorkContract('memory store', openStore);
publicContract('memory store', () => {
  const source = memory();
  return () => source;
});

test('the contract of stores finds a store whose rows come in one direction alone', async (t) => {
  const broken: string[] = [];
  for (const { title, check } of contract) {
    const store = new MemoryStore();
    const { rows } = store;
    store.rows = ({ reverse: _, ...query }) => rows.call(store, query);
    await check({ store }).catch(() => broken.push(title));
  }
  t.deepEqual(broken, [
    'rows come in key order: numbers before texts, texts by their bytes',
    'rows are read on from any key, up and down, whether or not a row has it',
  ]);
});
