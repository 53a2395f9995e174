/** Notices the end of a flood of change notices: some may have been dropped, and the system does not say so. */
import type { Clock } from '../../runtime/ports.ts';

export interface BurstWatch {
  /** One change notice came. */
  hit(): void;
  stop(): void;
}

/** Fewer notices than this in a row cannot have filled the system's queue (16,384 entries, unless set otherwise). */
const BURST = 1_024;
/** Milliseconds without a notice that end a burst. */
const QUIET = 500;

export function createBurstWatch(clock: Clock, onQuiet: () => void): BurstWatch {
  let hits = 0;
  let lastHit = 0;
  let cancel: (() => void) | undefined;
  let stopped = false;

  function arm(delay: number): void {
    cancel = clock.after(delay, () => {
      cancel = undefined;
      const left = lastHit + QUIET - clock.elapsed();
      if (left > 0) {
        arm(left);
        return;
      }
      const burst = hits >= BURST;
      hits = 0;
      if (burst) onQuiet();
    });
  }

  return {
    hit() {
      hits += 1;
      lastHit = clock.elapsed();
      if (cancel === undefined && !stopped) arm(QUIET);
    },
    stop() {
      stopped = true;
      cancel?.();
      cancel = undefined;
    },
  };
}
