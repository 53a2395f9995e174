/** Writes a signature as PEM (RFC 7468 §8), or as Base64 without labels, chunk by chunk. */

/** Bytes in a line of 64 characters. */
const LINE = 48;
const CHARACTERS = 64;
const NEW_LINE = 0x0a;

/** Bytes encoded at once: whole lines; small, so that no large string stays in memory. */
const CHUNK_BYTES = 1000 * LINE;

export type ArmorForm = 'pem' | 'base64';

const LABELS: { readonly [form in ArmorForm]: { readonly begin: string; readonly end: string } } = {
  pem: { begin: '-----BEGIN PKCS7-----\n', end: '-----END PKCS7-----\n' },
  base64: { begin: '', end: '' },
};

/** Encodes chunks of any length; buffers less than one line. */
export class ArmorWriter {
  #pending: Buffer = Buffer.alloc(0);
  #isStarted = false;
  readonly #labels: (typeof LABELS)[ArmorForm];

  constructor(form: ArmorForm = 'pem') {
    this.#labels = LABELS[form];
  }

  /** Returns the complete lines; the first call puts the label before them. */
  lines(...parts: readonly Uint8Array[]): Buffer {
    const bytes = Buffer.concat([this.#pending, ...parts]);
    const whole = bytes.length - (bytes.length % LINE);
    this.#pending = bytes.subarray(whole);
    return this.#text(bytes.subarray(0, whole), '');
  }

  /** Returns the last line and the closing label. */
  end(): Buffer {
    const text = this.#text(this.#pending, this.#labels.end);
    this.#pending = Buffer.alloc(0);
    return text;
  }

  #text(bytes: Buffer, after: string): Buffer {
    const before = this.#isStarted ? '' : this.#labels.begin;
    this.#isStarted = true;
    const lines = Math.ceil(bytes.length / LINE);
    const text = Buffer.allocUnsafe(before.length + 4 * Math.ceil(bytes.length / 3) + lines + after.length);
    let at = text.write(before, 'latin1');
    for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
      const base64 = Buffer.from(bytes.toString('base64', from, from + CHUNK_BYTES), 'latin1');
      for (let line = 0; line < base64.length; line += CHARACTERS) {
        at += base64.copy(text, at, line, line + CHARACTERS);
        text[at++] = NEW_LINE;
      }
    }
    text.write(after, at, 'latin1');
    return text;
  }
}
