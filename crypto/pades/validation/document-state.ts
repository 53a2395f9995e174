/**
 * A PDF as it was when its first bytes were all there was: what a signature over them has seen.
 */
import {
  asDict,
  asInteger,
  type ByteSource,
  openIntactPdf,
  PdfDamage,
  type PdfDocument,
  type Piece,
  referencesIn,
} from '../../pdf/index.ts';
import type { Work } from '../../work.ts';

/** What all states of one file share: an object at the same place refers to the same objects in each. */
export class SharedReferences {
  readonly #known = new Map<number | string, readonly number[]>();
  /** Counts everything that comparing the states costs. */
  readonly work: Work;

  constructor(work: Work) {
    this.work = work;
  }

  /** @param read undefined when nothing can be read there: not remembered, since a later state may hold more */
  at(place: number | string, read: () => readonly number[] | undefined): readonly number[] | undefined {
    const found = this.#known.get(place) ?? read();
    if (found !== undefined) this.#known.set(place, found);
    this.work.spend(1 + (found?.length ?? 0) / REFERENCES_PER_STEP);
    return found;
  }
}

const REFERENCES_PER_STEP = 4;

export class DocumentState {
  /** Bytes of the file that belong to it. */
  readonly end: number;
  readonly pdf: PdfDocument;
  readonly #source: ByteSource;
  readonly #shared: SharedReferences;
  #lastStream = -1;

  /**
   * @param whole the document of these very bytes, when it is open already
   * @throws PdfDamage, CryptoError when these bytes alone are no intact PDF; OutOfWork
   */
  constructor(source: ByteSource, end: number, shared: SharedReferences, whole?: PdfDocument) {
    const own: ByteSource = {
      size: end,
      read: (offset, length) => source.read(offset, Math.max(0, Math.min(length, end - offset))),
    };
    this.end = end;
    this.#source = own;
    this.#shared = shared;
    this.pdf = whole ?? openIntactPdf(own, shared.work);
  }

  /** @throws OutOfWork when validating takes more work than any honest file needs */
  spend(steps: number): void {
    this.#shared.work.spend(steps);
  }

  /** Where an object lies; equal in two states when it is the same object. Undefined when it is not in use. */
  place(number: number): number | string | undefined {
    const { xref } = this.pdf;
    const entry = xref.entry(number);
    if (entry === undefined || entry.kind === 'free') return undefined;
    if (entry.kind === 'plain') return entry.offset + xref.base;
    const container = xref.entry(entry.stream);
    return container?.kind === 'plain' ? `${container.offset + xref.base}/${entry.index}` : `?/${number}`;
  }

  /** The number of the object stream an object is packed in. */
  container(number: number): number | undefined {
    const entry = this.pdf.xref.entry(number);
    return entry?.kind === 'packed' ? entry.stream : undefined;
  }

  /** True when the number leads to an object other than null. */
  has(number: number): boolean {
    return this.place(number) !== undefined;
  }

  /** The numbers an object refers to; undefined when it can't be read. @throws OutOfWork */
  references(number: number): readonly number[] | undefined {
    const place = this.place(number);
    if (place === undefined) return [];
    return this.#shared.at(place, () => {
      const value = this.#look(number);
      return value === undefined ? undefined : referencesIn(value);
    });
  }

  #look(number: number): Piece | undefined {
    try {
      const plain = this.pdf.plainObject(number);
      if (plain === undefined) return this.pdf.object(number);
      if (plain.data !== undefined) this.#noteStream(plain.data, plain.value);
      return plain.number === number ? plain.value : undefined;
    } catch (error) {
      if (error instanceof PdfDamage) return undefined;
      throw error;
    }
  }

  /** A stream that claims bytes which are not there yet takes them from a later revision. */
  #noteStream(data: number, value: Piece): void {
    const length = asInteger(this.pdf.resolve(asDict(value)?.get('Length')));
    if (length !== undefined && data + length > this.end) this.#lastStream = this.end;
    this.#lastStream = Math.max(this.#lastStream, data);
  }

  /** True when some stream looked at so far does not end within this state. */
  hasOpenStream(): boolean {
    if (this.#lastStream < 0) return false;
    const piece = 1 << 16;
    for (let at = this.#lastStream; at < this.end; at += piece - 16) {
      if (this.#source.read(at, piece).includes('endstream', 0, 'latin1')) return false;
    }
    return true;
  }
}
