/** Order numbers that sort jobs by creation: time in milliseconds and a sequence number within it. */

import type { Clock } from '@sealwright/runtime';
import type { Millis } from '../../../machines/ids.ts';

const PER_MILLISECOND = 1000;

/** Times from the year 2200 on are those of a clock gone wrong: their numbers would soon be too large to count on exactly. */
const LATEST = Date.UTC(2200);

/** Nodes that assign numbers at a time, at most: each has those with its own remainder. */
const NODES = 64;

export class OrderNumbers {
  readonly #clock: Clock;
  /** Number of this node; undefined: there are no others. */
  readonly #node: number | undefined;
  #last: number;

  /**
   * @param last greatest number assigned so far (0 for none), which keeps the order when the clock is set back
   * @param node number of this node, below 64, where several assign numbers
   */
  constructor(clock: Clock, last: number, node?: number) {
    this.#clock = clock;
    this.#last = last;
    this.#node = node;
  }

  /** The next number, and the current time of the clock. */
  next(): { readonly order: number; readonly at: Millis } {
    const at = this.#clock.now();
    const least = Math.max(this.#last + 1, at < LATEST ? at * PER_MILLISECOND : 0);
    this.#last = this.#node === undefined ? least : least + ((NODES + this.#node - (least % NODES)) % NODES);
    return { order: this.#last, at };
  }
}

/** The least number of a job created at or after this time. */
export function firstOrderNumberAt(at: Millis): number {
  return at * PER_MILLISECOND;
}

/** Returns the time of a number: its creation time, or a later time if the clock was set back before. */
export function timeOfOrderNumber(order: number): Millis {
  return Math.floor(order / PER_MILLISECOND);
}
