/**
 * Reads the bundled font: TrueType outlines in WOFF 1.0 (OpenType 1.9, `cmap` format 12, `glyf`).
 * The font is part of the installation and trusted; a malformed one means a broken installation.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { inflateSync } from 'node:zlib';
import { CryptoError } from '../../core/types.ts';

/** Path of the font in its package. */
const FONT = '@fontsource/dejavu-sans/files/dejavu-sans-latin-400-normal.woff';

/** Font name in PDF; an embedded subset has a prefix. */
export const FONT_NAME = 'DejaVuSans';

/** Metrics of the whole font, in thousandths of its size. */
interface FontMetrics {
  readonly ascent: number;
  /** Below zero. */
  readonly descent: number;
  readonly box: readonly [left: number, bottom: number, right: number, top: number];
}

interface PackedTable {
  readonly bytes: Buffer;
  /** Unpacked. */
  readonly length: number;
}

interface Range {
  readonly first: number;
  readonly last: number;
  readonly glyph: number;
}

export class OutlineFont {
  readonly metrics: FontMetrics;
  readonly #packed: ReadonlyMap<string, PackedTable>;
  /** Decoded on demand: half of the tables are never used. */
  readonly #tables = new Map<string, Buffer>();
  /** Units of its coordinates per font size. */
  readonly unitsPerEm: number;
  readonly #longOffsets: boolean;
  readonly #advances: number;
  readonly #ranges: readonly Range[];

  constructor(woff: Buffer) {
    this.#packed = packedTables(woff);
    const head = this.table('head');
    const hhea = this.table('hhea');
    this.unitsPerEm = head.readUInt16BE(18);
    this.#longOffsets = head.readInt16BE(50) === 1;
    this.#advances = hhea.readUInt16BE(34);
    const scaled = (table: Buffer, at: number): number => (1000 * table.readInt16BE(at)) / this.unitsPerEm;
    this.metrics = {
      ascent: scaled(hhea, 4),
      descent: scaled(hhea, 6),
      box: [scaled(head, 36), scaled(head, 38), scaled(head, 40), scaled(head, 42)],
    };
    this.#ranges = characterRanges(this.table('cmap'));
  }

  table(name: string): Buffer {
    const cached = this.#tables.get(name);
    if (cached !== undefined) return cached;
    const packed = this.#packed.get(name);
    if (packed === undefined) throw new Error(`The bundled font has no table ${name}.`);
    const table = packed.bytes.length < packed.length ? inflateSync(packed.bytes) : packed.bytes;
    this.#tables.set(name, table);
    return table;
  }

  /** Returns the glyph of a character; undefined when the font has none. */
  glyph(codePoint: number): number | undefined {
    let low = 0;
    let high = this.#ranges.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const range = this.#ranges[middle];
      if (range === undefined || codePoint < range.first) high = middle - 1;
      else if (codePoint > range.last) low = middle + 1;
      else return range.glyph + codePoint - range.first;
    }
    return undefined;
  }

  /** Returns advance width and left side bearing, in font units. */
  horizontal(glyph: number): { readonly advance: number; readonly bearing: number } {
    const table = this.table('hmtx');
    const last = this.#advances - 1;
    return {
      advance: table.readUInt16BE(4 * Math.min(glyph, last)),
      bearing: table.readInt16BE(glyph <= last ? 4 * glyph + 2 : 4 * this.#advances + 2 * (glyph - last - 1)),
    };
  }

  /** Returns the advance width in thousandths of the font size. */
  width(glyph: number): number {
    return (1000 * this.horizontal(glyph).advance) / this.unitsPerEm;
  }

  /** Returns the outline of a glyph; empty for one without contours. */
  outline(glyph: number): Buffer {
    const offsets = this.table('loca');
    const offset = (index: number): number =>
      this.#longOffsets ? offsets.readUInt32BE(4 * index) : 2 * offsets.readUInt16BE(2 * index);
    return this.table('glyf').subarray(offset(glyph), offset(glyph + 1));
  }
}

let bundled: OutlineFont | undefined;

/** Returns the bundled font; reads it at the first use. @throws {CryptoError} `font.missing` */
export function bundledFont(): OutlineFont {
  bundled ??= new OutlineFont(readFileSync(fontPath(FONT)));
  return bundled;
}

const require = createRequire(import.meta.url);

/** Returns the path of a file in a font package. @throws {CryptoError} `font.missing` when it is not installed */
export function fontPath(file: string): string {
  const path = installedPath(file);
  if (path !== undefined) return path;
  const name = file.split('/', 2).join('/');
  throw new CryptoError(
    'font.missing',
    `Drawing this text takes the package ${name}, and it is not installed. Install it with: npm install ${name}`,
  );
}

/** Path of a file in a package; undefined when the package is not installed. */
export function installedPath(file: string): string | undefined {
  try {
    return require.resolve(file);
  } catch {
    return undefined;
  }
}

const WOFF_HEADER = 44;
const WOFF_ENTRY = 20;

function packedTables(woff: Buffer): ReadonlyMap<string, PackedTable> {
  const tables = new Map<string, PackedTable>();
  for (let index = 0; index < woff.readUInt16BE(12); index++) {
    const entry = WOFF_HEADER + WOFF_ENTRY * index;
    const start = woff.readUInt32BE(entry + 4);
    const bytes = woff.subarray(start, start + woff.readUInt32BE(entry + 8));
    tables.set(woff.toString('latin1', entry, entry + 4), { bytes, length: woff.readUInt32BE(entry + 12) });
  }
  return tables;
}

/** Reads the groups of the Unicode cmap in ascending order. */
function characterRanges(cmap: Buffer): readonly Range[] {
  for (let index = 0; index < cmap.readUInt16BE(2); index++) {
    const at = cmap.readUInt32BE(8 + 8 * index);
    if (cmap.readUInt16BE(at) !== 12) continue;
    return Array.from({ length: cmap.readUInt32BE(at + 12) }, (_, group) => {
      const from = at + 16 + 12 * group;
      return {
        first: cmap.readUInt32BE(from),
        last: cmap.readUInt32BE(from + 4),
        glyph: cmap.readUInt32BE(from + 8),
      };
    });
  }
  throw new Error('The bundled font maps no characters beyond the basic plane.');
}

/** Fills up to a multiple of four bytes, as tables and outlines are stored. */
function padded(bytes: Buffer): Buffer {
  return bytes.length % 4 === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(4 - (bytes.length % 4))]);
}

/** The tables with the outlines of all glyphs; `loca` has four bytes for each. */
export function outlineTables(outlines: readonly Buffer[]): { readonly glyf: Buffer; readonly loca: Buffer } {
  const loca = Buffer.alloc(4 * (outlines.length + 1));
  let end = 0;
  const glyf = outlines.map((outline, index) => {
    const whole = padded(outline);
    end += whole.length;
    loca.writeUInt32BE(end, 4 * (index + 1));
    return whole;
  });
  return { glyf: Buffer.concat(glyf), loca };
}

const ENTRY = 16;
/** Checksum of a whole font file, its checkSumAdjustment included. */
const WHOLE_SUM = 0xb1b0afba;

/** Writes a font file. @param tables in the order of their names */
export function fontFile(tables: readonly (readonly [name: string, bytes: Buffer])[]): Buffer {
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
    const body = padded(bytes);
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

/** In font units. */
export interface OutlinePoint {
  readonly x: number;
  readonly y: number;
  /** False: control point of a quadratic curve. */
  readonly onCurve: boolean;
}

/** A glyph with metrics in units of the font that it becomes part of. */
export interface DrawnGlyph {
  readonly outline: Buffer;
  readonly advance: number;
}

export type Contour = readonly OutlinePoint[];

const ON_CURVE = 0x01;

/** Encodes a simple glyph; empty without contours. */
export function encodeOutline(contours: readonly Contour[]): Buffer {
  const filled = contours.filter(({ length }) => length > 0);
  if (filled.length === 0) return Buffer.alloc(0);
  const points = filled.flat().map(({ x, y, onCurve }) => ({ x: Math.round(x), y: Math.round(y), onCurve }));
  const header = Buffer.alloc(10 + 2 * filled.length + 2);
  header.writeInt16BE(filled.length, 0);
  let left = Infinity;
  let bottom = Infinity;
  let right = -Infinity;
  let top = -Infinity;
  for (const { x, y } of points) {
    left = Math.min(left, x);
    bottom = Math.min(bottom, y);
    right = Math.max(right, x);
    top = Math.max(top, y);
  }
  for (const [index, edge] of [left, bottom, right, top].entries()) header.writeInt16BE(edge, 2 + 2 * index);
  let end = -1;
  for (const [index, { length }] of filled.entries()) {
    end += length;
    header.writeUInt16BE(end, 10 + 2 * index);
  }
  const flags = Buffer.from(points.map(({ onCurve }) => (onCurve ? ON_CURVE : 0)));
  return Buffer.concat([header, flags, differences(points, 'x'), differences(points, 'y')]);
}

/** Each coordinate as its distance from the one before, two bytes each. */
function differences(points: readonly OutlinePoint[], axis: 'x' | 'y'): Buffer {
  const bytes = Buffer.alloc(2 * points.length);
  let before = 0;
  for (const [index, point] of points.entries()) {
    bytes.writeInt16BE(point[axis] - before, 2 * index);
    before = point[axis];
  }
  return bytes;
}
