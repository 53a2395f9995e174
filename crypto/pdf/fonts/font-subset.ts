/**
 * Builds a TrueType subset for embedding in PDF (ISO 32000-2, 9.9.1): no names, no character
 * map, no hinting. Hints are a third of the size and need tables that most of the glyphs don't use.
 */
import { type DrawnGlyph, fontFile, type OutlineFont, padded } from './font-file.ts';

/** Flags of the parts of a composite glyph (OpenType, `glyf`). */
const INSTRUCTION_WORDS = 0x0001;
const SCALE = 0x0008;
const MORE = 0x0020;
const TWO_SCALES = 0x0040;
const MATRIX = 0x0080;
const INSTRUCTIONS = 0x0100;

/** A glyph of the source font by its number, or one of another font, in units of this one. */
export type SubsetGlyph = number | DrawnGlyph;

/**
 * @param glyphs in the order of their new numbers; the first must be the glyph for missing characters
 * @returns the file, and its number of glyphs: components of composite glyphs follow the requested ones
 */
export function subsetFont(
  font: OutlineFont,
  glyphs: readonly SubsetGlyph[],
): { readonly file: Buffer; readonly count: number } {
  const all = [...glyphs];
  const outlines: Buffer[] = [];
  // The list grows during the iteration.
  for (let index = 0; index < all.length; index++) {
    const glyph = all[index] ?? 0;
    const outline =
      typeof glyph === 'number'
        ? withoutHints(font.outline(glyph), (part) => indexOf(all, part))
        : glyph.outline;
    outlines.push(outline);
  }
  const metrics = all.map((glyph) => (typeof glyph === 'number' ? font.horizontal(glyph) : metricsOf(glyph)));
  const head = Buffer.from(font.table('head'));
  head.writeUInt32BE(0, 8);
  head.writeInt16BE(1, 50);
  const hhea = Buffer.from(font.table('hhea'));
  hhea.writeUInt16BE(all.length, 34);
  const maxp = Buffer.from(font.table('maxp'));
  maxp.writeUInt16BE(all.length, 4);
  for (const outline of outlines) raiseLimits(maxp, outline);
  const hmtx = Buffer.alloc(4 * all.length);
  for (const [index, { advance, bearing }] of metrics.entries()) {
    hmtx.writeUInt16BE(advance, 4 * index);
    hmtx.writeInt16BE(bearing, 4 * index + 2);
  }
  const loca = Buffer.alloc(4 * (all.length + 1));
  let end = 0;
  const glyf = outlines.map((outline, index) => {
    const whole = padded(outline);
    end += whole.length;
    loca.writeUInt32BE(end, 4 * (index + 1));
    return whole;
  });
  const tables = { glyf: Buffer.concat(glyf), head, hhea, hmtx, loca, maxp };
  return { file: fontFile(Object.entries(tables)), count: all.length };
}

function metricsOf({ advance, outline }: DrawnGlyph): ReturnType<OutlineFont['horizontal']> {
  return { advance, bearing: outline.length === 0 ? 0 : outline.readInt16BE(2) };
}

/** Raises maxPoints and maxContours to those of a simple glyph. */
function raiseLimits(maxp: Buffer, outline: Buffer): void {
  const contours = outline.length === 0 ? 0 : outline.readInt16BE(0);
  if (contours <= 0) return;
  const points = outline.readUInt16BE(8 + 2 * contours) + 1;
  maxp.writeUInt16BE(Math.max(points, maxp.readUInt16BE(6)), 6);
  maxp.writeUInt16BE(Math.max(contours, maxp.readUInt16BE(8)), 8);
}

function indexOf(glyphs: SubsetGlyph[], glyph: number): number {
  const known = glyphs.indexOf(glyph);
  return known >= 0 ? known : glyphs.push(glyph) - 1;
}

/** @param numberOf new number of a component of a composite glyph */
function withoutHints(outline: Buffer, numberOf: (glyph: number) => number): Buffer {
  if (outline.length === 0) return outline;
  const contours = outline.readInt16BE(0);
  if (contours < 0) return renumbered(outline, numberOf);
  const lengthAt = 10 + 2 * contours;
  const hints = outline.readUInt16BE(lengthAt);
  return Buffer.concat([
    outline.subarray(0, lengthAt),
    Buffer.alloc(2),
    outline.subarray(lengthAt + 2 + hints),
  ]);
}

function renumbered(outline: Buffer, numberOf: (glyph: number) => number): Buffer {
  const copy = Buffer.from(outline);
  let at = 10;
  for (let flags = MORE; (flags & MORE) !== 0; ) {
    flags = copy.readUInt16BE(at);
    copy.writeUInt16BE(flags & ~INSTRUCTIONS, at);
    copy.writeUInt16BE(numberOf(copy.readUInt16BE(at + 2)), at + 2);
    at += (flags & INSTRUCTION_WORDS) !== 0 ? 8 : 6;
    if ((flags & SCALE) !== 0) at += 2;
    else if ((flags & TWO_SCALES) !== 0) at += 4;
    else if ((flags & MATRIX) !== 0) at += 8;
  }
  return copy.subarray(0, at);
}
