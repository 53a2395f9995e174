/**
 * A process that dies of one of its effects. Says on standard output `run <actor>` and `done <actor>` for each effect,
 * and `set aside <actors>` once nothing is left to do.
 *
 * node deadly-worker.js <folder> make|run|again   make: asks for the effects first · again: runs again what is set aside, cured
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { createRuntime, openLmdbStore, systemClock, systemIds } from '../../runtime/index.ts';
import { counting } from './shards/counting-module.ts';

const ACTORS = ['a', 'b', 'deadly', 'z'];
const [, , folder = '', mode = 'run'] = process.argv;
const say = (text: string) => writeSync(1, `${text}\n`);
const quiet = () => {};
const store = openLmdbStore({ folder: join(folder, 'store') });
const runtime = createRuntime({
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
        if (actor.id === 'deadly' && mode !== 'again') {
          // The others have begun by then, if they may.
          await systemClock.sleep(50);
          process.kill(process.pid, 'SIGKILL');
        }
        await systemClock.sleep(mode === 'again' ? 0 : 300);
        say(`done ${actor.id}`);
        return { type: 'WORKED' };
      },
    },
  },
});
const address = (id: string) => ({ kind: 'counting', id });
if (mode === 'make')
  for (const id of ACTORS) {
    await runtime.system.create(address(id), {});
    const outcome = await runtime.system.send(address(id), { type: 'WORK' });
    if (outcome.accepted) await outcome.durable;
  }
runtime.start();
if (mode === 'again') await runtime.runAgain(address('deadly'));
const worked = async () => (await store.counters('worked'))['worked'] ?? 0;
const isSettled = async () => {
  const left = ACTORS.length - (await worked());
  return left === runtime.setAside().length;
};
while (!(await isSettled())) await systemClock.sleep(10);
say(`set aside ${runtime.setAside().map(({ actor }) => actor.id)}`);
const report = await runtime.inspector.actor(address('deadly'));
say(`trouble ${report?.trouble?.lastError ?? 'none'}`);
await runtime.stop();
await store.close();
