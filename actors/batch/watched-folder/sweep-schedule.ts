import type { Clock } from '@sealwright/runtime';

/** Schedules repeated sweeps: periodic, sooner on request, with a limited share of time. */
export interface SweepSchedule {
  start(): void;
  /** Requests a sweep soon; one in progress does not count. */
  request(): void;
  /** Resolves when no sweep is running and none will start. */
  stop(): Promise<void>;
}

/** Least pause after a sweep, as a multiple of its duration. */
const REST_PER_WORK = 3;
/**
 * Bounds of that pause, milliseconds. A sweep slowed down by a busy machine must not delay the next one, which finds
 * files with lost events.
 */
const MIN_REST_MS = 100;
const MAX_REST_MS = 5_000;

/**
 * @param round never rejects; resolves with the milliseconds until the next periodic round
 * @param done called after each round; its duration does not count
 */
export function createSweepSchedule(
  clock: Clock,
  round: () => Promise<number>,
  done: () => void,
): SweepSchedule {
  let running: Promise<void> | undefined;
  let stopped = false;
  let requested = false;
  let resting = false;
  let endWait: (() => void) | undefined;

  function wait(delay: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(delay, () => endWait?.());
      endWait = () => {
        endWait = undefined;
        cancel();
        resolve();
      };
    });
  }

  async function run(): Promise<void> {
    while (!stopped) {
      requested = false;
      const began = clock.elapsed();
      const due = await round();
      const work = REST_PER_WORK * (clock.elapsed() - began);
      const rest = Math.min(Math.max(MIN_REST_MS, work), MAX_REST_MS);
      if (stopped) return;
      done();
      // The callback may have stopped the schedule.
      if (stopped) return;
      resting = true;
      await wait(rest);
      resting = false;
      if (!stopped && !requested && due > rest) await wait(due - rest);
    }
  }

  return {
    start() {
      if (!stopped) running ??= run();
    },
    request() {
      requested = true;
      if (!resting) endWait?.();
    },
    async stop() {
      stopped = true;
      endWait?.();
      await running;
    },
  };
}
