import type { ActorStore } from '@sealwright/runtime';

/** A store that packs each actor as soon as its step is stored. */
export function packing(store: ActorStore): ActorStore {
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
