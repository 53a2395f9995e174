/** Compares objects in two successive states of a PDF. */
import { type ByteSlice, equalValues, PdfSyntaxError } from '../../pdf/index.ts';
import type { DocumentState } from './document-state.ts';
import { changedObjectsBelow } from './locked-objects.ts';

export class PermittedChanges {
  readonly before: DocumentState;
  readonly after: DocumentState;
  readonly #changed = new Map<number, boolean>();
  /** Cached results by the number of an object stream. */
  readonly #repacked = new Map<number, boolean>();

  constructor(before: DocumentState, after: DocumentState) {
    this.before = before;
    this.after = after;
  }

  /** True when an object was removed, replaced, changed or added. */
  changed(number: number): boolean {
    let changed = this.#changed.get(number);
    if (changed === undefined) {
      const moved = this.before.place(number) !== this.after.place(number);
      // A truncated object at the end of the older state reads differently in the newer one, at the same offset.
      const suspect =
        moved || this.before.references(number) === undefined || this.#unpacksDifferently(number);
      changed = suspect && this.#differs(number, moved);
      this.#changed.set(number, changed);
    }
    return changed;
  }

  /** True when an object that the object stream depends on, such as its decode parameters, has changed. */
  #unpacksDifferently(number: number): boolean {
    const container = this.before.container(number);
    if (container === undefined) return false;
    let changed = this.#repacked.get(container);
    if (changed === undefined) {
      // Ends the cycle of a stream whose parameters are inside itself, which no reader can open.
      this.#repacked.set(container, false);
      const numbers = this.before.references(container) ?? [];
      changed = changedObjectsBelow(this, [{ numbers, place: 'an object stream' }], () => false).length > 0;
      this.#repacked.set(container, changed);
    }
    return changed;
  }

  #differs(number: number, moved: boolean): boolean {
    const before = valueIn(this.before, number);
    const after = valueIn(this.after, number);
    // Readers may repair a damaged object differently at another offset.
    if (before === 'unreadable' || after === 'unreadable') return moved || before !== after;
    if (before === undefined || after === undefined)
      return before !== after && !(isEmpty(before) && isEmpty(after));
    try {
      return !equalValues(before, after) || this.#streamDiffers(number);
    } catch (error) {
      if (error instanceof PdfSyntaxError) return true;
      throw error;
    }
  }

  #streamDiffers(number: number): boolean {
    const [before, after] = [this.before, this.after].map(
      ({ pdf }) => pdf.plainObject(number)?.data !== undefined,
    );
    if (before !== after) return true;
    if (before !== true) return false;
    const packed = this.before.pdf.packedStream(number);
    return packed === undefined || this.after.pdf.packedStream(number)?.equals(packed) !== true;
  }
}

function valueIn({ pdf }: DocumentState, number: number): ByteSlice | undefined | 'unreadable' {
  try {
    return pdf.object(number);
  } catch (error) {
    if (error instanceof PdfSyntaxError) return 'unreadable';
    throw error;
  }
}

const isEmpty = (slice: ByteSlice | undefined): boolean =>
  slice === undefined || equalValues(slice, undefined);
