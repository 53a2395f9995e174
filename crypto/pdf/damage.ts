/**
 * Signals inside the PDF reader. They never leave `crypto/pdf`: a reader that cannot go on rebuilds its
 * cross-reference once, and what still fails then becomes a CryptoError `pdf.malformed`.
 */

import type { Work } from '../work.ts';

/** The structure contradicts itself at a known place; the message is a sentence for people. */
export class PdfDamage extends Error {}

/** The bytes at hand ended inside a value; a larger view may hold the rest. */
export class OutOfBytes extends PdfDamage {}

/**
 * Counts the bytes a reading may look at in all, so that no crafted file costs more than a bounded multiple
 * of its size.
 */
export class Budget {
  readonly #work: Work | undefined;
  #left: number;

  /**
   * @param size bytes of the file
   * @param work shared with whatever else is done with the file, when that is counted
   */
  constructor(size: number, work?: Work) {
    this.#left = 4 * size + (64 << 20);
    this.#work = work;
  }

  /** @throws PdfDamage, OutOfWork */
  spend(bytes: number): void {
    this.#work?.spend(1 + bytes / BYTES_PER_STEP);
    this.#left -= bytes;
    if (this.#left < 0) throw new PdfDamage('Reading the structure takes more work than its size explains.');
  }

  /** For looking through that many cross-reference sections. @throws OutOfWork */
  passOver(sections: number): void {
    this.#work?.spend(sections / SECTIONS_PER_STEP);
  }
}

/** Bytes read, or unpacked, in one step. */
const BYTES_PER_STEP = 128;
const SECTIONS_PER_STEP = 100;
