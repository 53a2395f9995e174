/**
 * Limits of an image. Its file becomes part of every document signed with it, and its samples are decoded in
 * memory once.
 */
import { CryptoError } from '../../core/types.ts';

/** Bytes of the file. */
const MAX_BYTES = 16 << 20;
/** Most samples in a row, and most rows. */
const MAX_EXTENT_PIXELS = 16_384;
/** Most pixels: 16 million, A4 at 400 dpi. */
const MAX_PIXELS = 1 << 24;

export function refusedImage(why: string): CryptoError {
  return new CryptoError('request.invalid', `The image of the signature ${why}.`);
}

/** @throws {CryptoError} `request.invalid` */
export function assertFileLength(image: Buffer): void {
  if (image.length > MAX_BYTES) throw refusedImage('has more than 16 MiB');
}

/** @throws {CryptoError} `request.invalid` */
export function assertExtent(width: number, height: number): void {
  if (width === 0 || height === 0) throw refusedImage('has no extent');
  if (width > MAX_EXTENT_PIXELS || height > MAX_EXTENT_PIXELS || width * height > MAX_PIXELS) {
    throw refusedImage(`is too large: ${width} x ${height}, and 16 million pixels is the most`);
  }
}
