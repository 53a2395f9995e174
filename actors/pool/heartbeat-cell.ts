/** Time of the last progress of a pool thread, in shared memory: the main thread can read it while the thread hangs. */
import type { Millis } from '../../machines/ids.ts';

export class HeartbeatCell {
  /** Memory passed to the thread. */
  readonly memory: SharedArrayBuffer;
  /** Whole seconds since the epoch, unsigned: valid until 2106. */
  readonly #seconds: Uint32Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(Uint32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#seconds = new Uint32Array(memory);
  }

  get lastBeat(): Millis {
    return Atomics.load(this.#seconds, 0) * 1000;
  }

  beat(now: Millis): void {
    Atomics.store(this.#seconds, 0, Math.floor(now / 1000));
  }
}
