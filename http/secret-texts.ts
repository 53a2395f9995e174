/**
 * Secrets that others are compared with. How long a comparison takes depends on what was given alone: texts of usual
 * length are compared padded to one length, which is cheap, others by their SHA-256 digests; and always with all.
 */
import { hash, timingSafeEqual } from 'node:crypto';

/** Characters of the longest text that is compared padded; all of them ASCII. */
const USUAL = 127;
/** Used again for each comparison. */
const padded = Buffer.alloc(1 + USUAL);

export class SecretTexts {
  readonly #padded: readonly Buffer[];
  readonly #digests: readonly Buffer[];

  /** @param texts those that are empty equal nothing */
  constructor(texts: readonly string[]) {
    const secrets = texts.filter((text) => text !== '');
    // All zeros, which stands for no text, in the place of one that is never compared padded.
    this.#padded = secrets.map((text) => (pad(text) ? Buffer.from(padded) : Buffer.alloc(1 + USUAL)));
    this.#digests = secrets.map(digest);
  }

  include(given: string): boolean {
    if (given === '') return false;
    return pad(given) ? equalsAny(padded, this.#padded) : equalsAny(digest(given), this.#digests);
  }
}

function equalsAny(given: Buffer, secrets: readonly Buffer[]): boolean {
  let equal = false;
  for (const secret of secrets) if (timingSafeEqual(given, secret)) equal = true;
  return equal;
}

/** Length, text and zeros into `padded`; false for a text that is longer, or more than ASCII. */
function pad(text: string): boolean {
  const { length } = text;
  if (length > USUAL) return false;
  padded[0] = length;
  let all = 0;
  for (let at = 0; at < USUAL; at += 1) {
    const code = at < length ? text.charCodeAt(at) : 0;
    padded[at + 1] = code;
    all |= code;
  }
  return all < 0x80;
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
