/**
 * Restart limits. An actor that throws continues from its last committed snapshot; one that throws too often within a
 * window is stopped. Windows are in memory: a restart of the process resets them.
 */
import type { Millis } from '../model/ports.ts';

export interface RestartLimit {
  /** Allowed throws within the window; one more stops the actor. Whole number, at least 0. @default 5 */
  readonly restarts?: number;
  /** Length of the window, milliseconds. @default 60_000 */
  readonly within?: Millis;
}

export const RESTART_BOUNDS = { restarts: [0], within: [1] } as const;

/** Windows in memory before expired ones are removed. */
const SWEEP_AT = 1024;

export class Supervisor {
  readonly #restarts: number;
  readonly #within: Millis;
  readonly #throws = new Map<string, Millis[]>();

  constructor(limit: RestartLimit = {}) {
    this.#restarts = limit.restarts ?? 5;
    this.#within = limit.within ?? 60_000;
  }

  /**
   * Records that a step of this actor has thrown, at `elapsed` monotonic milliseconds, and returns the consequence.
   */
  recordFailure(actor: string, elapsed: number): 'restart' | 'stop' {
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

  /** Resets the window of an actor, after a restart by an operator. */
  clear(actor: string): void {
    this.#throws.delete(actor);
  }

  #sweep(elapsed: number): void {
    for (const [actor, throws] of this.#throws) {
      const last = throws.at(-1);
      if (last === undefined || elapsed - last >= this.#within) this.#throws.delete(actor);
    }
  }
}
