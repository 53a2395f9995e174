/**
 * A process that dies of one of its effects. Says on standard output `run <actor>` and `done <actor>` for each effect,
 * and `set aside <actors>` once nothing is left to do.
 *
 * node deadly-worker.js <folder> make|together|run|add|again   make: asks for the effects first, and dies when all
 * have begun · together: dies when all have begun · add: asks for two more, which end when both and one of the first
 * have begun; the process dies when what they report is stored · again: runs again what is set aside, cured
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock, systemIds } from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { buildRuntime } from '#runtime/runtime.js';
import { reached } from '../project/waiting.ts';
import { counting } from './shards/counting-module.ts';

const ACTORS = ['a', 'b', 'deadly', 'z'];
const MORE = ['more1', 'more2'];
const [, , folder = '', mode = 'run'] = process.argv;
const say = (text: string) => writeSync(1, `${text}\n`);
const quiet = () => {};
const isTogether = mode === 'make' || mode === 'together';
const begun = new Set<string>();
const store = openLmdbStore({ folder: join(folder, 'store') });
const runtime = buildRuntime({
  store,
  clock: systemClock,
  ids: systemIds,
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  definitions: [counting],
  crashJournal: join(folder, 'effects-under-way.json'),
  handlers: {
    work: {
      after: 'durable',
      async run(_, { actor }) {
        say(`run ${actor.id}`);
        begun.add(actor.id);
        if (actor.id === 'deadly' && mode !== 'again') {
          if (isTogether) await reached(() => ACTORS.every((id) => begun.has(id)));
          // The others would have begun by then, if they might.
          else await systemClock.sleep(50);
          if (mode === 'add') await reached(areMoreStored);
          process.kill(process.pid, 'SIGKILL');
        }
        // Ends with the process.
        if (isTogether) await reached(() => false);
        else if (MORE.includes(actor.id))
          await reached(() => MORE.every((id) => begun.has(id)) && ACTORS.some((id) => begun.has(id)));
        else await systemClock.sleep(mode === 'again' ? 0 : 300);
        say(`done ${actor.id}`);
        return { type: 'WORKED' };
      },
    },
  },
});
const address = (id: string) => ({ kind: 'counting', id });
const areMoreStored = async () => {
  const pending = await Promise.all(MORE.map((id) => store.pendingEffects(address(id))));
  return pending.every((effects) => effects.length === 0);
};
if (mode === 'make' || mode === 'add')
  for (const id of mode === 'make' ? ACTORS : MORE) {
    await runtime.system.create(address(id), {});
    await runtime.system.send(address(id), { type: 'WORK' });
  }
runtime.start();
if (mode === 'again') await runtime.runAgain(address('deadly'));
const isSettled = async () => {
  const { counted = 0, worked = 0 } = await store.counters('');
  const left = counted - worked;
  return left === runtime.setAside().length;
};
await reached(isSettled);
say(`set aside ${runtime.setAside().map(({ actor }) => actor.id)}`);
const report = await runtime.inspector.actor(address('deadly'));
say(`trouble ${report?.trouble?.lastError ?? 'none'}`);
await runtime.stop();
await store.close();
