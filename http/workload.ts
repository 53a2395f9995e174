/**
 * The requests of one kind that are being worked on, and how many of them may be once there are too many: as many as are
 * answered in about the time one takes on its own. By Little's law that is how many are done in a millisecond, times
 * the milliseconds they may take; where more at once do not get more done, the bound so finds the number that does.
 */

/** Fewer are never too many. */
const FEWEST = 4;
/** Too many: so many at once, the oldest of which takes so many times as long as one on its own, and so many milliseconds. */
const MANY = 64;
const LONGER = 4;
const LONG = 1000;
/** For so many milliseconds on end: what waited for a disk or a machine that stood still is soon done. */
const LASTING = 500;
/** Milliseconds that one takes on its own, as long as nobody knows. */
const UNKNOWN = 1000;
/** How much longer than alone a request may take, while there are too many. */
const SLOWER = 1.6;
/** Weight of the newest request that was alone. */
const WEIGHT = 0.1;
/** How long requests are counted for one look, in milliseconds, and how many at least. */
const LOOK = 200;
const LEAST = 5;

export class Workload {
  /** When each was begun, oldest first. */
  readonly #begun = new Map<object, number>();
  /** Milliseconds that one takes on its own; undefined before any was alone. */
  #alone: number | undefined;
  /** Since when there seem to be too many. */
  #crowdedSince: number | undefined;
  /** Undefined while there are not too many. */
  #bound: number | undefined;
  #done = 0;
  #since = 0;

  /** @param now `Clock.elapsed`, as everywhere here */
  hasRoom(now: number): boolean {
    const working = this.#begun.size;
    if (this.#bound !== undefined) return working < this.#bound;
    const long = Math.max(LONG, LONGER * (this.#alone ?? UNKNOWN));
    const crowded = working >= MANY && now - this.#oldest(now) >= long;
    this.#crowdedSince = crowded ? (this.#crowdedSince ?? now) : undefined;
    if (this.#crowdedSince === undefined || now - this.#crowdedSince < LASTING) return true;
    this.#bound = FEWEST;
    this.#done = 0;
    this.#since = now;
    return false;
  }

  begin(now: number): (now: number) => void {
    const isAlone = this.#begun.size === 0;
    const work = {};
    this.#begun.set(work, now);
    return (end) => {
      this.#begun.delete(work);
      if (this.#begun.size < MANY) this.#crowdedSince = undefined;
      if (isAlone) this.#tookAlone(end - now);
      this.#look(end);
    };
  }

  /** Overload is over. */
  calm(): void {
    this.#bound = undefined;
  }

  #oldest(now: number): number {
    for (const begun of this.#begun.values()) return begun;
    return now;
  }

  #tookAlone(millis: number): void {
    // In an overload whoever is alone is so because others were refused, and slowed down by what they left behind.
    if (this.#bound !== undefined) return;
    this.#alone = this.#alone === undefined ? millis : this.#alone + WEIGHT * (millis - this.#alone);
  }

  #look(now: number): void {
    this.#done += 1;
    const since = now - this.#since;
    if (this.#bound === undefined || since < LOOK || this.#done < LEAST) return;
    const atOnce = (this.#done / since) * (this.#alone ?? UNKNOWN) * SLOWER;
    this.#bound = Math.max(FEWEST, Math.ceil(atOnce));
    this.#done = 0;
    this.#since = now;
  }
}
