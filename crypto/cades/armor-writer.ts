/** PEM around a signature, written piece by piece (RFC 7468 §8). */

/** Bytes in a line of 64 characters. */
const LINE = 48;

/** Gives the text for bytes that come in pieces of any length; keeps less than a line. */
export class ArmorWriter {
  #kept: Buffer = Buffer.alloc(0);
  #begun = false;

  /** The lines that are complete now; the first call puts the label before them. */
  lines(...parts: readonly Uint8Array[]): Buffer {
    const bytes = Buffer.concat([this.#kept, ...parts]);
    const whole = bytes.length - (bytes.length % LINE);
    this.#kept = bytes.subarray(whole);
    return this.#text(bytes.subarray(0, whole), '');
  }

  /** What is left, and the closing label. */
  end(): Buffer {
    const text = this.#text(this.#kept, '-----END PKCS7-----\n');
    this.#kept = Buffer.alloc(0);
    return text;
  }

  #text(bytes: Buffer, after: string): Buffer {
    const before = this.#begun ? '' : '-----BEGIN PKCS7-----\n';
    this.#begun = true;
    const lines = bytes.toString('base64').replace(/.{1,64}/g, '$&\n');
    return Buffer.from(`${before}${lines}${after}`, 'latin1');
  }
}
