import { lmdb, openLmdbStore } from '@sealwright/runtime/lmdb';
import type { ExecutionContext } from 'ava';
import { folderFor } from '../runtime/folder.ts';
import { pendingWorkContract } from './pending-work.ts';
import { publicContract } from './public.ts';
import { runtimeContract } from './runtime.ts';
import { storeContract } from './store.ts';

async function openStore(t: ExecutionContext) {
  const folder = folderFor(t);
  let store = openLmdbStore({ folder });
  t.teardown(() => store.close());
  return {
    store,
    reopen: async () => {
      await store.close();
      store = openLmdbStore({ folder });
      return store;
    },
  };
}

storeContract('LMDB store', openStore);
runtimeContract('LMDB store', openStore);
pendingWorkContract('LMDB store', openStore);
publicContract('LMDB store', (t) => {
  const folder = folderFor(t);
  return () => lmdb(folder);
});
