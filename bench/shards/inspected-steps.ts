/**
 * Process that steps actors on request and reports the cost of a step. With `without-inspection.js` loaded before it,
 * it maintains no inspection data.
 *
 * node dist/bench/shards/inspected-steps.js <folder> <event>, with a channel: `Order` in, `StepCost` out; ends with the channel
 */
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { quietRuntime } from '../frame/quiet.ts';
import { benched } from './actors.ts';

const ACTORS = 2000;
const IN_FLIGHT = 64;

export interface Order {
  readonly millis: number;
}

export interface StepCost {
  /** Microseconds of processor time of the whole process, all threads, per step. */
  readonly micros: number;
  readonly steps: number;
}

const [, , folder = '', type = ''] = process.argv;
const store = openLmdbStore({ folder });
const { system, stop } = quietRuntime({ store, definitions: [benched] });
const address = (n: number) => ({ kind: 'benched', id: `b${n}` });
await Promise.all(Array.from({ length: ACTORS }, (_, n) => system.create(address(n), {})));
let next = 0;

async function steps(millis: number): Promise<number> {
  const until = performance.now() + millis;
  let done = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < until) {
      const outcome = await system.send(address(next++ % ACTORS), { type });
      if (!outcome.accepted) throw new Error(outcome.reason);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  // Pending writes are part of the cost.
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
