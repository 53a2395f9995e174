/**
 * The clock of the database as this node knows it. Nodes whose own clocks differ by minutes agree on it within
 * milliseconds, so due times mean the same on each of them.
 */
import { machineTime } from '../../model/clock.ts';
import type { Clock, Millis, SharedClock } from '../../model/ports.ts';

/** Difference that is corrected, milliseconds; smaller ones are the noise of the measurement. */
const TOLERANCE_MS = 5;

export class StoreClock implements SharedClock {
  readonly memory = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT);
  readonly #shared = new BigInt64Array(this.memory);
  readonly #clock: Clock;
  /** Time of the database minus elapsed time of this process, milliseconds. */
  #offset: number;

  /** @param clock measures elapsed time */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offset = clock.now() - clock.elapsed();
    this.#share();
  }

  /** Takes over a time that the database gave between the elapsed times `sent` and `received`. */
  set(now: Millis, sent: number, received: number): void {
    const offset = now - (sent + received) / 2;
    if (Math.abs(offset - this.#offset) > TOLERANCE_MS + (received - sent) / 2) this.#offset = offset;
    this.#share();
  }

  now(): Millis {
    return Math.floor(this.#clock.elapsed() + this.#offset);
  }

  elapsed(): number {
    return this.#clock.elapsed();
  }

  after(delay: Millis, task: () => void): () => void {
    return this.#clock.after(delay, task);
  }

  sleep(delay: Millis, signal?: AbortSignal): Promise<void> {
    return this.#clock.sleep(delay, signal);
  }

  #share(): void {
    Atomics.store(this.#shared, 0, BigInt(Math.round(this.now() - machineTime())));
  }
}
