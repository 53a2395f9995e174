/** Runtime with actors on a number of threads, for the benchmarks of `bench/shards.ts`. */

import { systemClock } from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import type { BuiltRuntime } from '#runtime/runtime.js';
import type { BenchContext } from '../frame/bench.ts';
import { type ThreadCosts, threadCosts } from '../frame/processes.ts';
import { quietRuntime } from '../frame/quiet.ts';
import { benched } from './actors.ts';

export const ACTORS = 2000;
/** Time without an answer after which a thread is stuck, milliseconds. */
const TIMEOUT_MS = 2000;
/** Steps of each thread before a measurement. */
const WARM_UP_STEPS = 6000;
const MAX_WARM_UP_MS = 20_000;
/** Longer than the pause after which a spare thread starts to load. */
const IDLE_LOOK_MS = 400;
const MAX_IDLE_LOOKS = 50;

export interface ShardedRuntime {
  readonly runtime: BuiltRuntime;
  /** Numbers in the system of the threads that it started, by role. Linux only. */
  readonly threads: { readonly store: readonly string[]; readonly shards: readonly string[] };
  /** Called when a thread is lost, with `performance.now()`. */
  lost: (at: number) => void;
  /** Sends messages to the actors in turn, `inFlight` at a time. Returns the number of steps. */
  steps(millis: number, inFlight: number): Promise<number>;
  /** Takes steps until each thread has compiled what it needs, and waits for threads that start. */
  warmUp(inFlight: number): Promise<void>;
  close(): Promise<void>;
}

export const address = (n: number) => ({ kind: 'benched', id: `b${n}` });

/**
 * @param shards threads that host actors; 0 = this thread hosts them
 * @param memory heap limit of a thread, megabytes @default that of the runtime
 */
export async function startShardedRuntime(
  shards: number,
  { temporaryFolder }: Pick<BenchContext, 'temporaryFolder'>,
  memory?: number,
): Promise<ShardedRuntime> {
  const before = threadCosts('self');
  const store = openLmdbStore({ folder: temporaryFolder() });
  const withStore = threadCosts('self');
  const runtime = quietRuntime({
    store,
    definitions: [benched],
    ...(shards > 0 && {
      shards: {
        count: shards,
        parts: new URL('./actors.js', import.meta.url).href,
        faults: '',
        ...(memory !== undefined && { memory }),
        heartbeatTimeoutMs: TIMEOUT_MS,
        losses: { restarts: 1_000_000 },
        onReplaced: () => sharded.lost(performance.now()),
        onLost: (why) => {
          throw new Error(why);
        },
      },
    }),
  });
  let next = 0;
  const sharded: ShardedRuntime = {
    runtime,
    threads: {
      store: startedBetween(before, withStore),
      shards: startedBetween(withStore, threadCosts('self')),
    },
    lost: () => {},
    async steps(millis, inFlight) {
      const until = performance.now() + millis;
      let done = 0;
      const worker = async (): Promise<void> => {
        while (performance.now() < until) {
          const outcome = await runtime.system.send(address(next++ % ACTORS), { type: 'TURN' });
          if (!outcome.accepted) throw new Error(outcome.reason);
          done += 1;
        }
      };
      await Promise.all(Array.from({ length: inFlight }, worker));
      return done;
    },
    async warmUp(inFlight) {
      const end = performance.now() + MAX_WARM_UP_MS;
      let done = 0;
      while (done < WARM_UP_STEPS * Math.max(1, shards) && performance.now() < end)
        done += await sharded.steps(100, inFlight);
      await untilIdle();
    },
    async close() {
      await runtime.stop();
      await store.close();
    },
  };
  for (let n = 0; n < ACTORS; n += 200) {
    await Promise.all(Array.from({ length: 200 }, (_, k) => runtime.system.create(address(n + k), {})));
  }
  return sharded;
}

/** Waits until threads that start, such as the spare, are loaded: their processor time is no cost of a step. */
async function untilIdle(): Promise<void> {
  for (let looks = 0; looks < MAX_IDLE_LOOKS; looks += 1) {
    const before = process.cpuUsage();
    await systemClock.sleep(IDLE_LOOK_MS);
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1000 < IDLE_LOOK_MS / 20) return;
  }
}

function startedBetween(before: ThreadCosts, after: ThreadCosts): readonly string[] {
  return [...after.keys()].filter((thread) => !before.has(thread));
}
