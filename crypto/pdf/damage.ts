/**
 * Signals inside the PDF reader. They never leave `crypto/pdf`: a reader that cannot go on rebuilds its
 * cross-reference once, and what still fails then becomes a CryptoError `pdf.malformed`.
 */

/** The structure contradicts itself at a known place; the message is a sentence for people. */
export class PdfDamage extends Error {}

/** The bytes at hand ended inside a value; a larger view may hold the rest. */
export class OutOfBytes extends PdfDamage {}

/**
 * Counts the bytes a reading may look at in all, so that no crafted file costs more than a bounded multiple
 * of its size.
 */
export class Budget {
  #left: number;
  /** @param size bytes of the file */
  constructor(size: number) {
    this.#left = 4 * size + (64 << 20);
  }
  spend(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw new PdfDamage('Reading the structure takes more work than its size explains.');
  }
}
