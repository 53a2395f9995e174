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
