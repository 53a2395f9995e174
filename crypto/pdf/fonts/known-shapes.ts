/** Compares the outlines of a font in a file with those of the bundled fonts, whose shapes are known. */
import { CryptoError } from '../../core/types.ts';
import { TextFont } from './shaped-text.ts';

/** Offset of a table in a TrueType file, and the table; undefined when the file has none. */
function tableOf(file: Buffer, name: string): Buffer | undefined {
  if (file.length < 12) return undefined;
  for (let index = 0; index < file.readUInt16BE(4); index++) {
    const entry = 12 + 16 * index;
    if (entry + 16 > file.length) return undefined;
    if (file.toString('latin1', entry, entry + 4) !== name) continue;
    const start = file.readUInt32BE(entry + 8);
    return file.subarray(start, start + file.readUInt32BE(entry + 12));
  }
  return undefined;
}

/** Returns the outlines of a TrueType file by glyph; undefined for a glyph that is not there. */
function outlinesOf(file: Buffer): ((glyph: number) => Buffer | undefined) | undefined {
  const [head, loca, glyf] = ['head', 'loca', 'glyf'].map((name) => tableOf(file, name));
  if (head === undefined || loca === undefined || glyf === undefined || head.length < 52) return undefined;
  const isLong = head.readInt16BE(50) === 1;
  const size = isLong ? 4 : 2;
  const offset = (index: number): number =>
    isLong ? loca.readUInt32BE(4 * index) : 2 * loca.readUInt16BE(2 * index);
  return (glyph) =>
    glyph < 0 || (glyph + 2) * size > loca.length
      ? undefined
      : glyf.subarray(offset(glyph), offset(glyph + 1));
}

const MORE = 0x0020;
const MAX_DEPTH = 4;

/** True when two glyphs have the same outline; parts of composite glyphs may have other numbers. */
function isSame(
  [one, first]: readonly [(glyph: number) => Buffer | undefined, number],
  [other, second]: readonly [(glyph: number) => Buffer | undefined, number],
  depth = 0,
): boolean {
  const left = one(first);
  const right = other(second);
  if (left === undefined || right === undefined || depth > MAX_DEPTH) return false;
  if (left.length === 0 || right.length === 0) return left.length === right.length;
  if (left.length !== right.length || left.length < 10) return false;
  if (left.readInt16BE(0) >= 0 || right.readInt16BE(0) >= 0) return left.equals(right);
  for (let at = 10, flags = MORE; (flags & MORE) !== 0; ) {
    if (at + 6 > left.length) return false;
    flags = left.readUInt16BE(at);
    if (flags !== right.readUInt16BE(at)) return false;
    if (!isSame([one, left.readUInt16BE(at + 2)], [other, right.readUInt16BE(at + 2)], depth + 1))
      return false;
    const next =
      at +
      ((flags & 1) !== 0 ? 8 : 6) +
      ((flags & 8) !== 0 ? 2 : (flags & 0x40) !== 0 ? 4 : (flags & 0x80) !== 0 ? 8 : 0);
    if (!left.subarray(at + 4, next).equals(right.subarray(at + 4, next))) return false;
    at = next;
  }
  return true;
}

/**
 * True when each glyph of a TrueType file has the outline that the bundled fonts have for its text. False without the
 * fonts: nothing is known then.
 * @param value what is shown: the form of a letter depends on those beside it
 */
export function hasKnownShapes(
  file: Buffer,
  glyphs: readonly { readonly glyph: number; readonly text: string }[],
  value: string,
): boolean {
  try {
    return hasShapesOfFonts(file, glyphs, value);
  } catch (error) {
    if (error instanceof CryptoError && error.code === 'font.missing') return false;
    throw error;
  }
}

function hasShapesOfFonts(
  file: Buffer,
  glyphs: readonly { readonly glyph: number; readonly text: string }[],
  value: string,
): boolean {
  const own = outlinesOf(file);
  if (own === undefined || tableOf(file, 'head')?.readUInt16BE(18) !== UNITS) return false;
  const font = new TextFont();
  for (const line of value.split(/[\r\n]+/)) {
    font.line(line);
    for (const letter of line) font.line(letter);
  }
  const { file: known, texts } = font.subset();
  const bundled = outlinesOf(known);
  return (
    bundled !== undefined &&
    glyphs.every(({ glyph, text }) =>
      texts.some((one, index) => one === text && isSame([own, glyph], [bundled, index])),
    )
  );
}

/** Units of the bundled font per font size. */
const UNITS = 2048;
