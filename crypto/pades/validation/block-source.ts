/**
 * A large file read in blocks that are kept for a while: comparing jumps between objects and cross-reference entries,
 * and a read for each of them would cost more than looking at it.
 */
import type { ByteSource } from '../../pdf/index.ts';

/** Smaller sources are in memory as a whole. */
const LARGE = 1 << 20;
const BLOCK = 64 << 10;
/** Longest read that is answered from a block; a block holds this much of the next one too. */
const SHORT = 16 << 10;
const KEPT = 24;

export function blockSource(source: ByteSource): ByteSource {
  if (source.size <= LARGE) return source;
  const blocks = new Map<number, Buffer>();
  const block = (start: number): Buffer => {
    const known = blocks.get(start);
    if (known !== undefined) return known;
    const bytes = source.read(start, BLOCK + SHORT);
    const [oldest] = blocks.keys();
    if (blocks.size === KEPT && oldest !== undefined) blocks.delete(oldest);
    blocks.set(start, bytes);
    return bytes;
  };
  return {
    size: source.size,
    read(offset, length) {
      if (length > SHORT || offset < 0) return source.read(offset, length);
      const start = offset - (offset % BLOCK);
      return block(start).subarray(offset - start, offset - start + length);
    },
  };
}
