/**
 * Fixed-window rate limit per client address.
 *
 * Source: docs/batch-values.md §0, §2, and §5, `RateLimiting`.
 */

import type { Clock } from '@sealwright/runtime';
import { Refusal } from '../../../machines/refusals.ts';

/** One fixed window per client address. */
export interface RateWindow {
  /** Requests let through per window. Whole number, at least 1. */
  readonly permits: number;
  /** Length of the window in seconds. Whole number, at least 1. */
  readonly windowSeconds: number;
  /** Requests beyond the permits that wait for a later window, per client. @default 0 */
  readonly queueLimit?: number;
}

/**
 * Maximum number of client addresses per policy, at about 100 bytes each. Beyond it the address with the oldest
 * window is dropped, so many addresses may regain permits but cannot exhaust memory.
 */
const MAX_CLIENTS = 50_000;

export interface RateLimiter {
  /**
   * Acquires one permit: now, or (a promise) in a later window when the queue has room. `onLeave` receives the
   * callback for a client that disconnects; the promise then resolves without a permit.
   */
  acquire(client: string, onLeave?: (leave: () => void) => void): Promise<void> | undefined;
  /** Refuses as `acquire` does when no permit is left, without acquiring one. */
  check(client: string): void;
  /** Refuses every waiting request, when the service stops. */
  close(): void;
  /** Number of addresses in memory. */
  readonly size: number;
}

interface Waiter {
  admit(): void;
  refuse(why: Refusal): void;
}

interface Client {
  readonly since: number;
  used: number;
  /** In order of arrival. */
  readonly waiting: Set<Waiter>;
  /** Cancels the timer at the end of the window; armed while requests wait. */
  disarm: (() => void) | undefined;
}

/** A window of a client begins with its first request; refused requests are not counted. */
export function createRateLimiter(
  window: RateWindow,
  clock: Pick<Clock, 'elapsed' | 'after'>,
  remembered: number = MAX_CLIENTS,
): RateLimiter {
  const length = window.windowSeconds * 1000;
  const room = window.queueLimit ?? 0;
  // Ordered by the start of the window: an ended window is removed before it starts again.
  const clients = new Map<string, Client>();

  const begin = (name: string, used: number, waiting: Set<Waiter>): void => {
    const now = clock.elapsed();
    clients.delete(name);
    for (const [oldest, entry] of clients) {
      if (clients.size < remembered && now - entry.since < length) break;
      // Waiting requests are bounded by their connections, and admitted by their timer.
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

  /** Ends a window: the first waiting requests begin the next one. */
  const renew = (name: string, client: Client): void => {
    client.disarm?.();
    const first = [...client.waiting].slice(0, window.permits);
    for (const waiter of first) client.waiting.delete(waiter);
    begin(name, first.length, client.waiting);
    for (const waiter of first) waiter.admit();
  };

  /** The client's current window; undefined when it has none. */
  const windowOf = (name: string): Client | undefined => {
    const client = clients.get(name);
    if (client === undefined || clock.elapsed() - client.since < length) return client;
    if (client.waiting.size === 0) return undefined;
    // The timer is late: new requests must not overtake waiting ones.
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
    acquire(name, onLeave) {
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
          // The request may wait in a later window by now, which has taken over the set.
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
