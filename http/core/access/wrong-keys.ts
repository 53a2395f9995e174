/**
 * Counts wrong keys by client address and in total. Beyond a limit a wrong key is answered 429 instead of 401; a
 * correct key never is, so guessing cannot lock others out.
 */
import type { Clock } from '../../../runtime/index.ts';
import { createRateLimiter } from './rate-limit.ts';

export interface WrongKeys {
  /** Counts a wrong key. Refusals: `rate-limited` beyond the limit. */
  count(address: string): void;
}

/** Permitted wrong keys per window, from one address and in total. */
export const PER_ADDRESS = { permits: 120, windowSeconds: 60 } as const;
const OVERALL = { permits: 3000, windowSeconds: 60 } as const;
/** Key of the total count. */
const ALL = 'all';

export function createWrongKeys(clock: Pick<Clock, 'elapsed' | 'after'>): WrongKeys {
  const byAddress = createRateLimiter(PER_ADDRESS, clock);
  const overall = createRateLimiter(OVERALL, clock);
  return {
    count(address) {
      byAddress.acquire(address);
      overall.acquire(ALL);
    },
  };
}
