/** Repeats one piece of work: every so often, sooner when asked, and never so often that it fills the time. */
import type { Clock } from '../../runtime/ports.ts';

export interface Rounds {
  start(): void;
  /** Asks for a round soon; one that is running does not count. */
  request(): void;
  /** Resolves when no round is running and none will. */
  stop(): Promise<void>;
}

/** After a round that took t, at least this many times t pass before the next one. */
const REST_PER_WORK = 10;
/** And at least this long, in milliseconds. */
const SHORTEST_REST = 100;

/** @param round Never rejects; resolves with the milliseconds until the next round is due of itself. */
export function createRounds(clock: Clock, round: () => Promise<number>): Rounds {
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
      if (stopped) return;
      const rest = Math.max(SHORTEST_REST, REST_PER_WORK * (clock.elapsed() - began));
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
