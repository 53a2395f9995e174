/**
 * The actor whose step a thread is computing, in memory that outlives the thread: when a step never ends or takes all
 * memory, this says whose step it was.
 */

/** Kind, slash and id: texts in keys have at most 400 bytes each. */
const LONGEST = 1024;

export class WorkMark {
  /** To be handed to the thread. */
  readonly memory: SharedArrayBuffer;
  readonly #length: Int32Array;
  readonly #text: Buffer;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(4 + LONGEST)) {
    this.memory = memory;
    this.#length = new Int32Array(memory, 0, 1);
    this.#text = Buffer.from(memory, 4, LONGEST);
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
