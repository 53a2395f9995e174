/**
 * Reads a large file in cached blocks: comparing states jumps between objects and cross-reference entries,
 * and a separate read for each would dominate the cost.
 */
import { LRUCache } from 'lru-cache';
import type { ByteSource } from '../../pdf/index.ts';

/** Smaller sources are in memory. */
const MIN_CACHED_SOURCE_BYTES = 1 << 20;
const BLOCK_BYTES = 64 << 10;
/** Longest read served from a block; each block overlaps the next by this length. */
const MAX_CACHED_READ_BYTES = 16 << 10;
const CACHE_SIZE = 24;

export function blockSource(source: ByteSource): ByteSource {
  if (source.size <= MIN_CACHED_SOURCE_BYTES) return source;
  const blocks = new LRUCache<number, Buffer>({ max: CACHE_SIZE });
  const block = (start: number): Buffer => {
    const cached = blocks.get(start);
    if (cached !== undefined) return cached;
    const bytes = source.read(start, BLOCK_BYTES + MAX_CACHED_READ_BYTES);
    blocks.set(start, bytes);
    return bytes;
  };
  return {
    size: source.size,
    password: source.password,
    read(offset, length) {
      if (length > MAX_CACHED_READ_BYTES || offset < 0) return source.read(offset, length);
      const start = offset - (offset % BLOCK_BYTES);
      return block(start).subarray(offset - start, offset - start + length);
    },
  };
}
