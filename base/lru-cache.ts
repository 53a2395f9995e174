/** Bounded cache. */

export interface LruCacheOptions<Key, Value> {
  /** Maximum number of entries; 0 stores nothing. */
  readonly entries: number;
  /** Maximum of all sizes together; a larger value is not stored. @default unlimited */
  readonly bytes?: number;
  /** Size of a value, for `bytes`. @default 0 */
  readonly sizeOf?: (value: Value) => number;
  /** Called for each evicted entry, not for deleted or replaced ones. */
  readonly onEvict?: (key: Key, value: Value) => void;
}

interface Entry<Value> {
  readonly value: Value;
  readonly size: number;
}

/** Map that evicts the least recently used entries when it is full. */
export class LruCache<Key, Value> {
  readonly #options: LruCacheOptions<Key, Value>;
  /** Least recently used first. */
  readonly #entries = new Map<Key, Entry<Value>>();
  #bytes = 0;

  constructor(options: LruCacheOptions<Key, Value>) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  /** Returns the value and marks it as used. */
  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Stores or replaces a value. @returns false when it is larger than the whole cache */
  set(key: Key, value: Value): boolean {
    const { entries, bytes = Number.POSITIVE_INFINITY, sizeOf, onEvict } = this.#options;
    this.delete(key);
    const size = sizeOf?.(value) ?? 0;
    if (entries === 0 || size > bytes) return false;
    this.#entries.set(key, { value, size });
    this.#bytes += size;
    for (const [oldest, entry] of this.#entries) {
      if (this.#entries.size <= entries && this.#bytes <= bytes) break;
      this.delete(oldest);
      onEvict?.(oldest, entry.value);
    }
    return true;
  }

  delete(key: Key): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#bytes -= entry.size;
    this.#entries.delete(key);
  }
}
