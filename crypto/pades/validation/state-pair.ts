/**
 * Two states of a PDF, one after the other, and whether an object is the same in both.
 */
import { equalValues, PdfDamage, type Piece } from '../../pdf/index.ts';
import type { DocumentState } from './document-state.ts';
import { changedBelow } from './frozen-walk.ts';

export class StatePair {
  readonly before: DocumentState;
  readonly after: DocumentState;
  readonly #changed = new Map<number, boolean>();
  /** By the number of an object stream. */
  readonly #repacked = new Map<number, boolean>();

  constructor(before: DocumentState, after: DocumentState) {
    this.before = before;
    this.after = after;
  }

  /** True when an object that was there is not, is no longer what it was, or was not there and now is. */
  changed(number: number): boolean {
    let changed = this.#changed.get(number);
    if (changed === undefined) {
      const moved = this.before.place(number) !== this.after.place(number);
      // What is cut off at the end of the older state reads differently in the newer one, at the same place.
      const suspect =
        moved || this.before.references(number) === undefined || this.#unpacksDifferently(number);
      changed = suspect && this.#differs(number, moved);
      this.#changed.set(number, changed);
    }
    return changed;
  }

  /** True when what the stream of a packed object refers to, such as the parameters of its filter, has changed. */
  #unpacksDifferently(number: number): boolean {
    const container = this.before.container(number);
    if (container === undefined) return false;
    let changed = this.#repacked.get(container);
    if (changed === undefined) {
      // Ends the circle of a stream whose parameters lie in itself, which no reader can open.
      this.#repacked.set(container, false);
      const numbers = this.before.references(container) ?? [];
      changed = changedBelow(this, [{ numbers, place: 'an object stream' }], () => false).length > 0;
      this.#repacked.set(container, changed);
    }
    return changed;
  }

  #differs(number: number, moved: boolean): boolean {
    const before = valueIn(this.before, number);
    const after = valueIn(this.after, number);
    // What some reader would make of damage at another place can't be told.
    if (before === 'unreadable' || after === 'unreadable') return moved || before !== after;
    if (before === undefined || after === undefined)
      return before !== after && !(isEmpty(before) && isEmpty(after));
    try {
      return !equalValues(before, after) || this.#streamDiffers(number);
    } catch (error) {
      if (error instanceof PdfDamage) return true;
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

function valueIn({ pdf }: DocumentState, number: number): Piece | undefined | 'unreadable' {
  try {
    return pdf.object(number);
  } catch (error) {
    if (error instanceof PdfDamage) return 'unreadable';
    throw error;
  }
}

const isEmpty = (piece: Piece | undefined): boolean => piece === undefined || equalValues(piece, undefined);
