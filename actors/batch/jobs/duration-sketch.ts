/**
 * Sketch of durations: counts in buckets that grow by 2 %, so that a quantile is at most 1 % off. About 1,500 buckets
 * cover 0.01 ms to a year; only those in use take memory.
 */
const GROWTH = Math.log(1.02);
/** Lower bound of durations, milliseconds. */
const SHORTEST = 0.01;

export class DurationSketch {
  readonly #buckets = new Map<number, number>();
  count = 0;
  sum = 0;
  max = 0;

  /** Negative values count as zero. */
  add(ms: number): void {
    const taken = Math.max(0, ms);
    this.count += 1;
    this.sum += taken;
    if (taken > this.max) this.max = taken;
    const bucket = taken < SHORTEST ? -1 : Math.floor(Math.log(taken / SHORTEST) / GROWTH);
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + 1);
  }

  /** Returns the smallest duration that a share (0 to 1) of the values does not exceed; 0 when empty. */
  quantile(share: number): number {
    const wanted = Math.max(1, Math.ceil(share * this.count));
    let passed = 0;
    for (const [bucket, count] of [...this.#buckets].sort(([a], [b]) => a - b)) {
      passed += count;
      if (passed < wanted) continue;
      if (bucket < 0) return 0;
      return Math.min(this.max, SHORTEST * Math.exp((bucket + 0.5) * GROWTH));
    }
    return 0;
  }
}
