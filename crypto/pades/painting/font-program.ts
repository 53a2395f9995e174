/**
 * Measures the glyphs of font programs in a PDF (ISO 32000-2, 9.9): OpenType and bare CFF (Adobe Technical Note 5176).
 * Widths and character maps beside a program may say something else than it paints, so what it paints is measured.
 */
import { Blob, Face, Font } from 'harfbuzzjs';
import { fontFile } from '../../pdf/fonts/font-file.ts';
import { type CompactFont, readCompactFont } from './compact-font.ts';
import type { Box } from './geometry.ts';

/** Extent of a glyph in font sizes from its origin; `blank` without an outline. */
export type Ink = Box | 'blank';

export interface FontProgram {
  /** By its number in the file, or in a CFF with character identifiers by such a one. */
  numbered(glyph: number): Ink | undefined;
  /** By name, as `glyphKey` writes it; undefined for a name that the program has not, or more than once. */
  named(key: string): Ink | undefined;
  /** By the encoding of the program itself, or by its character maps; undefined where these say nothing. */
  coded(code: number, character: string | undefined): Ink | undefined;
  /** Extent of all glyphs together; undefined where these are too many. */
  whole(): Ink | undefined;
}

/** Most glyphs that are measured together. */
const MAX_GLYPHS = 4096;

/** Returns undefined for a file that is no such font. */
export function openTypeProgram(file: Buffer): FontProgram | undefined {
  try {
    if (
      file.readUInt8(0) === 1 &&
      file.readUInt8(1) === 0 &&
      file.readUInt8(2) <= 4 &&
      file.readUInt32BE(0) !== 0x00010000
    ) {
      const compact = readCompactFont(file);
      return (
        compact &&
        programOf(wrapped(file, compact.count), compact.count, { unitsPerEm: EM, compact, maps: [] })
      );
    }
    const tables = tablesOf(file);
    const [head, maxp, cmap, cff] = ['head', 'maxp', 'cmap', 'CFF '].map((name) => tables.get(name));
    if (head === undefined || maxp === undefined) return undefined;
    const compact = cff && readCompactFont(cff);
    if (cff !== undefined && compact === undefined) return undefined;
    const maps = cmap === undefined ? [] : characterMaps(cmap);
    return programOf(file, maxp.readUInt16BE(4), { unitsPerEm: head.readUInt16BE(18), compact, maps });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const EM = 1000;

/** Puts a bare CFF into the file format that the library reads. */
function wrapped(file: Buffer, count: number): Buffer {
  const head = Buffer.alloc(54);
  head.writeUInt32BE(0x00010000, 0);
  head.writeUInt16BE(EM, 18);
  const maxp = Buffer.alloc(6);
  maxp.writeUInt32BE(0x00005000, 0);
  maxp.writeUInt16BE(count, 4);
  return fontFile([
    ['CFF ', file],
    ['head', head],
    ['maxp', maxp],
  ]);
}

function programOf(
  file: Buffer,
  count: number,
  {
    unitsPerEm,
    compact,
    maps,
  }: {
    readonly unitsPerEm: number;
    readonly compact: CompactFont | undefined;
    readonly maps: readonly CharacterMap[];
  },
): FontProgram | undefined {
  if (unitsPerEm === 0) return undefined;
  const font = new Font(new Face(new Blob(Uint8Array.from(file).buffer)));
  const known = new Map<number, Ink>();
  const measured = (glyph: number): Ink => {
    const ink = known.get(glyph) ?? extentOf(font, glyph, unitsPerEm);
    known.set(glyph, ink);
    return ink;
  };
  const numbered = (glyph: number | undefined): Ink | undefined =>
    glyph === undefined || glyph >= count ? undefined : measured(glyph);
  return {
    numbered: (glyph) =>
      numbered(compact?.identifiers === undefined ? glyph : compact.identifiers.get(glyph)),
    named: (key) => numbered(compact?.names.get(key)),
    coded: (code, character) => {
      if (compact !== undefined) return numbered(compact.encoding.get(code));
      const found = maps.flatMap((glyphsOf) => glyphsOf(code, character)).filter((glyph) => glyph > 0);
      return together(found.map((glyph) => numbered(glyph)));
    },
    whole: () => {
      if (count > MAX_GLYPHS) return undefined;
      return together(Array.from({ length: count }, (_, glyph) => measured(glyph)));
    },
  };
}

/** Returns the extent of several glyphs; undefined when one is not known, and for none. */
export function together(inks: readonly (Ink | undefined)[]): Ink | undefined {
  let box: Ink | undefined;
  for (const ink of inks) {
    if (ink === undefined) return undefined;
    if (box === undefined || box === 'blank') box = ink;
    else if (ink !== 'blank')
      box = {
        left: Math.min(box.left, ink.left),
        bottom: Math.min(box.bottom, ink.bottom),
        right: Math.max(box.right, ink.right),
        top: Math.max(box.top, ink.top),
      };
  }
  return box;
}

function extentOf(font: Font, glyph: number, unitsPerEm: number): Ink {
  const points: number[][] = [];
  for (const { values } of font.glyphToJson(glyph))
    for (let at = 0; at + 1 < values.length; at += 2)
      points.push([(values[at] ?? 0) / unitsPerEm, (values[at + 1] ?? 0) / unitsPerEm]);
  return inkAround(points);
}

export function inkAround(points: readonly (readonly number[])[]): Ink {
  if (points.length === 0) return 'blank';
  const box = { left: Infinity, bottom: Infinity, right: -Infinity, top: -Infinity };
  for (const [x = 0, y = 0] of points) {
    box.left = Math.min(box.left, x);
    box.right = Math.max(box.right, x);
    box.bottom = Math.min(box.bottom, y);
    box.top = Math.max(box.top, y);
  }
  return box;
}

function tablesOf(file: Buffer): ReadonlyMap<string, Buffer> {
  const tables = new Map<string, Buffer>();
  for (let index = 0; index < file.readUInt16BE(4); index++) {
    const entry = 12 + 16 * index;
    const start = file.readUInt32BE(entry + 8);
    tables.set(
      file.toString('latin1', entry, entry + 4),
      file.subarray(start, start + file.readUInt32BE(entry + 12)),
    );
  }
  return tables;
}

/** Returns the glyphs that a code or a character may have; 0 for none. */
type CharacterMap = (code: number, character: string | undefined) => readonly number[];

const MAC = new TextDecoder('macintosh').decode(Uint8Array.from({ length: 256 }, (_, code) => code));

/** Bases that the codes of symbol fonts may have (9.6.5.4). */
const SYMBOL_BASES = [0, 0xf000, 0xf100, 0xf200];

/** Returns the maps that programs use for fonts in a PDF: Unicode, symbols, Macintosh (9.6.5.4). */
function characterMaps(cmap: Buffer): readonly CharacterMap[] {
  const maps: CharacterMap[] = [];
  for (let index = 0; index < cmap.readUInt16BE(2); index++) {
    const entry = 4 + 8 * index;
    const kind = `${cmap.readUInt16BE(entry)} ${cmap.readUInt16BE(entry + 2)}`;
    const table = cmap.subarray(cmap.readUInt32BE(entry + 4));
    if (kind === '3 1') maps.push((code, character) => [glyphAt(table, character?.codePointAt(0) ?? code)]);
    else if (kind === '3 0') maps.push((code) => SYMBOL_BASES.map((base) => glyphAt(table, base + code)));
    else if (kind === '1 0')
      maps.push((code, character = '') =>
        [code, MAC.indexOf(character || '\u0000')].map((one) => (one < 0 ? 0 : glyphAt(table, one))),
      );
  }
  return maps;
}

/** Looks a code up in a subtable of the formats 0, 4, 6 and 12 (OpenType, `cmap`). */
function glyphAt(table: Buffer, code: number): number {
  switch (table.readUInt16BE(0)) {
    case 0:
      return code < 256 ? table.readUInt8(6 + code) : 0;
    case 4: {
      const size = table.readUInt16BE(6);
      for (let at = 0; at < size; at += 2) {
        if (table.readUInt16BE(14 + at) < code) continue;
        const start = table.readUInt16BE(16 + size + at);
        const delta = table.readUInt16BE(16 + 2 * size + at);
        const place = 16 + 3 * size + at;
        const offset = table.readUInt16BE(place);
        if (start > code) return 0;
        if (offset === 0) return (code + delta) & 0xffff;
        const glyph = table.readUInt16BE(place + offset + 2 * (code - start));
        return glyph === 0 ? 0 : (glyph + delta) & 0xffff;
      }
      return 0;
    }
    case 6: {
      const index = code - table.readUInt16BE(6);
      return index >= 0 && index < table.readUInt16BE(8) ? table.readUInt16BE(10 + 2 * index) : 0;
    }
    case 12:
      for (let at = 16; at < 16 + 12 * table.readUInt32BE(12); at += 12)
        if (code >= table.readUInt32BE(at) && code <= table.readUInt32BE(at + 4))
          return table.readUInt32BE(at + 8) + code - table.readUInt32BE(at);
      return 0;
    default:
      return 0;
  }
}
