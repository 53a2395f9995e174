/**
 * Memory of large chunks, and the turns of bodies that wait for it. Half a megabyte of fresh memory per chunk would cost more
 * (page faults, collections) than the copy into it.
 */

/** Size of the library's largest chunk. */
export const BLOCK_BYTES = 512 * 1024;

/** Keeps 8 MiB; the garbage collector frees blocks beyond that. */
const MAX_SPARE_BLOCKS = 16;

/** Bytes of all bodies that wait for their readers, above which no body is resumed. */
const ENOUGH_BYTES = 8 * 1024 * 1024;

export class BlockPool {
  readonly #spare: Buffer[] = [];
  readonly #turns: (() => void)[] = [];
  #isTurnNear = false;
  #waitingBytes = 0;

  /** A block with old content. */
  acquire(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  /** Returns a block to the pool; the caller must not use it afterwards. */
  release(block: Buffer): void {
    if (this.#spare.length < MAX_SPARE_BLOCKS) this.#spare.push(block);
  }

  /** Counts bytes that a reader is to get, or has got (less than 0). */
  count(bytes: number): void {
    this.#waitingBytes += bytes;
    if (bytes < 0) this.#bringTurn();
  }

  /**
   * Calls back when the body may be resumed: one in a turn of the event loop, because the library reads a resumed connection
   * for as long as every read fills its buffer, and nothing else happens meanwhile.
   */
  whenTurn(resume: () => void): void {
    this.#turns.push(resume);
    this.#bringTurn();
  }

  #bringTurn(): void {
    if (this.#isTurnNear || this.#turns.length === 0 || this.#waitingBytes >= ENOUGH_BYTES) return;
    this.#isTurnNear = true;
    setImmediate(() => {
      this.#isTurnNear = false;
      this.#turns.shift()?.();
      this.#bringTurn();
    });
  }
}
