/**
 * The time until which no other node can take over the work of this one, in memory that all threads of the process
 * share. A thread that is about to change files which other nodes change too waits while the time is over: the next
 * heartbeat extends it, or the process ends because its session is over. The database may be away for longer, so the
 * wait is limited.
 *
 * Source: docs/decisions/0078-several-nodes-on-postgresql.md
 */

/** Interval between two looks at the time, milliseconds. */
const LOOK_EVERY_MS = 20;

export class LeaseDeadline {
  /** Memory passed to threads. */
  readonly memory: SharedArrayBuffer;
  readonly #until: BigInt64Array;
  readonly #now: () => number;

  /** @param now time that all threads of the process share and that goes on while it is suspended, milliseconds */
  constructor(
    now: () => number,
    memory: SharedArrayBuffer = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT),
  ) {
    this.memory = memory;
    this.#until = new BigInt64Array(memory);
    this.#now = now;
  }

  /** Time on the clock of this deadline. */
  now(): number {
    return this.#now();
  }

  /** @param until on the clock of this deadline */
  set(until: number): void {
    Atomics.store(this.#until, 0, BigInt(Math.floor(until)));
  }

  get isHeld(): boolean {
    return this.#now() < Number(Atomics.load(this.#until, 0));
  }

  /**
   * Returns nothing to wait for while the lease is held; otherwise a promise that resolves with true once it is held
   * again, and with false after `maxMs`.
   */
  held(sleep: (ms: number) => Promise<void>, maxMs: number): Promise<boolean> | undefined {
    return this.isHeld ? undefined : this.#wait(sleep, this.#now() + maxMs);
  }

  async #wait(sleep: (ms: number) => Promise<void>, end: number): Promise<boolean> {
    while (!this.isHeld) {
      if (this.#now() >= end) return false;
      await sleep(LOOK_EVERY_MS);
    }
    return true;
  }
}
