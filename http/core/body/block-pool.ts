/**
 * Pool of memory blocks for large chunks: half a megabyte of fresh memory per chunk would cost more (page faults,
 * collections) than the copy into it.
 */

/** Size of the library's largest chunk. */
export const BLOCK_BYTES = 512 * 1024;

/** Keeps 8 MiB; the garbage collector frees blocks beyond that. */
const MAX_SPARE_BLOCKS = 16;

export class BlockPool {
  readonly #spare: Buffer[] = [];

  /** A block with old content. */
  acquire(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  /** Returns a block to the pool; the caller must not use it afterwards. */
  release(block: Buffer): void {
    if (this.#spare.length < MAX_SPARE_BLOCKS) this.#spare.push(block);
  }
}
