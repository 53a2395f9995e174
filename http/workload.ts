/**
 * The requests of one kind that are being worked on, and how many of them may be once there are too many.
 *
 * There are too many when a queue stands: when for half a second on end not even the quickest request is done in about the time
 * one takes on its own, as CoDel (RFC 8289) tells a standing queue from a burst. A burst, and what waited for a disk or a
 * machine that stood still, is worked off meanwhile, and then one is quick again. From then on as many are let in as are
 * answered in about the time one takes on its own. By Little's law that is how many are done in a millisecond, times the
 * milliseconds they may take; where more at once do not get more done, the bound so finds the number that does.
 */

/** Fewer are never too many, and no standing queue. */
const FEWEST = 8;
const MANY = 64;
/** So many times as long as one on its own the quickest takes where a queue stands, for so many milliseconds on end. */
const LONGER = 4;
const LASTING = 500;
/** Milliseconds that one takes on its own, as long as nobody knows. */
const UNKNOWN = 1000;
/** How much longer than alone a request may take, while there are too many. */
const SLOWER = 1.6;
/** Weight of the newest request that was alone. */
const WEIGHT = 0.1;
/** How long requests are counted for one look, in milliseconds, and how many at least. */
const LOOK = 100;
const LEAST = 5;

export class Workload {
  #working = 0;
  #begun = 0;
  /** Milliseconds that one takes on its own; undefined before any was alone. */
  #alone: number | undefined;
  /** Since which look a queue stands. */
  #standsSince: number | undefined;
  /** Undefined while there are not too many. */
  #bound: number | undefined;
  /** Since the last look: when that was, how many were done, and how long the quickest took. */
  #since = 0;
  #done = 0;
  #quickest = Number.POSITIVE_INFINITY;

  get hasRoom(): boolean {
    return this.#bound === undefined || this.#working < this.#bound;
  }

  /** @param now `Clock.elapsed`, as everywhere here */
  begin(now: number): (now: number, isDone: boolean) => void {
    const beganAlone = this.#working === 0;
    this.#working += 1;
    this.#begun += 1;
    const number = this.#begun;
    return (end, isDone) => {
      this.#working -= 1;
      if (this.#working < MANY) this.#standsSince = undefined;
      // A request that is refused, also by something that has no room for more, says nothing of how long work takes.
      if (!isDone) return;
      if (beganAlone && this.#begun === number) this.#tookAlone(end - now);
      this.#done += 1;
      this.#quickest = Math.min(this.#quickest, end - now);
      if (this.#done >= LEAST && end - this.#since >= LOOK) this.#look(end);
    };
  }

  /** Overload is over. */
  calm(): void {
    this.#bound = undefined;
  }

  #tookAlone(millis: number): void {
    // In an overload whoever is alone is so because others were refused, and slowed down by what they left behind.
    if (this.#bound !== undefined) return;
    this.#alone = this.#alone === undefined ? millis : this.#alone + WEIGHT * (millis - this.#alone);
  }

  #look(now: number): void {
    const alone = this.#alone ?? UNKNOWN;
    const isSlow = this.#quickest > LONGER * alone;
    const rate = this.#done / (now - this.#since);
    this.#since = now;
    this.#done = 0;
    this.#quickest = Number.POSITIVE_INFINITY;
    if (this.#bound === undefined) {
      this.#standsSince = isSlow && this.#working >= MANY ? (this.#standsSince ?? now) : undefined;
      if (this.#standsSince === undefined || now - this.#standsSince < LASTING) return;
      this.#standsSince = undefined;
    }
    this.#bound = Math.max(FEWEST, Math.ceil(rate * alone * SLOWER));
  }
}
