/**
 * What a cross-reference says of one object (ISO 32000-2, 7.5.4 and 7.5.8).
 */
export type XrefEntry =
  | { readonly kind: 'free' }
  /** Offset from the header of the PDF, which need not be the first byte of the file. */
  | { readonly kind: 'plain'; readonly offset: number; readonly generation: number }
  /** The `index`-th object in the object stream with number `stream`. */
  | { readonly kind: 'packed'; readonly stream: number; readonly index: number };

export const FREE: XrefEntry = { kind: 'free' };

/** Object numbers above this are refused: no reader makes room for them. */
export const MAX_OBJECT_NUMBER = 2 ** 31 - 4096;

/** The highest generation there is (7.5.4): tables have no room for more digits, so whoever says more names no object. */
export const MAX_GENERATION = 65_535;
