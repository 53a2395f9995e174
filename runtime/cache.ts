/** Recently used actors, so that a busy one is not read and parsed for every message. The oldest unused goes first. */
import type { StoredActor } from './ports.ts';

export class ActorCache {
  readonly #size: number;
  readonly #actors = new Map<string, StoredActor>();

  /** @param size actors kept at most; 0 keeps none. */
  constructor(size: number) {
    this.#size = size;
  }

  get(key: string): StoredActor | undefined {
    const found = this.#actors.get(key);
    if (found !== undefined) {
      this.#actors.delete(key);
      this.#actors.set(key, found);
    }
    return found;
  }

  set(key: string, actor: StoredActor): void {
    if (this.#size === 0) return;
    this.#actors.delete(key);
    this.#actors.set(key, actor);
    if (this.#actors.size <= this.#size) return;
    const [oldest] = this.#actors.keys();
    if (oldest !== undefined) this.#actors.delete(oldest);
  }

  delete(key: string): void {
    this.#actors.delete(key);
  }
}
