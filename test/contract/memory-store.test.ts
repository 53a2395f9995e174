import { memory } from '@sealwright/runtime/memory';
import { MemoryStore } from '@sealwright/runtime/testing';
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
