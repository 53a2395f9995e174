/** Seeded pseudo-random numbers, so that a run is reproducible. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Integer from 0 to 2^32 - 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** Integer from 0 to `limit` - 1; 0 for a limit of 0. */
  below(limit: number): number {
    return limit <= 0 ? 0 : this.next() % limit;
  }

  /** True with probability 1 / `times`. */
  once(times: number): boolean {
    return this.below(times) === 0;
  }

  /** Small numbers much more often than large ones; at least 1. */
  few(most: number): number {
    let count = 1;
    while (count < most && this.once(2)) count++;
    return count;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError('Nothing to pick from.');
    return item;
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.next() & 0xff));
  }
}
