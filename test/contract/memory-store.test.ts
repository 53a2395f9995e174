import { MemoryStore } from '@sealwright/runtime/testing';
import { runtimeContract } from './runtime.ts';
import { storeContract } from './store.ts';

const openStore = async () => ({ store: new MemoryStore() });

storeContract('memory store', openStore);
runtimeContract('memory store', openStore);
