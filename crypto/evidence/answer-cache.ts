/** Cache of authority responses until they expire; concurrent requests for one key share one exchange. */
import { LRUCache } from 'lru-cache';

/** A response with its expiry time, milliseconds since the epoch. */
interface ExpiringValue<T> {
  readonly value: T;
  readonly until: number;
}

/** Limit of entries in all caches of a thread: a small entry costs far more than its bytes. */
const MAX_ENTRIES = 2048;

interface AnswerCache<T> {
  /** Returns the cached value, or requests it; concurrent callers wait for the same request. */
  get(key: string, now: number, ask: () => Promise<ExpiringValue<T>>): Promise<T>;
  /** Removes a response that turned out to be unusable. */
  delete(key: string): void;
}

/**
 * Limits the bytes of all caches of a thread together: each profile has its own caches, and CRLs of thirty megabytes
 * are common. The oldest entry of any cache is evicted first.
 */
export class CacheLimit {
  readonly #entries: LRUCache<symbol, { readonly bytes: number; readonly drop: () => void }>;

  constructor(most: number) {
    this.#entries = new LRUCache({
      max: MAX_ENTRIES,
      maxSize: most,
      sizeCalculation: ({ bytes }) => bytes,
      dispose: ({ drop }, _, reason) => {
        if (reason === 'evict') drop();
      },
    });
  }

  /** Reserves bytes. @returns the token for `release`; undefined when the size exceeds the whole limit */
  reserve(bytes: number, drop: () => void): symbol | undefined {
    const place = Symbol();
    // The cache wants positive sizes.
    return this.#entries.set(place, { bytes: Math.max(1, bytes), drop }).has(place) ? place : undefined;
  }

  release(place: symbol): void {
    this.#entries.delete(place);
  }
}

const SHARED = new CacheLimit(48 << 20);

interface CacheEntry<T> extends ExpiringValue<T> {
  readonly place: symbol;
}

/**
 * Creates a cache.
 * @param most limit of entries; the least recently requested are evicted first
 * @param sizeOf bytes of a response
 * @param limit limit shared with other caches. @default that of the thread
 */
export function createAnswerCache<T>(
  most: number,
  sizeOf: (value: T) => number,
  limit: CacheLimit = SHARED,
): AnswerCache<T> {
  const cache = new LRUCache<string, CacheEntry<T>>({
    max: most,
    dispose: ({ place }, _, reason) => {
      if (reason === 'evict') limit.release(place);
    },
  });
  const pending = new Map<string, Promise<ExpiringValue<T>>>();
  const forget = (key: string): void => {
    const cached = cache.get(key);
    if (cached !== undefined) limit.release(cached.place);
    cache.delete(key);
  };
  const keep = (key: string, answer: ExpiringValue<T>): void => {
    forget(key);
    const place = limit.reserve(sizeOf(answer.value), () => cache.delete(key));
    if (place === undefined) return;
    cache.set(key, { ...answer, place });
  };
  return {
    async get(key, now, ask) {
      const cached = cache.get(key);
      if (cached !== undefined && now < cached.until) return cached.value;
      let underway = pending.get(key);
      if (underway === undefined) {
        underway = ask()
          .then((answer) => {
            keep(key, answer);
            return answer;
          })
          .finally(() => pending.delete(key));
        pending.set(key, underway);
      }
      const answer = await underway;
      return answer.value;
    },
    delete: forget,
  };
}
