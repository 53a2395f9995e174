/** Answers that cost much and change slowly: a live page does not read them with each refresh. */

/** Time after which an answer is read again, milliseconds. */
const MAX_AGE_MS = 60_000;

export class CachedAnswer<Value> {
  readonly #now: () => number;
  #last: { readonly key: string; readonly readAt: number; readonly value: Promise<Value> } | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Reads again after a while, after a failure, and for another key: an answer for an earlier key is never given. */
  get(key: string, read: () => Promise<Value>): Promise<Value> {
    const last = this.#last;
    if (last?.key === key && this.#now() < last.readAt + MAX_AGE_MS) return last.value;
    const value = read();
    this.#last = { key, readAt: this.#now(), value };
    value.catch(() => {
      if (this.#last?.value === value) this.forget();
    });
    return value;
  }

  forget(): void {
    this.#last = undefined;
  }
}
