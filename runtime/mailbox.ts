/**
 * One message at a time per actor. A mailbox exists only while its actor has something to do; an idle actor takes
 * no memory.
 */
import { Retryable } from './failures.ts';

/** Milliseconds a sender should wait when a mailbox is full. */
const FULL_PAUSE = 1000;

interface Waiting {
  readonly work: () => Promise<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

interface Box {
  /** A circular read position instead of `shift`, which copies. */
  next: number;
  waiting: Waiting[];
}

export class Mailboxes {
  readonly #boxes = new Map<string, Box>();

  /** Actors that have a message in work or waiting. */
  get awake(): number {
    return this.#boxes.size;
  }

  /** Messages of one actor in work or waiting. */
  depth(actor: string): number {
    const box = this.#boxes.get(actor);
    return box === undefined ? 0 : box.waiting.length - box.next + 1;
  }

  /** Actors with a message in work or waiting, by key, with how many each has. */
  depths(): IterableIterator<readonly [actor: string, depth: number]> {
    return this.#depths();
  }

  *#depths(): IterableIterator<readonly [string, number]> {
    for (const actor of this.#boxes.keys()) yield [actor, this.depth(actor)];
  }

  /**
   * Runs `work` once all earlier work of this actor is done. Rejects with `mailbox.full` when more than `limit`
   * messages wait already, and with whatever `work` rejects with.
   */
  post<T>(actor: string, limit: number, work: () => Promise<T>): Promise<T> {
    const box = this.#boxes.get(actor);
    if (box === undefined) {
      const fresh: Box = { next: 0, waiting: [] };
      this.#boxes.set(actor, fresh);
      return new Promise((resolve, reject) => {
        void this.#drain(actor, fresh, { work, resolve, reject });
      });
    }
    if (box.waiting.length - box.next >= limit) {
      return Promise.reject(
        new Retryable('mailbox.full', `${limit} messages wait for ${actor}.`, FULL_PAUSE),
      );
    }
    return new Promise((resolve, reject) => {
      box.waiting.push({ work, resolve, reject });
    });
  }

  async #drain(actor: string, box: Box, first: Waiting): Promise<void> {
    let current: Waiting | undefined = first;
    while (current !== undefined) {
      try {
        current.resolve((await current.work()) as never);
      } catch (error) {
        current.reject(error);
      }
      current = box.waiting[box.next];
      box.next++;
      if (box.next > 64) {
        box.waiting = box.waiting.slice(box.next);
        box.next = 0;
      }
    }
    this.#boxes.delete(actor);
  }
}
