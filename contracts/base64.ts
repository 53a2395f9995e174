/**
 * Strict Base64 decoding.
 *
 * Source: RFC 4648 §4; blanks between characters are allowed, as MIME has them.
 */

/** For text whose length is a multiple of four. */
const BLOCKS = /^[A-Za-z0-9+/]*={0,2}$/;

/** Decodes the text; undefined when it is not valid Base64. */
export function base64Bytes(text: string): Buffer | undefined {
  const dense = /\s/.test(text) ? text.replace(/\s+/g, '') : text;
  return dense.length % 4 === 0 && BLOCKS.test(dense) ? Buffer.from(dense, 'base64') : undefined;
}

/** Call `feed` with text split anywhere; then `finish`. */
export class Base64Reader {
  #held = '';
  #ended = false;

  /** Returns the bytes that the text completes; undefined when it is not valid Base64. */
  feed(text: string): Buffer | undefined {
    const dense = this.#held + (/\s/.test(text) ? text.replace(/\s+/g, '') : text);
    const whole = dense.length - (dense.length % 4);
    this.#held = dense.slice(whole);
    const ready = dense.slice(0, whole);
    // No character may follow padding.
    if (this.#ended && dense !== '') return undefined;
    this.#ended = ready.endsWith('=');
    return BLOCKS.test(ready) ? Buffer.from(ready, 'base64') : undefined;
  }

  /** False when the text ended in the middle of a block. */
  finish(): boolean {
    return this.#held === '';
  }
}
