/**
 * At most so many requests per client address and fixed window.
 *
 * Source: Batch Signing Service API, "Limits"; batch-gaps §2, "Rate limit".
 */
import { Refusal } from '../machines/refusals.ts';
import type { Clock } from '../runtime/index.ts';
import type { RateWindow } from './settings.ts';

/**
 * Client addresses remembered per policy, at about 100 bytes each. Beyond it the one whose window began first
 * is forgotten, so many addresses can win back permits but never take memory.
 */
const CLIENTS_REMEMBERED = 50_000;

export interface RateLimiter {
  /** Takes one permit. Refusals: `rate-limited`, with the seconds to wait. */
  take(client: string): void;
  /** Addresses remembered now. */
  readonly size: number;
}

/** The window of a client begins with its first request; refused requests are not counted. */
export function createRateLimiter(
  window: RateWindow,
  clock: Pick<Clock, 'elapsed'>,
  remembered: number = CLIENTS_REMEMBERED,
): RateLimiter {
  const length = window.windowSeconds * 1000;
  // In the order in which the windows began: a window that ends is removed before it starts again.
  const clients = new Map<string, { readonly since: number; used: number }>();

  return {
    take(client) {
      const now = clock.elapsed();
      const seen = clients.get(client);
      if (seen !== undefined && now - seen.since < length) {
        if (seen.used >= window.permits) {
          const seconds = Math.max(1, Math.ceil((seen.since + length - now) / 1000));
          throw new Refusal(
            'rate-limited',
            `At most ${window.permits} requests in ${window.windowSeconds} s.`,
            {
              retryAfterSeconds: seconds,
            },
          );
        }
        seen.used += 1;
        return;
      }
      clients.delete(client);
      for (const [oldest, entry] of clients) {
        if (clients.size < remembered && now - entry.since < length) break;
        clients.delete(oldest);
      }
      clients.set(client, { since: now, used: 1 });
    },
    get size() {
      return clients.size;
    },
  };
}
