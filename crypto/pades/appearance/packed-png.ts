/**
 * The samples of a PNG as they go into a PDF. Thousands of files are signed with the same image, so the last few are
 * remembered.
 */
import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import type { PngFile } from './png-file.ts';
import { onWhite, unpackPng } from './png-samples.ts';

export interface PackedPng {
  readonly channels: 1 | 3;
  readonly colours: Buffer;
  /** Undefined when the image is opaque. */
  readonly alpha: Buffer | undefined;
}

const MOST_REMEMBERED = 8;
/** Bytes of all that is remembered. */
const ROOM = 16 << 20;

/** By digest of the file and by what was made of its transparency; the first in it was used the longest time ago. */
const remembered = new Map<string, PackedPng>();

/**
 * @param file what `png` was read from
 * @param transparency whether there may be any; otherwise the image lies on white
 * @throws {CryptoError} as `unpackPng`
 */
export function packedPng(file: Buffer, png: PngFile, transparency: boolean): PackedPng {
  const key = `${createHash('sha256').update(file).digest('hex')} ${transparency}`;
  const known = remembered.get(key);
  remembered.delete(key);
  const packed = known ?? pack(png, transparency);
  remembered.set(key, packed);
  let room = ROOM;
  for (const [other, one] of [...remembered].reverse()) {
    room -= one.colours.length + (one.alpha?.length ?? 0);
    if (room < 0) remembered.delete(other);
  }
  for (const oldest of [...remembered.keys()].slice(0, -MOST_REMEMBERED)) remembered.delete(oldest);
  return packed;
}

function pack(png: PngFile, transparency: boolean): PackedPng {
  const unpacked = unpackPng(png);
  const { channels, colours, alpha } = transparency ? unpacked : onWhite(unpacked);
  return { channels, colours: deflateSync(colours), alpha: alpha && deflateSync(alpha) };
}
