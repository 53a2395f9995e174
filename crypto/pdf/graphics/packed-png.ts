/**
 * Compresses the samples of a PNG for PDF. Thousands of files are signed with the same image, so the last few are
 * cached.
 */

import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { PngFile } from './png-file.ts';
import { onWhite, unpackPng } from './png-samples.ts';

export interface PackedPng {
  readonly channels: 1 | 3;
  readonly colours: Buffer;
  /** Undefined when the image is opaque. */
  readonly alpha: Buffer | undefined;
}

const CACHE_SIZE = 8;
/** Most bytes of the cache. */
const CACHE_BYTES = 16 << 20;

/** Keyed by digest of the file and treatment of its transparency. */
const cache = new LRUCache<string, PackedPng>({
  max: CACHE_SIZE,
  maxSize: CACHE_BYTES,
  sizeCalculation: ({ colours, alpha }) => colours.length + (alpha?.length ?? 0),
});

/**
 * @param file source of `png`
 * @param transparency true when transparency is permitted; otherwise the image is blended on white
 * @throws {CryptoError} as `unpackPng`
 */
export function packedPng(file: Buffer, png: PngFile, transparency: boolean): PackedPng {
  const key = `${createHash('sha256').update(file).digest('hex')} ${transparency}`;
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const packed = pack(png, transparency);
  cache.set(key, packed);
  return packed;
}

function pack(png: PngFile, transparency: boolean): PackedPng {
  const unpacked = unpackPng(png);
  const { channels, colours, alpha } = transparency ? unpacked : onWhite(unpacked);
  return { channels, colours: deflateSync(colours), alpha: alpha && deflateSync(alpha) };
}
