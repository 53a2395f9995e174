/**
 * A TrueType font with a few glyphs of another one, as PDF embeds it (ISO 32000-2, 9.9.1): no names, no character
 * map, no hinting. Hints are a third of the size and need tables that most of the glyphs don't use.
 */
import type { OutlineFont } from './font-file.ts';

/** Flags of the parts of a composite glyph (OpenType, `glyf`). */
const WORDS = 0x0001;
const SCALE = 0x0008;
const MORE = 0x0020;
const TWO_SCALES = 0x0040;
const MATRIX = 0x0080;
const INSTRUCTIONS = 0x0100;

/**
 * @param glyphs of the source; each is known by its index here afterwards, and the first has to be that of a missing
 *   character
 * @returns the file, and how many glyphs it has: parts of composite ones follow behind those asked for
 */
export function subsetFont(
  font: OutlineFont,
  glyphs: readonly number[],
): { readonly file: Buffer; readonly count: number } {
  const all = [...glyphs];
  const outlines: Buffer[] = [];
  // The list grows while it is walked.
  for (let index = 0; index < all.length; index++) {
    outlines.push(withoutHints(font.outline(all[index] ?? 0), (part) => indexOf(all, part)));
  }
  const metrics = all.map((glyph) => font.horizontal(glyph));
  const head = Buffer.from(font.table('head'));
  head.writeUInt32BE(0, 8);
  head.writeInt16BE(1, 50);
  const hhea = Buffer.from(font.table('hhea'));
  hhea.writeUInt16BE(all.length, 34);
  const maxp = Buffer.from(font.table('maxp'));
  maxp.writeUInt16BE(all.length, 4);
  const hmtx = Buffer.alloc(4 * all.length);
  for (const [index, { advance, bearing }] of metrics.entries()) {
    hmtx.writeUInt16BE(advance, 4 * index);
    hmtx.writeInt16BE(bearing, 4 * index + 2);
  }
  const loca = Buffer.alloc(4 * (all.length + 1));
  let end = 0;
  const padded = outlines.map((outline, index) => {
    const whole = pad(outline);
    end += whole.length;
    loca.writeUInt32BE(end, 4 * (index + 1));
    return whole;
  });
  const tables = { glyf: Buffer.concat(padded), head, hhea, hmtx, loca, maxp };
  return { file: fontFile(Object.entries(tables)), count: all.length };
}

function indexOf(glyphs: number[], glyph: number): number {
  const known = glyphs.indexOf(glyph);
  return known >= 0 ? known : glyphs.push(glyph) - 1;
}

/** @param numberOf new number of a part of a composite glyph */
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
    at += (flags & WORDS) !== 0 ? 8 : 6;
    if ((flags & SCALE) !== 0) at += 2;
    else if ((flags & TWO_SCALES) !== 0) at += 4;
    else if ((flags & MATRIX) !== 0) at += 8;
  }
  return copy.subarray(0, at);
}

function pad(bytes: Buffer): Buffer {
  return bytes.length % 4 === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(4 - (bytes.length % 4))]);
}

const ENTRY = 16;
/** The sum of all words of a font file, its own adjustment included. */
const WHOLE_SUM = 0xb1b0afba;

/** @param tables in the order of their names */
function fontFile(tables: readonly (readonly [name: string, bytes: Buffer])[]): Buffer {
  const power = Math.floor(Math.log2(tables.length));
  const directory = Buffer.alloc(12 + ENTRY * tables.length);
  directory.writeUInt32BE(0x00010000, 0);
  directory.writeUInt16BE(tables.length, 4);
  directory.writeUInt16BE(ENTRY * 2 ** power, 6);
  directory.writeUInt16BE(power, 8);
  directory.writeUInt16BE(ENTRY * (tables.length - 2 ** power), 10);
  let offset = directory.length;
  let headAt = 0;
  const bodies = tables.map(([name, bytes], index) => {
    const entry = 12 + ENTRY * index;
    const body = pad(bytes);
    directory.write(name, entry, 'latin1');
    directory.writeUInt32BE(sumOf(body), entry + 4);
    directory.writeUInt32BE(offset, entry + 8);
    directory.writeUInt32BE(bytes.length, entry + 12);
    if (name === 'head') headAt = offset;
    offset += body.length;
    return body;
  });
  const file = Buffer.concat([directory, ...bodies]);
  file.writeUInt32BE((WHOLE_SUM - sumOf(file)) >>> 0, headAt + 8);
  return file;
}

function sumOf(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 4) sum = (sum + bytes.readUInt32BE(at)) >>> 0;
  return sum;
}
