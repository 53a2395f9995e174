import { openLmdbStore } from '../../runtime/index.ts';
import { folderFor } from '../runtime/folder.ts';
import { storeContract } from './store.ts';

storeContract('LMDB store', async (t) => {
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
});
