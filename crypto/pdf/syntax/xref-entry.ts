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
