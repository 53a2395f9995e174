import { MemoryStore } from '../../runtime/index.ts';
import { storeContract } from './store.ts';

storeContract('memory store', async () => ({ store: new MemoryStore() }));
