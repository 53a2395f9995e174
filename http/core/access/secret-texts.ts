/**
 * Constant-time comparison with a set of secrets. The duration depends on the given text only: texts of usual length
 * are padded to one length, which is cheap, others are compared by SHA-256 digest; always with all secrets.
 */
import { hash, timingSafeEqual } from 'node:crypto';

/** Maximum length of a text that is compared padded; ASCII only. */
const USUAL = 127;
/** Buffer reused for each comparison. */
const padded = Buffer.alloc(1 + USUAL);

export class SecretTexts {
  readonly #padded: readonly Buffer[];
  readonly #digests: readonly Buffer[];

  /** @param texts empty texts match nothing */
  constructor(texts: readonly string[]) {
    const secrets = texts.filter((text) => text !== '');
    // All zeros, which equals no text, in place of a text that is never compared padded.
    this.#padded = secrets.map((text) => (pad(text) ? Buffer.from(padded) : Buffer.alloc(1 + USUAL)));
    this.#digests = secrets.map(digest);
  }

  includes(given: string): boolean {
    if (given === '') return false;
    return pad(given) ? equalsAny(padded, this.#padded) : equalsAny(digest(given), this.#digests);
  }
}

function equalsAny(given: Buffer, secrets: readonly Buffer[]): boolean {
  let equal = false;
  for (const secret of secrets) if (timingSafeEqual(given, secret)) equal = true;
  return equal;
}

/** Writes length, text and zeros into `padded`; false for a longer text or one beyond ASCII. */
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
