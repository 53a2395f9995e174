/** Pauses between attempts. */

export interface Backoff {
  /** Pause after the first failure, milliseconds. */
  readonly firstMs: number;
  /** Longest pause, milliseconds. */
  readonly maxMs: number;
}

/** Returns the pause after the `failures`-th failure in a row, from 1, in milliseconds: each one doubles the last. */
export function pauseAfter(failures: number, { firstMs, maxMs }: Backoff): number {
  return Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
}

/**
 * Shortens a pause by up to a quarter, so that what failed together is not retried together.
 * @param random uniformly distributed, from 0 to below 1
 */
export function jittered(pause: number, random: number): number {
  return Math.round(pause * (1 - random / 4));
}
