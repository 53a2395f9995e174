/**
 * The process that is killed. Tells actors to ask for work, does it, and says on standard output what it promised
 * (`ack <actor> <revision>`), after the step was durable. With `drain` it asks for nothing, does what is left, and
 * ends. The work itself is a line in a file: `<effect key>`.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createRuntime,
  Faults,
  openLmdbStore,
  Retryable,
  systemClock,
  systemIds,
} from '../../runtime/index.ts';
import { LEDGERS, ledger } from './ledger.ts';

const [, , folder = '', mode = 'run'] = process.argv;
const faults = Faults.parse(process.env['SEALWRIGHT_FAULTS']);
const store = openLmdbStore({ folder: join(folder, 'store'), faults });
const silent = () => {};
const { system, start, stop } = createRuntime({
  store,
  clock: systemClock,
  ids: systemIds,
  log: { debug: silent, info: silent, warn: silent, error: silent },
  faults,
  definitions: [ledger],
  handlers: {
    work: {
      after: 'durable',
      run: async ({ n }: { n: number }, { key, failures }) => {
        if (n % 5 === 0 && failures === 0)
          throw new Retryable('busy', 'the first try of every fifth fails', 2);
        appendFileSync(join(folder, 'work'), `${key}\n`);
        return { type: 'WORKED', n };
      },
      failed: () => ({ type: 'NEVER' }),
    },
  },
});

for (const actor of LEDGERS) await system.create(actor, null);
start();
console.log('ready');

async function askForEver(lane: number): Promise<never> {
  for (let n = lane; ; n++) {
    const actor = LEDGERS[n % LEDGERS.length];
    if (actor === undefined) throw new Error('no actors');
    const outcome = await system.tell(actor, { type: 'ASK' });
    if (!outcome.accepted) throw new Error(`refused: ${outcome.because}`);
    await outcome.durable;
    console.log(`ack ${actor.id} ${outcome.revision}`);
  }
}

if (mode === 'drain') {
  const pending = async () =>
    (await store.nextEffectDue()) !== undefined || (await store.nextTimerDue()) !== undefined;
  const open = async () => {
    const { asked = 0, worked = 0 } = await store.counters('');
    return asked !== worked || (await pending());
  };
  while (await open()) await systemClock.sleep(5);
  await stop();
  await store.close();
} else {
  await Promise.all(Array.from({ length: 16 }, (_, lane) => askForEver(lane)));
}
