/**
 * Memory for large chunks, in blocks that are used again: half a megabyte of fresh memory per chunk would be more
 * work (page faults, collections) than copying into it.
 */

/** The library's largest chunk. */
export const BLOCK_BYTES = 512 * 1024;

/** 8 MiB are kept; what many uploads at once need beyond that is left to the collector. */
const BLOCKS_KEPT = 16;

export class BlockPool {
  readonly #spare: Buffer[] = [];

  /** A block with old content. */
  take(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  /** Gives a block back; nobody may look at it afterwards. */
  give(block: Buffer): void {
    if (this.#spare.length < BLOCKS_KEPT) this.#spare.push(block);
  }
}
