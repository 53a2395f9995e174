/**
 * Counts wrong keys by client and in total. Beyond a limit a wrong key is answered 429 instead of 401; a
 * correct key never is, so guessing cannot lock others out.
 */
import type { Clock } from '@sealwright/runtime';
import { clientNetwork } from './addresses.ts';
import type { RateWindow } from './rate-limit.ts';
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

/** @param perClient limit of one address, or of one IPv6 network; what it refuses does not count in total */
export function createWrongKeys(
  clock: Pick<Clock, 'elapsed' | 'after'>,
  perClient: RateWindow = PER_ADDRESS,
  inTotal: RateWindow = OVERALL,
): WrongKeys {
  const byClient = createRateLimiter(perClient, clock);
  const overall = createRateLimiter(inTotal, clock);
  return {
    count(address) {
      byClient.acquire(clientNetwork(address));
      overall.acquire(ALL);
    },
  };
}
