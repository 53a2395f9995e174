/** Numbers that sort jobs by their making: the time in milliseconds, told apart within one by a count. */
import type { Millis } from '../machines/ids.ts';
import type { Clock } from '../runtime/index.ts';

const PER_MILLISECOND = 1000;

export class JobOrder {
  readonly #clock: Clock;
  #last: number;

  /** `last`: the greatest number given out so far (0 when none was), so that a clock set back changes no order. */
  constructor(clock: Clock, last: number) {
    this.#clock = clock;
    this.#last = last;
  }

  next(): number {
    this.#last = Math.max(this.#last + 1, this.#clock.now() * PER_MILLISECOND);
    return this.#last;
  }
}

/** The least number a job made at or after this time can have. */
export function firstOrderAt(at: Millis): number {
  return at * PER_MILLISECOND;
}

/**
 * When a job of this number counts as made: never earlier than one made before it, also where the clock was set back,
 * so that lists sorted by number are sorted by time.
 */
export function timeOf(order: number): Millis {
  return Math.floor(order / PER_MILLISECOND);
}
