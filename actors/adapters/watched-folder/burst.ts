/**
 * Notices the end of a flood of change notices: some may have been dropped, and nobody says so. All watches of
 * a thread share one queue in the system, so a flood in one folder loses the notices of every other; floods are
 * therefore counted together, and at the end of one every folder is told.
 */
import type { Clock } from '../../../runtime/index.ts';

export interface BurstWatch {
  /** One change notice came. */
  hit(): void;
  stop(): void;
}

/** Fewer notices than this in a row cannot have filled the system's queue (16,384 entries, unless set otherwise). */
const BURST = 1_024;
/** Milliseconds without a notice that end a burst. */
const QUIET = 500;

/** The queue there is one of, as far as it can be seen from here. */
const shared = { hits: 0, lastHit: 0, folders: new Set<() => void>() };

export function createBurstWatch(clock: Clock, onQuiet: () => void): BurstWatch {
  let cancel: (() => void) | undefined;
  let stopped = false;
  shared.folders.add(onQuiet);

  function arm(delay: number): void {
    cancel = clock.after(delay, () => {
      cancel = undefined;
      const left = shared.lastHit + QUIET - clock.elapsed();
      if (left > 0) arm(left);
      else quiet();
    });
  }

  function quiet(): void {
    const burst = shared.hits >= BURST;
    shared.hits = 0;
    if (!burst) return;
    for (const tell of shared.folders) tell();
  }

  return {
    hit() {
      shared.hits += 1;
      shared.lastHit = clock.elapsed();
      if (cancel === undefined && !stopped) arm(QUIET);
    },
    stop() {
      stopped = true;
      cancel?.();
      cancel = undefined;
      shared.folders.delete(onQuiet);
    },
  };
}
