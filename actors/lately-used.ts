/** A bounded map that forgets what was not used lately: the older half of it, whenever the younger half is full. */
export class LatelyUsed<Key, Value> {
  readonly #half: number;
  #young = new Map<Key, Value>();
  #old = new Map<Key, Value>();

  /** @param most entries kept. Whole number, at least 2. */
  constructor(most: number) {
    this.#half = Math.floor(most / 2);
  }

  get(key: Key): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.keep(key, old);
    return old;
  }

  keep(key: Key, value: Value): void {
    this.#young.set(key, value);
    if (this.#young.size < this.#half) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  forget(key: Key): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }
}
