/** Compares objects in two successive states of a PDF. */
import { type ByteSlice, equalValues, PdfSyntaxError } from '../../pdf/index.ts';
import type { DocumentState } from './document-state.ts';

export class ObjectComparison {
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
    // References with another generation lead nowhere in some programs (7.3.10).
    const old = this.before.generation(number);
    const now = this.after.generation(number);
    if (old !== undefined && now !== undefined && old !== now) return true;
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

/** Two states with the operations for the traversal. */
interface Comparison {
  readonly before: Pick<DocumentState, 'has' | 'references'>;
  changed(number: number): boolean;
}

/** A starting point: object numbers, and their description for people. */
export interface Root {
  readonly numbers: readonly number[];
  readonly place: string;
}

interface Finding {
  readonly number: number;
  /** Description of the root from which the object was first reached. */
  readonly place: string;
  /** True when the object did not exist before: the older state has a dangling reference to it. */
  readonly added: boolean;
}

/** Most changes listed. */
const MAX_FINDINGS = 20;

/**
 * Returns every changed object that is reachable from the roots in the older state; `exempt` ones are neither
 * compared nor
 * followed. Missing objects count too, since defining them later would change the objects that refer to them.
 * @param seen numbers to skip; visited ones are added
 * @throws WorkBudgetExceeded
 */
export function changedObjectsBelow(
  pair: Comparison,
  roots: Iterable<Root>,
  exempt: (number: number) => boolean,
  seen: Set<number> = new Set(),
): readonly Finding[] {
  const found: Finding[] = [];
  for (const { numbers, place } of roots) {
    const open = [...numbers];
    for (let number = open.pop(); number !== undefined; number = open.pop()) {
      if (seen.has(number) || exempt(number)) continue;
      seen.add(number);
      if (pair.changed(number)) {
        if (found.length < MAX_FINDINGS) found.push({ number, place, added: !pair.before.has(number) });
      } else {
        for (const next of pair.before.references(number) ?? []) if (!seen.has(next)) open.push(next);
      }
    }
  }
  return found;
}
