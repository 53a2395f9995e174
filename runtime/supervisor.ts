/**
 * Restart limits. An actor that throws goes on from its last committed snapshot; one that throws too often within
 * a window is given up. Windows are kept in memory: a restart of the process starts them afresh.
 */
import type { Millis } from './ports.ts';

export interface RestartLimit {
  /** Throws within the window that are forgiven; one more stops the actor. Whole number, at least 0. @default 5 */
  readonly restarts?: number;
  /** Length of the window, milliseconds. @default 60_000 */
  readonly within?: Millis;
}

/** Windows kept before those that have passed are swept out. */
const SWEEP_AT = 1024;

export class Supervisor {
  readonly #restarts: number;
  readonly #within: Millis;
  readonly #throws = new Map<string, Millis[]>();

  constructor(limit: RestartLimit = {}) {
    this.#restarts = limit.restarts ?? 5;
    this.#within = limit.within ?? 60_000;
  }

  /** A step of this actor has thrown, at `elapsed` monotonic milliseconds. What becomes of the actor? */
  thrown(actor: string, elapsed: number): 'restart' | 'stop' {
    const recent = (this.#throws.get(actor) ?? []).filter((at) => elapsed - at < this.#within);
    recent.push(elapsed);
    if (recent.length > this.#restarts) {
      this.#throws.delete(actor);
      return 'stop';
    }
    this.#throws.set(actor, recent);
    if (this.#throws.size > SWEEP_AT) this.#sweep(elapsed);
    return 'restart';
  }

  /** A clean slate, as after a restart by hand. */
  forget(actor: string): void {
    this.#throws.delete(actor);
  }

  #sweep(elapsed: number): void {
    for (const [actor, throws] of this.#throws) {
      const last = throws.at(-1);
      if (last === undefined || elapsed - last >= this.#within) this.#throws.delete(actor);
    }
  }
}
