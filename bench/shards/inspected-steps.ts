/**
 * A process of its own that steps actors for a while and prints what a step cost, as JSON. With `without-inspection.js` loaded
 * before it, nothing is done that only lets operators look at actors.
 *
 * node dist/bench/shards/inspected-steps.js <folder> <event> <seconds>
 */
import { createRuntime, openLmdbStore, systemClock, systemIds } from '../../runtime/index.ts';
import { benched } from './actors.ts';

const ACTORS = 2000;
const IN_FLIGHT = 64;

export interface StepCost {
  /** Microseconds of the whole process's processor time for one step. */
  readonly micros: number;
  readonly perSecond: number;
}

const [, , folder = '', type = '', seconds = '1'] = process.argv;
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
let steps = 0;
const lane = async (until: number): Promise<void> => {
  while (performance.now() < until) {
    const outcome = await system.tell(address(next++ % ACTORS), { type });
    if (!outcome.accepted) throw new Error(outcome.because);
    steps += 1;
  }
};
const lanes = (millis: number) =>
  Promise.all(Array.from({ length: IN_FLIGHT }, () => lane(performance.now() + millis)));
await lanes(Number(seconds) * 400);
steps = 0;
const cpu = process.cpuUsage();
const start = performance.now();
await lanes(Number(seconds) * 1000);
const taken = performance.now() - start;
const { user, system: kernel } = process.cpuUsage(cpu);
await stop();
await store.close();
const cost: StepCost = { micros: (user + kernel) / steps, perSecond: (steps / taken) * 1000 };
console.log(JSON.stringify(cost));
