/**
 * How much work one file may cost to validate: its revisions, signatures, time-stamps and paths together. A step is
 * about a microsecond of the processor, so that what is allowed is seconds, whatever a file was crafted to ask for.
 */

/** Steps for a file of any size. */
const BASE = 4_000_000;
/** Further bytes of a file that explain one step more. */
const BYTES_PER_STEP = 4;

/** The work allowed for one file is done. Nothing is wrong with what was looked at; the rest was not looked at. */
export class OutOfWork extends Error {
  constructor() {
    super('Validating the file takes more work than is done for one file.');
  }
}

export class Work {
  readonly #whole: Work | undefined;
  #left: number;

  private constructor(steps: number, whole?: Work) {
    this.#left = steps;
    this.#whole = whole;
  }

  /** @param size of the file, bytes */
  static forFile(size: number): Work {
    return new Work(BASE + size / BYTES_PER_STEP);
  }

  /** A part of what is left, for work that must leave some for others; what it spends is spent here too. */
  part(share: number): Work {
    return new Work(this.#left * share, this);
  }

  /** @throws {OutOfWork} */
  spend(steps: number): void {
    this.#whole?.spend(steps);
    this.#left -= steps;
    if (this.#left < 0) throw new OutOfWork();
  }
}
