/**
 * Marks that a content stream paints (ISO 32000-2, 8.5, 8.9, 9.4).
 */
import type { Box } from './geometry.ts';

export interface Mark {
  readonly kind: 'text' | 'fill' | 'stroke' | 'image';
  /** Bounding box in the space of the requested content; an estimate for text. */
  readonly box: Box;
  /** True for a path that consists of one rectangle or of horizontal and vertical lines. */
  readonly isRectilinear: boolean;
  /** Areas that it may hide: those of a fill, of each stroked line with its width, of text with thick outlines. */
  readonly covers: readonly Box[];
  /** True for an opaque filled rectangle without a clipping path. */
  readonly hides: boolean;
  readonly text?: ShownText;
  /** Box of the clipping path or of the form's /BBox, outside of which nothing is painted. */
  readonly clip: Box | undefined;
}

interface ShownText {
  /** Undefined when the font does not map its codes to characters. */
  readonly text: string | undefined;
  readonly fontNumber: number | undefined;
  readonly embedded: boolean;
  /** Origin of the first glyph, and the direction of the text. */
  readonly at: readonly [number, number];
  readonly direction: readonly [number, number];
  readonly size: number;
}

export interface PaintedContent {
  readonly marks: readonly Mark[];
  /** First construct without an interpretation: shading, pattern, Type 3 glyph, invisible text; for people. */
  readonly unsupported: string | undefined;
}

/** Lines and boxes up to this thickness neither cover nor count as content; units of the page. */
export const THIN = 1.5;

/** Content that `ContentReader` can't interpret. */
export class UnreadableContent extends Error {}

/** Fraction of the font size: texts whose base lines are closer are on one line. */
const SAME_LINE = 0.3;

/** True when all texts have one direction and each begins after the previous one or on a lower line. */
export function inReadingOrder(texts: readonly ShownText[]): boolean {
  const [first] = texts;
  if (first === undefined) return true;
  const length = Math.hypot(...first.direction);
  if (!(length > 0)) return false;
  const [dx, dy] = first.direction.map((part) => part / length) as [number, number];
  let last: { readonly along: number; readonly down: number } | undefined;
  for (const { at, direction, size } of texts) {
    const turned = Math.abs(direction[0] * dy - direction[1] * dx) > 0.01 * Math.hypot(...direction);
    const backwards = direction[0] * dx + direction[1] * dy <= 0;
    if (turned || backwards) return false;
    const position = { along: at[0] * dx + at[1] * dy, down: at[0] * dy - at[1] * dx };
    if (last !== undefined) {
      const step = position.down - last.down;
      if (step < -SAME_LINE * size) return false;
      if (step <= SAME_LINE * size && position.along < last.along) return false;
    }
    last = position;
  }
  return true;
}
