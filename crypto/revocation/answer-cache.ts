/** Answers of authorities, kept until they are due again; each is asked for once at a time. */

/** An answer and when it stops being one, milliseconds since the epoch. */
export interface Dated<T> {
  readonly value: T;
  readonly until: number;
}

/** Answers that all caches of a thread may hold together: a small one costs far more than its bytes. */
const MOST_ANSWERS = 2048;

export interface AnswerCache<T> {
  /** The value kept under the key, or what `ask` gives; whoever comes while it is asked for waits for the same. */
  get(key: string, now: number, ask: () => Promise<Dated<T>>): Promise<T>;
  /** For an answer that turned out to be no use. */
  forget(key: string): void;
}

/**
 * Bytes that all caches of a thread may hold together: profiles have caches of their own, and lists of thirty megabytes
 * are no rarity. What was kept longest goes first, whichever cache it is in.
 */
export class AnswerRoom {
  readonly #most: number;
  readonly #kept = new Map<symbol, { readonly bytes: number; readonly drop: () => void }>();
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** @returns what `leave` is called with; undefined when there is no room for that much at all */
  take(bytes: number, drop: () => void): symbol | undefined {
    if (bytes > this.#most) return undefined;
    const place = Symbol();
    this.#kept.set(place, { bytes, drop });
    this.#bytes += bytes;
    for (const [oldest, entry] of this.#kept) {
      if (this.#bytes <= this.#most && this.#kept.size <= MOST_ANSWERS) break;
      this.leave(oldest);
      entry.drop();
    }
    return place;
  }

  leave(place: symbol): void {
    this.#bytes -= this.#kept.get(place)?.bytes ?? 0;
    this.#kept.delete(place);
  }
}

const SHARED = new AnswerRoom(48 << 20);

interface Kept<T> extends Dated<T> {
  readonly place: symbol;
}

/**
 * @param most answers kept; the ones asked for longest ago go first
 * @param sizeOf bytes of an answer
 * @param room shared with other caches. @default by all of the thread
 */
export function createAnswerCache<T>(
  most: number,
  sizeOf: (value: T) => number,
  room: AnswerRoom = SHARED,
): AnswerCache<T> {
  const kept = new Map<string, Kept<T>>();
  const asked = new Map<string, Promise<Dated<T>>>();
  const forget = (key: string): void => {
    const known = kept.get(key);
    if (known !== undefined) room.leave(known.place);
    kept.delete(key);
  };
  const keep = (key: string, answer: Dated<T>): void => {
    forget(key);
    const place = room.take(sizeOf(answer.value), () => kept.delete(key));
    if (place === undefined) return;
    kept.set(key, { ...answer, place });
    for (const oldest of kept.keys()) {
      if (kept.size <= most) break;
      forget(oldest);
    }
  };
  return {
    async get(key, now, ask) {
      const known = kept.get(key);
      if (known !== undefined && now < known.until) return known.value;
      let underway = asked.get(key);
      if (underway === undefined) {
        underway = ask()
          .then((answer) => {
            keep(key, answer);
            return answer;
          })
          .finally(() => asked.delete(key));
        asked.set(key, underway);
      }
      const answer = await underway;
      return answer.value;
    },
    forget,
  };
}
