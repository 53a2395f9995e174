/**
 * Limits of a JSON text, checked while it arrives and before it is parsed: the nesting depth (RFC 8259 §9 lets a
 * parser limit it) and the number of values.
 */

export interface JsonBounds {
  /** Maximum nesting depth of lists and objects. */
  readonly depth: number;
  /** Maximum number of values, members and items on all levels. */
  readonly values: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Call with chunks of the text in order, split anywhere; for text that is not JSON the counts are arbitrary. */
export class JsonScan {
  readonly #bounds: JsonBounds;
  #depth = 0;
  #values = 1;
  #inText = false;
  /** The last chunk ended with a backslash inside a text. */
  #escaped = false;

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds;
  }

  /** The exceeded limit; undefined while there is none. */
  feed(bytes: Uint8Array): keyof JsonBounds | undefined {
    const { depth: deepest, values: most } = this.#bounds;
    let depth = this.#depth;
    let values = this.#values;
    let inText = this.#inText;
    let at = this.#escaped ? 1 : 0;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE) inText = !inText;
      else if (inText) {
        if (byte === BACKSLASH) at += 1;
      } else if (byte === COMMA) values += 1;
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        depth += 1;
        values += 1;
        if (depth > deepest) return 'depth';
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
      if (values > most) return 'values';
    }
    this.#escaped = at > bytes.length;
    this.#depth = depth;
    this.#values = values;
    this.#inText = inText;
    return undefined;
  }
}
