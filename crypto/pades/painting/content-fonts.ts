/** Fonts of contents, each read once. */
import { asReference, type ByteSlice, entriesOf, type PdfDict, type PdfDocument } from '../../pdf/index.ts';
import { type FontReader, fontReader, hasOddWidths } from './font-text.ts';
import type { GraphicsState } from './graphics-state.ts';
import { UnmeasuredFont, UnreadableContent } from './painted-marks.ts';

export class ContentFonts {
  readonly #pdf: PdfDocument;
  /** By the number of their object. */
  readonly #readers = new Map<number, FontReader>();

  constructor(pdf: PdfDocument) {
    this.#pdf = pdf;
  }

  /** @throws UnmeasuredFont, UnreadableContent */
  of(value: ByteSlice | undefined): GraphicsState['font'] {
    const dict = this.#pdf.dict(value);
    if (dict === undefined) return undefined;
    const number = asReference(value)?.number;
    const cached = number === undefined ? undefined : this.#readers.get(number);
    if (cached === undefined) {
      assertOnce(dict);
      for (const key of ['Encoding', 'CharProcs']) assertOnce(this.#pdf.dict(dict.get(key)));
      if (hasOddWidths(this.#pdf, dict)) throw new UnmeasuredFont();
    }
    const reader = cached ?? fontReader(this.#pdf, dict);
    if (number !== undefined) this.#readers.set(number, reader);
    return { reader, number, dict };
  }
}

/** @throws UnreadableContent for a key that is written twice: programs take the first or the last one */
export function assertOnce(dict: PdfDict | undefined): void {
  if (dict !== undefined && entriesOf(dict) === undefined)
    throw new UnreadableContent('a key that is written twice');
}
