import { MemoryStore } from '../../runtime/testing.ts';
import { runtimeContract } from './runtime.ts';
import { storeContract } from './store.ts';

const openStore = async () => ({ store: new MemoryStore() });

storeContract('memory store', openStore);
runtimeContract('memory store', openStore);
