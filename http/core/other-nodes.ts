/** Ports to the other nodes of a service: reads after writes, and rate limits, hold for all of them together. */

import type { Clock, StoreNodes } from '@sealwright/runtime';
import { Refusal } from '../../machines/refusals.ts';
import type { RateWindow } from './access/rate-limit.ts';
import { createRateLimiter, type RateLimiter } from './access/rate-limit.ts';
import type { RequestHead } from './transport/port.ts';

/** The parts of `StoreNodes` that a listener uses. */
export type OtherNodes = Pick<StoreNodes, 'sync' | 'takePermit'>;

/** Returns a limiter: of all nodes together, or of this process where there are no others. */
export function limiterOf(
  nodes: OtherNodes | undefined,
  policy: string,
  window: RateWindow,
  clock: Pick<Clock, 'elapsed' | 'after'>,
): RateLimiter {
  return nodes === undefined
    ? createRateLimiter(window, clock)
    : createSharedLimiter(nodes, policy, window, clock);
}

/**
 * A limit whose windows are rows of the store. Requests that wait do so on their node, in no order between nodes.
 */
function createSharedLimiter(
  nodes: OtherNodes,
  policy: string,
  { permits, windowSeconds, queueLimit: room = 0 }: RateWindow,
  clock: Pick<Clock, 'elapsed' | 'after'>,
): RateLimiter {
  const waiting = new Map<string, number>();
  const wakers = new Set<() => void>();
  let isClosed = false;

  const pause = (delay: number): Promise<void> =>
    new Promise((resolve) => {
      const wake = () => {
        cancel();
        wakers.delete(wake);
        resolve();
      };
      const cancel = clock.after(delay, wake);
      wakers.add(wake);
    });

  return {
    async acquire(client, onLeave) {
      let hasLeft = false;
      onLeave?.(() => {
        hasLeft = true;
      });
      let left = await nodes.takePermit(`${policy}/${client}`, permits, windowSeconds);
      if (left === 0) return;
      const others = waiting.get(client) ?? 0;
      if (others >= room) throw limitRefusal(permits, windowSeconds, left);
      waiting.set(client, others + 1);
      try {
        while (left > 0 && !hasLeft) {
          await pause(left);
          if (isClosed) throw new Refusal('service.busy', 'The service is stopping.');
          if (!hasLeft) left = await nodes.takePermit(`${policy}/${client}`, permits, windowSeconds);
        }
      } finally {
        const remaining = (waiting.get(client) ?? 1) - 1;
        if (remaining === 0) waiting.delete(client);
        else waiting.set(client, remaining);
      }
    },
    check() {
      throw new TypeError('A limit of several nodes is acquired, not checked.');
    },
    close() {
      isClosed = true;
      for (const wake of [...wakers]) wake();
    },
    get size() {
      return waiting.size;
    },
  };
}

function limitRefusal(permits: number, windowSeconds: number, left: number): Refusal {
  return new Refusal('rate-limited', `At most ${permits} requests in ${windowSeconds} s.`, {
    retryAfterSeconds: Math.max(1, Math.ceil(left / 1000)),
  });
}

/** Copies the headers of a request that is answered after its handler has returned. */
export function copyHeaders(request: RequestHead): (name: string) => string {
  const headers = new Map<string, string>();
  request.forEach((name, value) => {
    if (!headers.has(name)) headers.set(name, value);
  });
  return (name) => headers.get(name) ?? '';
}
