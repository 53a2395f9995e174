/**
 * Records the actor whose step a thread is computing, in memory that outlives the thread: it identifies the actor whose
 * step never ends or exhausts the memory.
 */

/** Bytes of kind, slash and id: texts in keys have at most 400 bytes each. */
const MAX_LENGTH = 1024;

export class ComputingMark {
  /** Memory to pass to the thread. */
  readonly memory: SharedArrayBuffer;
  readonly #length: Int32Array;
  readonly #text: Buffer;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(4 + MAX_LENGTH)) {
    this.memory = memory;
    this.#length = new Int32Array(memory, 0, 1);
    this.#text = Buffer.from(memory, 4, MAX_LENGTH);
  }

  /** The key of the actor; undefined while no step is computed. */
  get actor(): string | undefined {
    const length = Atomics.load(this.#length, 0);
    return length === 0 ? undefined : this.#text.toString('utf8', 0, length);
  }

  set actor(key: string | undefined) {
    Atomics.store(this.#length, 0, key === undefined ? 0 : this.#text.write(key));
  }
}
