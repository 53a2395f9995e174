/**
 * At most so many requests per client address and fixed window.
 *
 * Source: Batch Signing Service API, "Limits"; batch-gaps §2, "Rate limit", and §5, `RateLimiting`.
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
  /**
   * Takes one permit: now, or (a promise) in a later window when there is room in the queue.
   * `onLeave` is given what to call when the client does not want to wait any more; the promise then resolves
   * without a permit. Refusals: `rate-limited` with the seconds to wait; `service.busy` after `close`.
   */
  take(client: string, onLeave?: (leave: () => void) => void): Promise<void> | undefined;
  /** Refuses as `take` would when no permit is left, and takes none. */
  check(client: string): void;
  /** Refuses everybody who waits; for the time when the service stops. */
  close(): void;
  /** Addresses remembered now. */
  readonly size: number;
}

interface Waiter {
  admit(): void;
  refuse(why: Refusal): void;
}

interface Client {
  readonly since: number;
  used: number;
  /** In the order they came. */
  readonly waiting: Set<Waiter>;
  /** Stops the alarm at the end of the window; there is one while somebody waits. */
  disarm: (() => void) | undefined;
}

/** The window of a client begins with its first request; refused requests are not counted. */
export function createRateLimiter(
  window: RateWindow,
  clock: Pick<Clock, 'elapsed' | 'after'>,
  remembered: number = CLIENTS_REMEMBERED,
): RateLimiter {
  const length = window.windowSeconds * 1000;
  const room = window.queueLimit ?? 0;
  // In the order in which the windows began: a window that ends is removed before it starts again.
  const clients = new Map<string, Client>();

  const begin = (name: string, used: number, waiting: Set<Waiter>): void => {
    const now = clock.elapsed();
    clients.delete(name);
    for (const [oldest, entry] of clients) {
      if (clients.size < remembered && now - entry.since < length) break;
      // Those that wait are bounded by their connections, and let in by their alarm.
      if (entry.waiting.size === 0) clients.delete(oldest);
    }
    const client: Client = { since: now, used, waiting, disarm: undefined };
    clients.set(name, client);
    if (waiting.size > 0) arm(name, client);
  };

  const arm = (name: string, client: Client): void => {
    client.disarm = clock.after(Math.max(0, client.since + length - clock.elapsed()), () =>
      renew(name, client),
    );
  };

  /** A window has ended: the first of those who waited begin the next one. */
  const renew = (name: string, client: Client): void => {
    client.disarm?.();
    const first = [...client.waiting].slice(0, window.permits);
    for (const waiter of first) client.waiting.delete(waiter);
    begin(name, first.length, client.waiting);
    for (const waiter of first) waiter.admit();
  };

  /** The client's window; undefined when it has none under way. */
  const windowOf = (name: string): Client | undefined => {
    const client = clients.get(name);
    if (client === undefined || clock.elapsed() - client.since < length) return client;
    if (client.waiting.size === 0) return undefined;
    // The alarm is late: nobody who comes now may go before those who wait.
    renew(name, client);
    return clients.get(name);
  };

  const refusal = (client: Client): Refusal => {
    const seconds = Math.max(1, Math.ceil((client.since + length - clock.elapsed()) / 1000));
    return new Refusal('rate-limited', `At most ${window.permits} requests in ${window.windowSeconds} s.`, {
      retryAfterSeconds: seconds,
    });
  };

  return {
    take(name, onLeave) {
      const client = windowOf(name);
      if (client === undefined) {
        begin(name, 1, new Set());
        return undefined;
      }
      if (client.used < window.permits) {
        client.used += 1;
        return undefined;
      }
      if (client.waiting.size >= room) throw refusal(client);
      return new Promise((resolve, reject) => {
        const waiter: Waiter = { admit: resolve, refuse: reject };
        client.waiting.add(waiter);
        if (client.disarm === undefined) arm(name, client);
        onLeave?.(() => {
          // By now it may wait in a later window, which has taken the set over.
          client.waiting.delete(waiter);
          resolve();
        });
      });
    },
    check(name) {
      const client = windowOf(name);
      if (client !== undefined && client.used >= window.permits) throw refusal(client);
    },
    close() {
      for (const client of clients.values()) {
        client.disarm?.();
        client.disarm = undefined;
        for (const waiter of client.waiting)
          waiter.refuse(new Refusal('service.busy', 'The service is stopping.'));
        client.waiting.clear();
      }
    },
    get size() {
      return clients.size;
    },
  };
}
