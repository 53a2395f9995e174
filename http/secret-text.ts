/**
 * A secret that others are compared with. How long a comparison takes depends on what was given alone: texts of usual
 * length are compared padded to one length, which is cheap, longer ones by their SHA-256 digests.
 */
import { hash, timingSafeEqual } from 'node:crypto';

/** Characters of the longest text that is compared padded. */
const USUAL = 80;
/** A byte for the length, and at most three bytes of UTF-8 for each character. */
const PADDED_BYTES = 1 + 3 * USUAL;

/** Used again for each comparison. */
const padded = Buffer.alloc(PADDED_BYTES);

export class SecretText {
  /** All zeros, which stands for no text, when the secret is longer. */
  readonly #padded = Buffer.alloc(PADDED_BYTES);
  readonly #digest: Buffer;

  /** @param text must not be empty for anything to equal it */
  constructor(text: string) {
    if (text.length <= USUAL) pad(text, this.#padded);
    this.#digest = digest(text);
  }

  is(given: string): boolean {
    if (given === '') return false;
    if (given.length > USUAL) return timingSafeEqual(digest(given), this.#digest);
    pad(given, padded);
    return timingSafeEqual(padded, this.#padded);
  }
}

function pad(text: string, into: Buffer): void {
  const length = into.write(text, 1);
  into[0] = length;
  into.fill(0, 1 + length);
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
