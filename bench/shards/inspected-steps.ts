/**
 * A process of its own that steps actors for as long as it is told and answers what a step cost. With
 * `without-inspection.js` loaded before it, nothing is done that only lets operators look at actors.
 *
 * node dist/bench/shards/inspected-steps.js <folder> <event>, with a channel: `Order` in, `StepCost` out; ends with the channel
 */
import { createRuntime, openLmdbStore, systemClock, systemIds } from '../../runtime/index.ts';
import { benched } from './actors.ts';

const ACTORS = 2000;
const IN_FLIGHT = 64;

export interface Order {
  readonly millis: number;
}

export interface StepCost {
  /** Microseconds of the processor time of the whole process, all its threads, for one step. */
  readonly micros: number;
  readonly steps: number;
}

const [, , folder = '', type = ''] = process.argv;
const store = openLmdbStore({ folder });
const quiet = (): void => {};
const { system, stop } = createRuntime({
  store,
  clock: systemClock,
  ids: systemIds,
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  definitions: [benched],
  handlers: {},
});
const address = (n: number) => ({ kind: 'benched', id: `b${n}` });
await Promise.all(Array.from({ length: ACTORS }, (_, n) => system.create(address(n), {})));
let next = 0;

async function steps(millis: number): Promise<number> {
  const until = performance.now() + millis;
  let done = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() < until) {
      const outcome = await system.tell(address(next++ % ACTORS), { type });
      if (!outcome.accepted) throw new Error(outcome.because);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  // What the steps have left to be written is part of what they cost.
  await store.flushed();
  return done;
}

process.on('message', async ({ millis }: Order) => {
  const before = process.cpuUsage();
  const done = await steps(millis);
  const { user, system: kernel } = process.cpuUsage(before);
  process.send?.({ micros: (user + kernel) / done, steps: done } satisfies StepCost);
});
process.once('disconnect', async () => {
  await stop();
  await store.close();
});
process.send?.('ready');
