/** Keeps recent durations, for their quantiles. */

const WINDOW_SIZE = 1024;

export class RecentTimes {
  readonly #times = new Float64Array(WINDOW_SIZE);
  #count = 0;

  /** Milliseconds. */
  add(time: number): void {
    this.#times[this.#count % WINDOW_SIZE] = time;
    this.#count += 1;
  }

  /** Milliseconds; zeros when there are none. */
  quantiles(): { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number } {
    const sorted = this.#times.slice(0, Math.min(this.#count, WINDOW_SIZE)).sort();
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
    return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: sorted.at(-1) ?? 0 };
  }
}
