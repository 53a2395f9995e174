/** Promises of the public runtime on every store, with two nodes where the store has nodes. */
import { createRuntime, defineActor, defineEffect, type StoreSource } from '@sealwright/runtime';
import test, { type ExecutionContext } from 'ava';
import { setup } from 'xstate';
import { SILENT } from '../actors/portal/uploads/upload-harness.ts';

/** Makes a source of one store: the same one for each name of a node. */
export type SourceOfNodes = (t: ExecutionContext) => ((node: string) => StoreSource) | undefined;

/** A worker whose effect fails while `fails.now`. */
function failingWorker(fails: { now: boolean }) {
  const work = defineEffect('work', {
    tries: 1,
    run: async () => {
      if (fails.now) throw new Error('not yet');
      return { type: 'DONE' } as const;
    },
  });
  return defineActor('worker', {
    version: 1,
    effects: [work],
    machine: setup({
      types: {} as { events: { type: 'DONE' } },
      actions: { work: work.action },
    }).createMachine({
      initial: 'busy',
      states: { busy: { entry: { type: 'work', params: {} }, on: { DONE: 'idle' } }, idle: {} },
    }),
  });
}

export function publicContract(name: string, sources: SourceOfNodes, hasNodes = false): void {
  const promise = (
    title: string,
    check: (t: ExecutionContext, source: (node: string) => StoreSource) => Promise<void>,
  ): void => {
    test(`${name}: ${title}`, async (t) => {
      const source = sources(t);
      if (source === undefined) t.pass('the engine is not installed');
      else await check(t, source);
    });
  };

  const where = hasNodes ? 'on another node' : 'after a refusal';
  promise(
    `an effect that was set aside is listed, and runs again when it is asked for ${where}`,
    async (t, source) => {
      const fails = { now: true };
      const worker = failingWorker(fails);
      const one = await createRuntime({ store: source('one'), actors: [worker], log: SILENT });
      t.teardown(() => one.stop());
      const other = hasNodes
        ? await createRuntime({ store: source('two'), actors: [worker], log: SILENT })
        : one;
      t.teardown(() => other.stop());
      const isSetAside = new Promise<void>((resolve) => {
        const look = async (): Promise<void> => {
          const { items } = await other.effects({ state: 'set-aside', kind: 'worker' });
          if (items.some(({ actor, failures }) => actor.id === 'w' && failures === 1)) resolve();
          else setTimeout(() => void look(), 20);
        };
        void look();
      });
      await one.create(worker, 'w');
      await isSetAside;
      fails.now = false;
      t.true(await other.retry(worker, 'w'));
      await other.waitFor(worker, 'w', ({ state }) => state === 'idle', { timeoutMs: 20_000 });
      t.deepEqual(await other.effects({ kind: 'worker' }), { items: [] });
      t.false(await other.retry(worker, 'w'));
    },
  );
}
