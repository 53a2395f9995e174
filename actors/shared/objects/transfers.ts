/**
 * Transfers to an object store: few at the same time, because each has a part in memory. While the store hangs, one at a
 * time is tried and all others are refused at once.
 */
import { type Clock, Retryable } from '@sealwright/runtime';

/** Transfers that hold a part in memory at the same time. */
const MAX_RUNNING = 6;
/** Transfers that wait for their turn. */
const MAX_WAITING = 256;

interface Waiting {
  begin(): void;
  refuse(error: Retryable): void;
}

export class Transfers {
  readonly #waitMs: number;
  readonly #pauseMs: number;
  #running = 0;
  readonly #waiting: Waiting[] = [];
  /** Elapsed time of the next trial. Undefined: the store answers. */
  #stalledUntil: number | undefined;

  /** @param waitMs longest wait for a turn; half of it passes between two trials of a store that hangs */
  constructor(
    private readonly clock: Pick<Clock, 'after' | 'elapsed'>,
    private readonly location: string,
    waitMs: number,
  ) {
    this.#waitMs = waitMs;
    this.#pauseMs = Math.ceil(waitMs / 2);
  }

  /** Waits for a turn. Resolves with the function that ends it. @throws {Retryable} `storage.unavailable` */
  async begin(): Promise<() => void> {
    if (this.#stalledUntil !== undefined) {
      const now = this.clock.elapsed();
      if (now < this.#stalledUntil) throw this.#refusal('does not answer');
      this.#stalledUntil = now + this.#pauseMs;
    }
    if (this.#running < MAX_RUNNING) this.#running += 1;
    else await this.#turn();
    return () => {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next.begin();
    };
  }

  /** The store did not answer in time. */
  stalled(): void {
    this.#stalledUntil = this.clock.elapsed() + this.#pauseMs;
    for (const one of this.#waiting.splice(0)) one.refuse(this.#refusal('does not answer'));
  }

  answered(): void {
    this.#stalledUntil = undefined;
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING) throw this.#refusal('has too many files to take');
    return new Promise((resolve, reject) => {
      const refuse = (error: Retryable) => {
        cancel();
        reject(error);
      };
      const one: Waiting = {
        begin: () => {
          cancel();
          resolve();
        },
        refuse,
      };
      const cancel = this.clock.after(this.#waitMs, () => {
        this.#waiting.splice(this.#waiting.indexOf(one), 1);
        refuse(this.#refusal('is too slow'));
      });
      this.#waiting.push(one);
    });
  }

  #refusal(why: string): Retryable {
    return new Retryable('storage.unavailable', `${this.location} ${why}.`, this.#pauseMs);
  }
}
