/** A PDF as it was when it ended at an earlier offset: the document that a signature over these bytes covers. */

import type { WorkBudget } from '../../core/work-budget.ts';
import {
  asDict,
  asInteger,
  type ByteSlice,
  type ByteSource,
  openIntactPdf,
  type PdfDocument,
  PdfSyntaxError,
  referencesIn,
} from '../../pdf/index.ts';

/** Cache that all states of one file share: an object at the same offset refers to the same objects in each. */
export class SharedReferences {
  readonly #references = new Map<number | string, readonly number[]>();
  /** Charges the cost of comparing the states. */
  readonly work: WorkBudget;

  constructor(work: WorkBudget) {
    this.work = work;
  }

  /**
   * @param read returns undefined for an unreadable object, which is not cached, since a later state may have more bytes
   */
  at(place: number | string, read: () => readonly number[] | undefined): readonly number[] | undefined {
    const found = this.#references.get(place) ?? read();
    if (found !== undefined) this.#references.set(place, found);
    this.work.spend(1 + (found?.length ?? 0) / REFERENCES_PER_STEP);
    return found;
  }
}

const REFERENCES_PER_STEP = 4;

export class DocumentState {
  /** Number of bytes of the file that belong to it. */
  readonly end: number;
  readonly pdf: PdfDocument;
  readonly #source: ByteSource;
  readonly #shared: SharedReferences;
  #lastStream = -1;

  /**
   * @param whole the document of exactly these bytes, when it is already open
   * @throws PdfSyntaxError, CryptoError when these bytes alone are not an intact PDF; WorkBudgetExceeded
   */
  constructor(source: ByteSource, end: number, shared: SharedReferences, whole?: PdfDocument) {
    const own: ByteSource = {
      size: end,
      password: source.password,
      read: (offset, length) => source.read(offset, Math.max(0, Math.min(length, end - offset))),
    };
    this.end = end;
    this.#source = own;
    this.#shared = shared;
    this.pdf = whole ?? openIntactPdf(own, shared.work);
  }

  /** @throws WorkBudgetExceeded */
  spend(steps: number): void {
    this.#shared.work.spend(steps);
  }

  /**
   * Returns the position of an object, equal in two states for the same object; undefined when the number is unused.
   */
  place(number: number): number | string | undefined {
    const { xref } = this.pdf;
    const entry = xref.entry(number);
    if (entry === undefined || entry.kind === 'free') return undefined;
    if (entry.kind === 'plain') {
      const offset = entry.offset + xref.base;
      return entry.generation === 0 ? offset : `${offset}.${entry.generation}`;
    }
    const container = xref.entry(entry.stream);
    return container?.kind === 'plain' ? `${container.offset + xref.base}/${entry.index}` : `?/${number}`;
  }

  /** Returns the generation of an object in use; undefined when the number is unused. */
  generation(number: number): number | undefined {
    const entry = this.pdf.xref.entry(number);
    if (entry === undefined || entry.kind === 'free') return undefined;
    return entry.kind === 'plain' ? entry.generation : 0;
  }

  /** Returns the number of the object stream that contains an object. */
  container(number: number): number | undefined {
    const entry = this.pdf.xref.entry(number);
    return entry?.kind === 'packed' ? entry.stream : undefined;
  }

  /** True when the number refers to an object other than null. */
  has(number: number): boolean {
    return this.place(number) !== undefined;
  }

  /** Returns the numbers an object refers to; undefined when it can't be read. @throws WorkBudgetExceeded */
  references(number: number): readonly number[] | undefined {
    const place = this.place(number);
    if (place === undefined) return [];
    return this.#shared.at(place, () => {
      const value = this.#read(number);
      return value === undefined ? undefined : referencesIn(value);
    });
  }

  #read(number: number): ByteSlice | undefined {
    try {
      const plain = this.pdf.plainObject(number);
      if (plain === undefined) return this.pdf.object(number);
      if (plain.data !== undefined) this.#noteStream(plain.data, plain.value);
      return plain.number === number ? plain.value : undefined;
    } catch (error) {
      if (error instanceof PdfSyntaxError) return undefined;
      throw error;
    }
  }

  /** Records a stream that extends past this state, whose data would come from a later revision. */
  #noteStream(data: number, value: ByteSlice): void {
    const length = asInteger(this.pdf.resolve(asDict(value)?.get('Length')));
    if (length !== undefined && data + length > this.end) this.#lastStream = this.end;
    this.#lastStream = Math.max(this.#lastStream, data);
  }

  /** True when a stream read so far does not end within this state. */
  hasOpenStream(): boolean {
    if (this.#lastStream < 0) return false;
    const slice = 1 << 16;
    for (let at = this.#lastStream; at < this.end; at += slice - 16) {
      if (this.#source.read(at, slice).includes('endstream', 0, 'latin1')) return false;
    }
    return true;
  }
}
