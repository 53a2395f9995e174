/** A bounded map that forgets what was longest unused. */
export class LatelyUsed<Key, Value> {
  readonly #most: number;
  readonly #entries = new Map<Key, Value>();

  /** @param most entries kept. Whole number, at least 1. */
  constructor(most: number) {
    this.#most = most;
  }

  get(key: Key): Value | undefined {
    const found = this.#entries.get(key);
    if (found !== undefined) this.keep(key, found);
    return found;
  }

  keep(key: Key, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#most) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      break;
    }
  }
}
