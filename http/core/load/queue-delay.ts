/**
 * Tracks the requests of one kind in progress, and limits their number during overload.
 *
 * Overload begins when a queue persists: for half a second, even the fastest request takes about `TARGET_RATIO` times
 * its unloaded duration (CoDel, RFC 8289, tells a standing queue from a burst in this way). A burst, or requests that
 * waited for a disk or a suspended machine, drains in the meantime, and then one request is fast again. During
 * overload the limit is the number of requests that complete within the permitted duration: by Little's law,
 * completions per millisecond times the permitted milliseconds.
 */

/** Smaller numbers are never an overload and never a standing queue. */
const MIN_LIMIT = 8;
const MAX_LIMIT = 64;
/**
 * Ratio of the fastest duration to the unloaded duration in a standing queue, and the interval for which it must
 * hold, milliseconds.
 */
const TARGET_RATIO = 4;
const INTERVAL_MS = 500;
/** Assumed unloaded duration before the first measurement, milliseconds. */
const INITIAL_DELAY_MS = 1000;
/** Ratio of the permitted duration to the unloaded duration during overload. */
const SLOWDOWN_RATIO = 1.6;
/** Weight of the newest unloaded sample in the moving average. */
const SMOOTHING_FACTOR = 0.1;
/** Length of a measurement interval, milliseconds, and the minimum number of requests in it. */
const CHECK_INTERVAL_MS = 100;
const MIN_COMPLETIONS = 5;

export class QueueDelay {
  #working = 0;
  #begun = 0;
  /** Unloaded duration, milliseconds; undefined before the first sample. */
  #alone: number | undefined;
  /** Interval since which a queue persists. */
  #standsSince: number | undefined;
  /** Undefined outside overload. */
  #bound: number | undefined;
  /** The current interval: its start, its completions and its minimum duration. */
  #since = 0;
  #done = 0;
  #minDelay = Number.POSITIVE_INFINITY;

  get hasRoom(): boolean {
    return this.#bound === undefined || this.#working < this.#bound;
  }

  /** @param now `Clock.elapsed`, as in every method */
  requestStarted(now: number): (now: number, isDone: boolean) => void {
    const beganAlone = this.#working === 0;
    this.#working += 1;
    this.#begun += 1;
    const number = this.#begun;
    return (end, isDone) => {
      this.#working -= 1;
      if (this.#working < MAX_LIMIT) this.#standsSince = undefined;
      // A request that is refused or fails for lack of resources is no sample of a duration.
      if (!isDone) return;
      if (beganAlone && this.#begun === number) this.#recordUncontended(end - now);
      this.#done += 1;
      this.#minDelay = Math.min(this.#minDelay, end - now);
      if (this.#done >= MIN_COMPLETIONS && end - this.#since >= CHECK_INTERVAL_MS) this.#check(end);
    };
  }

  /** Ends the overload. */
  endOverload(): void {
    this.#bound = undefined;
  }

  #recordUncontended(millis: number): void {
    // During overload a single request is no unloaded sample: others were refused, and their remains slow it down.
    if (this.#bound !== undefined) return;
    this.#alone =
      this.#alone === undefined ? millis : this.#alone + SMOOTHING_FACTOR * (millis - this.#alone);
  }

  #check(now: number): void {
    const alone = this.#alone ?? INITIAL_DELAY_MS;
    const isSlow = this.#minDelay > TARGET_RATIO * alone;
    const rate = this.#done / (now - this.#since);
    this.#since = now;
    this.#done = 0;
    this.#minDelay = Number.POSITIVE_INFINITY;
    if (this.#bound === undefined) {
      this.#standsSince = isSlow && this.#working >= MAX_LIMIT ? (this.#standsSince ?? now) : undefined;
      if (this.#standsSince === undefined || now - this.#standsSince < INTERVAL_MS) return;
      this.#standsSince = undefined;
    }
    this.#bound = Math.max(MIN_LIMIT, Math.ceil(rate * alone * SLOWDOWN_RATIO));
  }
}
