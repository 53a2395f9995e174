/** Runs the promises of a store while each actor is packed as soon as its step is stored. */
import type { ActorStore } from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import type { ExecutionContext } from 'ava';
import { folderFor } from '../runtime/folder.ts';
import { storeContract } from './store.ts';

function packing(store: ActorStore): ActorStore {
  return new Proxy(store, {
    get(target, name) {
      if (name !== 'commit') {
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      }
      return async (step: Parameters<ActorStore['commit']>[0]) => {
        const committed = await target.commit(step);
        const { address, revision, state } = step.actor;
        await target.packing?.pack([{ ...address, revision, states: [state] }], 'node', ['node', revision]);
        return committed;
      };
    },
  });
}

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
