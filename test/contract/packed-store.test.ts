/** Runs the promises of a store while each actor is packed as soon as its step is stored. */
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import type { ExecutionContext } from 'ava';
import { folderFor } from '../runtime/folder.ts';
import { packing } from './packing.ts';
import { storeContract } from './store.ts';

storeContract('LMDB store whose actors are packed', async (t: ExecutionContext) => {
  const folder = folderFor(t);
  let store = openLmdbStore({ folder });
  t.teardown(() => store.close());
  return {
    store: packing(store),
    reopen: async () => {
      await store.close();
      store = openLmdbStore({ folder });
      return packing(store);
    },
  };
});
