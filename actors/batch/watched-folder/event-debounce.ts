import type { Clock } from '@sealwright/runtime';

/** Notices the end of a burst of events, which may have filled the queue of the kernel: events may be lost. */
export interface EventDebounce {
  /** Counts one event. */
  hit(): void;
  stop(): void;
}

/** Fewer consecutive events than this cannot have filled the kernel queue (default 16,384 entries). */
const BURST_SIZE = 1_024;
/** Milliseconds without an event that end a burst. */
const QUIET_MS = 500;

/** Global state that mirrors the one kernel queue. */
const shared = { hits: 0, lastHit: 0, folders: new Set<() => void>() };

export function createEventDebounce(clock: Clock, onQuiet: () => void): EventDebounce {
  let cancel: (() => void) | undefined;
  let stopped = false;
  shared.folders.add(onQuiet);

  function arm(delay: number): void {
    cancel = clock.after(delay, () => {
      cancel = undefined;
      const left = shared.lastHit + QUIET_MS - clock.elapsed();
      if (left > 0) arm(left);
      else quiet();
    });
  }

  function quiet(): void {
    const burst = shared.hits >= BURST_SIZE;
    shared.hits = 0;
    if (!burst) return;
    for (const tell of shared.folders) tell();
  }

  return {
    hit() {
      shared.hits += 1;
      shared.lastHit = clock.elapsed();
      if (cancel === undefined && !stopped) arm(QUIET_MS);
    },
    stop() {
      stopped = true;
      cancel?.();
      cancel = undefined;
      shared.folders.delete(onQuiet);
    },
  };
}
