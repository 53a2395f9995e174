/** Hands complete files over, a bounded number at a time, and holds back while they are refused. */
import { type Clock, isRetryable } from '../../../runtime/index.ts';
import { createQueue } from './queue.ts';

export interface OfferQueue<T> {
  add(item: T): void;
  stop(): void;
}

export interface OfferQueueParts<T> {
  readonly clock: Clock;
  /** Offers in flight, at least 1. */
  readonly limit: number;
  /** Rejects when the item was not taken; it is handed over again later. */
  readonly hand: (item: T) => Promise<void>;
  /** Told the first rejection of a row of them. */
  readonly onTrouble: (error: unknown) => void;
}

/** Pauses after a rejection, in milliseconds: the first, doubled for each further one, up to the longest. */
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;

/**
 * After a rejection nothing is handed over for a while, then one item at a time until one is taken: a store in
 * trouble is asked gently, and a folder's budget of failures is not used up by one moment.
 */
export function createOfferQueue<T>({ clock, limit, hand, onTrouble }: OfferQueueParts<T>): OfferQueue<T> {
  const queue = createQueue<T>();
  let inFlight = 0;
  let rejections = 0;
  let cancelPause: (() => void) | undefined;
  let stopped = false;

  function pump(): void {
    const allowed = rejections === 0 ? limit : 1;
    while (!stopped && cancelPause === undefined && inFlight < allowed) {
      const item = queue.shift();
      if (item === undefined) return;
      inFlight += 1;
      void handOver(item);
    }
  }

  async function handOver(item: T): Promise<void> {
    try {
      await hand(item);
      rejections = 0;
    } catch (error) {
      if (!stopped) refused(item, error);
    }
    inFlight -= 1;
    pump();
  }

  function refused(item: T, error: unknown): void {
    queue.push(item);
    // Offers that were already under way when the first one was rejected do not lengthen the pause.
    if (cancelPause !== undefined) return;
    if (rejections === 0) onTrouble(error);
    const asked = isRetryable(error) ? error.retryAfter : undefined;
    const pause = asked ?? Math.min(FIRST_PAUSE * 2 ** rejections, LONGEST_PAUSE);
    rejections += 1;
    cancelPause = clock.after(pause, () => {
      cancelPause = undefined;
      pump();
    });
  }

  return {
    add(item) {
      if (stopped) return;
      queue.push(item);
      pump();
    },
    stop() {
      stopped = true;
      cancelPause?.();
      cancelPause = undefined;
      queue.clear();
    },
  };
}
