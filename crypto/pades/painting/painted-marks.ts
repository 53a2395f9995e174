/**
 * Marks that a content stream paints (ISO 32000-2, 8.5, 8.9, 9.4).
 */
import type { Box } from './geometry.ts';

export interface Mark {
  readonly kind: 'text' | 'fill' | 'stroke' | 'image';
  /** Bounding box in the space of the requested content; for text, around its glyphs. */
  readonly box: Box;
  /** True for a path that consists of one rectangle or of horizontal and vertical lines. */
  readonly isRectilinear: boolean;
  /** Areas that it may hide: those of a fill, of each piece of a stroked line with its width, of each glyph. */
  readonly covers: readonly Box[];
  /** Areas along the edges of a path, between which it is of one colour; undefined for a rectangle and what is no path. */
  readonly edges: readonly Box[] | undefined;
  /** True for an opaque filled rectangle without a clipping path. */
  readonly hides: boolean;
  readonly text?: PaintedText;
  /** Box of the clipping path or of the form's /BBox, outside of which nothing is painted. */
  readonly clip: Box | undefined;
  /** Lightness from 0, black, to 1, white; undefined for a colour that cannot be told. */
  readonly lightness: number | undefined;
  /** From 0, transparent, to 1, opaque. */
  readonly alpha: number;
  /** Blend mode with the page, through all groups (11.3.5); `unknown` for paint that is not interpreted. */
  readonly blend: string;
  /**
   * True in optional content, below a clipping path that is no rectangle, and for a dashed line: it may not be shown as it is
   * written.
   */
  readonly isConditional: boolean;
  /** True for a path with curves. */
  readonly isCurved: boolean;
  /** True for an area of which only a shape is painted: by a clipping path of letters, a mask, the drawing of a pattern. */
  readonly isShaped: boolean;
}

/** One glyph of a shown text. */
export interface Glyph {
  readonly code: number;
  /** Undefined when the font does not map its code to a character. */
  readonly text: string | undefined;
  /** Extent of its ink: measured in a font of the file, else an estimate by its character. */
  readonly box: Box;
  /** True for a glyph without ink. */
  readonly isBlank: boolean;
  /** Origin, and the end of its advance. */
  readonly at: readonly [number, number];
  readonly to: readonly [number, number];
}

interface PaintedText {
  /** Undefined when the font does not map its codes to characters. */
  readonly text: string | undefined;
  readonly glyphs: readonly Glyph[];
  readonly fontNumber: number | undefined;
  readonly embedded: boolean;
  /** Reason why the characters of a font are not known from its encoding. */
  readonly fontFault: string | undefined;
  /** Name of the font. */
  readonly fontName: string;
  /** Origin of the first glyph, and the direction of the text. */
  readonly at: readonly [number, number];
  readonly direction: readonly [number, number];
  readonly size: number;
  /** True for glyphs that are not filled. */
  readonly isOutline: boolean;
  /** Width of the lines around the glyphs, in units of the page. */
  readonly outline: number;
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

/** Text in a font whose glyphs cannot be measured. */
export class UnmeasuredFont extends UnreadableContent {
  constructor() {
    super('a text in a font whose glyphs cannot be measured');
  }
}
