/** Keeps recent durations, for their quantiles. */

const WINDOW_SIZE = 1024;
/** Additions to a full window after which it is sorted again: reads of a busy thread share a sort. */
const SORT_EVERY = 64;

export class RecentTimes {
  readonly #times = new Float64Array(WINDOW_SIZE);
  #count = 0;
  #sorted = new Float64Array();
  /** Number of durations at the last sort. */
  #sortedAt = 0;

  /** Milliseconds. */
  add(time: number): void {
    this.#times[this.#count % WINDOW_SIZE] = time;
    this.#count += 1;
  }

  /** Milliseconds; zeros when there are none. Of a full window, at most the last 63 durations are missing. */
  quantiles(): { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number } {
    const added = this.#count - this.#sortedAt;
    if (added >= SORT_EVERY || (added > 0 && this.#sortedAt < WINDOW_SIZE)) {
      this.#sorted = this.#times.slice(0, Math.min(this.#count, WINDOW_SIZE)).sort();
      this.#sortedAt = this.#count;
    }
    const sorted = this.#sorted;
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
    return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: sorted.at(-1) ?? 0 };
  }
}
