import { PdfSyntaxError } from './damage.ts';

/** Cross-reference entry of one object (ISO 32000-2, 7.5.4 and 7.5.8). */
export type XrefEntry =
  | { readonly kind: 'free' }
  /** Offset from the header of the PDF, which may follow other bytes. */
  | { readonly kind: 'plain'; readonly offset: number; readonly generation: number }
  /** Member `index` of the object stream with number `stream`. */
  | { readonly kind: 'packed'; readonly stream: number; readonly index: number };

export const FREE: XrefEntry = { kind: 'free' };

/** Highest object number; no reader allocates more. */
export const MAX_OBJECT_NUMBER = 2 ** 31 - 4096;

/** Highest generation (7.5.4): tables have five digits, so a higher one refers to no object. */
export const MAX_GENERATION = 65_535;

/**
 * Returns the entry that a section has for a number, when it has one or several equal ones.
 * @throws PdfSyntaxError when they contradict each other: readers would choose differently
 */
export function onlyEntry(
  number: number,
  entries: readonly (XrefEntry | undefined)[],
): XrefEntry | undefined {
  const [first, ...others] = entries;
  if (others.some((other) => keyOf(other) !== keyOf(first)))
    throw new PdfSyntaxError(`The cross-reference has contradicting entries for object ${number}.`);
  return first;
}

function keyOf(entry: XrefEntry | undefined): string {
  if (entry?.kind === 'plain') return `${entry.offset}`;
  return entry?.kind === 'packed' ? `${entry.stream}/${entry.index}` : 'free';
}
