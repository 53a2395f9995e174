import { type Clock, isRetryable } from '@sealwright/runtime';
import { type Backoff, pauseAfter } from '../../../machines/backoff.ts';
import { createFifoQueue } from './file-reader.ts';

/** Offers complete files with bounded concurrency and backs off while they are rejected. */
export interface OfferQueue<T> {
  add(item: T): void;
  stop(): void;
}

interface OfferQueueOptions<T> {
  readonly clock: Clock;
  /** Maximum number of concurrent offers, at least 1. */
  readonly limit: number;
  /** Rejects when the item was not accepted; it is offered again later. */
  readonly deliver: (item: T) => Promise<void>;
  /** Called for the first of consecutive rejections. */
  readonly onFailure: (error: unknown) => void;
}

/** Pauses after rejections. */
const BACKOFF: Backoff = { firstMs: 1_000, maxMs: 30_000 };

/**
 * Creates a queue that pauses after a rejection and then delivers one item at a time until one is accepted: a failing
 * store gets little load, and one incident does not consume the failure budget of the folder.
 */
export function createOfferQueue<T>({
  clock,
  limit,
  deliver,
  onFailure,
}: OfferQueueOptions<T>): OfferQueue<T> {
  const queue = createFifoQueue<T>();
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
      void deliverNext(item);
    }
  }

  async function deliverNext(item: T): Promise<void> {
    try {
      await deliver(item);
      rejections = 0;
    } catch (error) {
      if (!stopped) refused(item, error);
    }
    inFlight -= 1;
    pump();
  }

  function refused(item: T, error: unknown): void {
    queue.push(item);
    // Offers that were pending at the first rejection do not extend the pause.
    if (cancelPause !== undefined) return;
    if (rejections === 0) onFailure(error);
    rejections += 1;
    const asked = isRetryable(error) ? error.retryAfter : undefined;
    const pause = asked ?? pauseAfter(rejections, BACKOFF);
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
