/** Measures how busy the event loop of the current thread is. */
import { performance } from 'node:perf_hooks';

/** Shortest time that is measured: readers within it receive the same share. */
const MIN_WINDOW_MS = 1000;

export class LoopUtilisation {
  #begin = performance.eventLoopUtilization();
  #last: number | undefined;

  /** Share of the time since the read before, 0 to 1; at first since the creation of this object. */
  read(): number {
    const current = performance.eventLoopUtilization();
    const { idle, active } = performance.eventLoopUtilization(current, this.#begin);
    const window = idle + active;
    if (this.#last !== undefined && window < MIN_WINDOW_MS) return this.#last;
    this.#last = window > 0 ? Math.min(1, Math.max(0, active / window)) : 0;
    this.#begin = current;
    return this.#last;
  }
}
