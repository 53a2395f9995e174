/** Messages that wait for their actors. */
import type { ActorDefinition } from '../model/definition.ts';
import { Retryable } from '../model/failures.ts';
import type { MessageDelivery } from './actor-host.ts';

/** Retry delay for senders when a mailbox is full, milliseconds. */
const FULL_PAUSE_MS = 1000;

/** Default maximum of messages waiting for one actor. */
const MAILBOX_LIMIT = 256;

/** Most messages that wait for an actor of a kind. */
export function mailboxLimitOf(definitions: ReadonlyMap<string, ActorDefinition>, kind: string): number {
  return definitions.get(kind)?.mailboxLimit ?? MAILBOX_LIMIT;
}

/**
 * Messages of the runtime itself are never refused: they keep their order, and senders outside cannot crowd them
 * out. Their number is bounded by the effects, messages and deadlines in progress at once.
 */
export function isInternal(delivery: MessageDelivery | undefined): boolean {
  return delivery?.settles !== undefined || delivery?.timer !== undefined;
}

export function mailboxFull(actor: string, limit: number): Retryable {
  return new Retryable('mailbox.full', `${limit} messages wait for ${actor}.`, FULL_PAUSE_MS);
}

interface Waiting {
  readonly work: () => Promise<unknown>;
  /** Receives the result of `work`. */
  resolve(value: unknown): void;
  readonly reject: (error: unknown) => void;
}

interface Mailbox {
  /** Index of the next message in `waiting`; `shift` would copy the list. */
  next: number;
  waiting: Waiting[];
}

/**
 * Processes one message at a time per actor. A mailbox exists only while its actor has messages; an idle actor takes no
 * memory.
 */
export class Mailboxes {
  readonly #boxes = new Map<string, Mailbox>();
  /** Called when no actor has a message any more. */
  onIdle = (): void => {};

  /** Number of actors with a message in progress or waiting. */
  get awake(): number {
    return this.#boxes.size;
  }

  /** Number of messages of one actor in progress or waiting. */
  depth(actor: string): number {
    const box = this.#boxes.get(actor);
    return box === undefined ? 0 : box.waiting.length - box.next + 1;
  }

  /** Actors with a message in progress or waiting, by key, with their number of messages. */
  *depths(): IterableIterator<readonly [actor: string, depth: number]> {
    for (const actor of this.#boxes.keys()) yield [actor, this.depth(actor)];
  }

  /**
   * Runs `work` after all earlier work of this actor. Rejects with `mailbox.full` when more than `limit` messages wait
   * already, and with the error of `work`.
   */
  post<T>(actor: string, limit: number, work: () => Promise<T>): Promise<T> {
    const box = this.#boxes.get(actor);
    if (box === undefined) {
      const fresh: Mailbox = { next: 0, waiting: [] };
      this.#boxes.set(actor, fresh);
      return new Promise((resolve, reject) => {
        void this.#drain(actor, fresh, { work, resolve, reject });
      });
    }
    if (box.waiting.length - box.next >= limit) {
      return Promise.reject(mailboxFull(actor, limit));
    }
    return new Promise((resolve, reject) => {
      box.waiting.push({ work, resolve, reject });
    });
  }

  async #drain(actor: string, box: Mailbox, first: Waiting): Promise<void> {
    let current: Waiting | undefined = first;
    while (current !== undefined) {
      try {
        current.resolve(await current.work());
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
    if (this.#boxes.size === 0) this.onIdle();
  }
}
