import type { Ids, Millis } from '@sealwright/runtime';

const PREFIXES = 2 ** 32;

/**
 * Ids of one kind of actors: UUIDs of version 4 whose first eight digits grow with the time and differ from actor to
 * actor of a process. Actors that are made and change together then lie on the same pages of the store; random ids put
 * each on pages of its own. The other 90 bits are random.
 */
export class GrowingIds {
  readonly #ids: Pick<Ids, 'uuid'>;
  #last: number | undefined;

  constructor(ids: Pick<Ids, 'uuid'>) {
    this.#ids = ids;
  }

  /** @param at time of the actor; the prefixes begin again after 50 days */
  next(at: Millis): string {
    const time = Math.floor(at) % PREFIXES;
    const last = this.#last ?? (time + PREFIXES - 1) % PREFIXES;
    // False when ids are made faster than one a millisecond, or the clock was set back.
    const isLater = (time - last + PREFIXES) % PREFIXES < PREFIXES / 2 && time !== last;
    const prefix = isLater ? time : (last + 1) % PREFIXES;
    this.#last = prefix;
    return prefix.toString(16).padStart(8, '0') + this.#ids.uuid().slice(8);
  }
}
