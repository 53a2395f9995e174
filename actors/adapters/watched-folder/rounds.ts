/** Repeats one piece of work: every so often, sooner when asked, and never so often that it fills the time. */
import type { Clock } from '../../../runtime/index.ts';

export interface Rounds {
  start(): void;
  /** Asks for a round soon; one that is running does not count. */
  request(): void;
  /** Resolves when no round is running and none will. */
  stop(): Promise<void>;
}

/** After a round that took t, at least this many times t pass before the next one. */
const REST_PER_WORK = 3;
/**
 * But no shorter and no longer than this, in milliseconds. A round that took long because the machine was busy
 * must not put off the next one, on which files may depend whose notices were lost.
 */
const SHORTEST_REST = 100;
const LONGEST_REST = 5_000;

/**
 * @param round Never rejects; resolves with the milliseconds until the next round is due of itself.
 * @param done Called after each round; what it takes is not counted as the round's.
 */
export function createRounds(clock: Clock, round: () => Promise<number>, done: () => void): Rounds {
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
      const rest = Math.min(Math.max(SHORTEST_REST, work), LONGEST_REST);
      if (stopped) return;
      done();
      // Whoever was told may have stopped it.
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
