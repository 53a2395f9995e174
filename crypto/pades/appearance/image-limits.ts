/**
 * What an image may be. Its file stays in every document that is signed with it, and its samples are laid out in
 * memory once.
 */
import { CryptoError } from '../../types.ts';

/** Bytes of the file. */
const MOST_BYTES = 16 << 20;
/** Samples in a row, and rows. */
const MOST_ACROSS = 16_384;
/** 16 million: a page of A4 at 400 dots an inch. */
const MOST_PIXELS = 1 << 24;

export function refusedImage(why: string): CryptoError {
  return new CryptoError('request.invalid', `The image of the signature ${why}.`);
}

/** @throws {CryptoError} `request.invalid` */
export function assertFileLength(image: Buffer): void {
  if (image.length > MOST_BYTES) throw refusedImage('has more than 16 MiB');
}

/** @throws {CryptoError} `request.invalid` */
export function assertExtent(width: number, height: number): void {
  if (width === 0 || height === 0) throw refusedImage('has no extent');
  if (width > MOST_ACROSS || height > MOST_ACROSS || width * height > MOST_PIXELS) {
    throw refusedImage(`is too large: ${width} x ${height}, and 16 million pixels is the most`);
  }
}
