/**
 * Finds the font of a character outside of the European scripts. The packages hold variable fonts, each cut into slices by
 * character; a slice is read at the first use of one of its characters. What they lack comes from fonts of the system, where
 * they are installed.
 */
import { existsSync, readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { Blob, Face, Font, Variation } from 'harfbuzzjs';
import {
  encodeOutline,
  fontFile,
  fontPath,
  installedPath,
  type OutlinePoint,
  outlineTables,
} from './font-file.ts';

/** Tags by their index in the table directory (WOFF 2.0, 4.1). */
const TAGS =
  'cmap head hhea hmtx maxp name OS/2 post cvt_ fpgm glyf loca prep CFF_ VORG EBDT EBLC gasp hdmx kern LTSH PCLT VDMX vhea vmtx BASE GDEF GPOS GSUB EBSC JSTF MATH CBDT CBLC COLR CPAL SVG_ sbix acnt avar bdat bloc bsln cvar fdsc feat fmtx fvar gvar hsty just lcar mort morx opbd prop trak Zapf Silf Glat Gloc Feat Sill'
    .split(' ')
    .map((tag) => tag.replace('_', ' '));
const ARBITRARY_TAG = 63;
/** Transform version of `glyf` and `loca` that means "as it is". */
const NULL_TRANSFORM = 3;
const HEADER_BYTES = 48;

interface Entry {
  readonly tag: string;
  readonly length: number;
  readonly isTransformed: boolean;
}

/** Reads numbers one after the other. */
class Reader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get at(): number {
    return this.#at;
  }

  u8(): number {
    return this.#bytes.readUInt8(this.#at++);
  }

  u16(): number {
    this.#at += 2;
    return this.#bytes.readUInt16BE(this.#at - 2);
  }

  i16(): number {
    this.#at += 2;
    return this.#bytes.readInt16BE(this.#at - 2);
  }

  u32(): number {
    this.#at += 4;
    return this.#bytes.readUInt32BE(this.#at - 4);
  }

  bytes(count: number): Buffer {
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  /** UIntBase128 (4.1). */
  base128(): number {
    for (let value = 0; ; ) {
      const byte = this.u8();
      value = value * 128 + (byte & 0x7f);
      if ((byte & 0x80) === 0) return value;
    }
  }

  /** 255UInt16 (4.2). */
  short255(): number {
    const code = this.u8();
    if (code === 253) return this.u16();
    if (code === 254) return this.u8() + 506;
    return code === 255 ? this.u8() + 253 : code;
  }
}

/**
 * Unpacks WOFF 2.0 to a TrueType font (W3C WOFF File Format 2.0). The files are part of the installation and trusted; a
 * malformed one means a broken installation.
 */
function unpackWoff2(file: Buffer): Buffer {
  const header = new Reader(file, 12);
  const tableCount = header.u16();
  header.bytes(6);
  const packedLength = header.u32();
  const directory = new Reader(file, HEADER_BYTES);
  const entries = Array.from({ length: tableCount }, (): Entry => {
    const flags = directory.u8();
    const index = flags & 0x3f;
    const tag = index === ARBITRARY_TAG ? directory.bytes(4).toString('latin1') : (TAGS[index] ?? '');
    const version = flags >> 6;
    const length = directory.base128();
    const isTransformed = tag === 'glyf' || tag === 'loca' ? version !== NULL_TRANSFORM : version !== 0;
    return { tag, length: isTransformed ? directory.base128() : length, isTransformed };
  });
  const data = new Reader(brotliDecompressSync(file.subarray(directory.at, directory.at + packedLength)));
  const tables = new Map<string, Buffer>();
  const transformed = new Set<string>();
  for (const { tag, length, isTransformed } of entries) {
    tables.set(tag, data.bytes(length));
    if (isTransformed) transformed.add(tag);
  }
  if (transformed.has('glyf')) restoreOutlines(tables, transformed.has('hmtx'));
  const sorted = [...tables].sort(([one], [other]) => (one < other ? -1 : 1));
  return fontFile(sorted);
}

/** Writes `glyf` and `loca`, and `hmtx` when it was transformed too. */
function restoreOutlines(tables: Map<string, Buffer>, withMetrics: boolean): void {
  const outlines = outlinesOf(table(tables, 'glyf'));
  const { glyf, loca } = outlineTables(outlines);
  const head = Buffer.from(table(tables, 'head'));
  head.writeInt16BE(1, 50);
  tables.set('head', head).set('glyf', glyf).set('loca', loca);
  if (withMetrics) tables.set('hmtx', restoredMetrics(tables, outlines));
}

function table(tables: ReadonlyMap<string, Buffer>, tag: string): Buffer {
  const found = tables.get(tag);
  if (found === undefined) throw new Error(`A bundled font has no table ${tag}.`);
  return found;
}

/** Undoes the transform of `hmtx` (5.4): bearings that are equal to the left edge of their outline are left out. */
function restoredMetrics(tables: ReadonlyMap<string, Buffer>, outlines: readonly Buffer[]): Buffer {
  const advances = table(tables, 'hhea').readUInt16BE(34);
  const packed = new Reader(table(tables, 'hmtx'));
  const flags = packed.u8();
  const widths = Array.from({ length: advances }, () => packed.u16());
  const leftEdge = (glyph: number): number => {
    const outline = outlines[glyph];
    return outline === undefined || outline.length === 0 ? 0 : outline.readInt16BE(2);
  };
  const hmtx = Buffer.alloc(4 * advances + 2 * (outlines.length - advances));
  for (const [glyph, width] of widths.entries()) {
    hmtx.writeUInt16BE(width, 4 * glyph);
    hmtx.writeInt16BE((flags & 1) === 0 ? packed.i16() : leftEdge(glyph), 4 * glyph + 2);
  }
  for (let glyph = advances; glyph < outlines.length; glyph++) {
    const bearing = (flags & 2) === 0 ? packed.i16() : leftEdge(glyph);
    hmtx.writeInt16BE(bearing, 4 * advances + 2 * (glyph - advances));
  }
  return hmtx;
}

/** Streams of the transformed `glyf` table (5.1). */
interface Streams {
  readonly contours: Reader;
  readonly points: Reader;
  readonly flags: Reader;
  readonly glyphs: Reader;
  readonly composites: Reader;
  readonly boxes: Reader;
  readonly instructions: Reader;
}

function outlinesOf(packed: Buffer): readonly Buffer[] {
  const header = new Reader(packed, 4);
  const count = header.u16();
  header.u16();
  const sizes = Array.from({ length: 7 }, () => header.u32());
  let at = header.at;
  const [contours, points, flags, glyphs, composites, boxes, instructions] = sizes.map((size) => {
    at += size;
    return new Reader(packed, at - size);
  }) as [Reader, Reader, Reader, Reader, Reader, Reader, Reader];
  const hasBox = boxes.bytes(4 * ((count + 31) >> 5));
  const streams = { contours, points, flags, glyphs, composites, boxes, instructions };
  return Array.from({ length: count }, (_, glyph) =>
    outlineOf(streams, (((hasBox[glyph >> 3] ?? 0) >> (7 - (glyph & 7))) & 1) === 1),
  );
}

function outlineOf(streams: Streams, hasBox: boolean): Buffer {
  const count = streams.contours.i16();
  if (count === 0) return Buffer.alloc(0);
  if (count < 0) return compositeOf(streams);
  const ends = Array.from({ length: count }, () => streams.points.short255());
  let x = 0;
  let y = 0;
  const contours = ends.map((length) =>
    Array.from({ length }, (): OutlinePoint => {
      const flag = streams.flags.u8();
      const [dx, dy] = movement(flag & 0x7f, streams.glyphs);
      x += dx;
      y += dy;
      return { x, y, onCurve: (flag & 0x80) === 0 };
    }),
  );
  // Hints are dropped: what is embedded has none.
  streams.instructions.bytes(streams.glyphs.short255());
  const outline = encodeOutline(contours);
  if (hasBox) streams.boxes.bytes(8).copy(outline, 2);
  return outline;
}

/** Decodes a pair of coordinate differences (5.2, "Triplet encoding"). */
function movement(flag: number, data: Reader): readonly [number, number] {
  const signed = (bits: number, value: number): number => ((bits & 1) === 0 ? -value : value);
  if (flag < 10) return [0, signed(flag, ((flag & 14) << 7) + data.u8())];
  if (flag < 20) return [signed(flag, (((flag - 10) & 14) << 7) + data.u8()), 0];
  if (flag < 84) {
    const low = flag - 20;
    const byte = data.u8();
    return [
      signed(flag, 1 + (low & 0x30) + (byte >> 4)),
      signed(flag >> 1, 1 + ((low & 0x0c) << 2) + (byte & 0x0f)),
    ];
  }
  if (flag < 120) {
    const low = flag - 84;
    return [
      signed(flag, 1 + (Math.floor(low / 12) << 8) + data.u8()),
      signed(flag >> 1, 1 + ((Math.floor(low % 12) >> 2) << 8) + data.u8()),
    ];
  }
  if (flag < 124) {
    const first = data.u8();
    const middle = data.u8();
    const last = data.u8();
    return [signed(flag, (first << 4) + (middle >> 4)), signed(flag >> 1, ((middle & 0x0f) << 8) + last)];
  }
  return [signed(flag, data.u16()), signed(flag >> 1, data.u16())];
}

const ARGUMENT_WORDS = 0x0001;
const SCALE = 0x0008;
const MORE = 0x0020;
const TWO_SCALES = 0x0040;
const MATRIX = 0x0080;
const INSTRUCTIONS = 0x0100;

function compositeOf({ composites, boxes, glyphs, instructions }: Streams): Buffer {
  const header = Buffer.alloc(10);
  header.writeInt16BE(-1, 0);
  boxes.bytes(8).copy(header, 2);
  const parts: Buffer[] = [header];
  let hasInstructions = false;
  for (let flags = MORE; (flags & MORE) !== 0; ) {
    flags = composites.u16();
    hasInstructions ||= (flags & INSTRUCTIONS) !== 0;
    let length = (flags & ARGUMENT_WORDS) !== 0 ? 6 : 4;
    if ((flags & SCALE) !== 0) length += 2;
    else if ((flags & TWO_SCALES) !== 0) length += 4;
    else if ((flags & MATRIX) !== 0) length += 8;
    const part = Buffer.alloc(2 + length);
    part.writeUInt16BE(flags & ~INSTRUCTIONS, 0);
    composites.bytes(length).copy(part, 2);
    parts.push(part);
  }
  if (hasInstructions) instructions.bytes(glyphs.short255());
  return Buffer.concat(parts);
}

/** Packages in the order in which they are asked; the one of Korean first, since the one of Chinese has some Hangul. */
const PACKAGES = ['arabic', 'hebrew', 'devanagari', 'thai', 'kr', 'sc'] as const;
/** Ideographs of Chinese and Japanese names are drawn from the larger package. */
const IDEOGRAPH = /\p{Script=Han}/u;
const IDEOGRAPH_PACKAGES = ['sc', 'kr'] as const;
/** Weight of the text. */
const WEIGHT = 'wght=400';
/** Fonts kept in memory; a slice has some 200 KB. */
const MAX_FACES = 32;

type Package = (typeof PACKAGES)[number];

/** Letters that only this package has. */
const SCRIPTS: { readonly [name in Package]: RegExp } = {
  arabic: /\p{Script=Arabic}/u,
  hebrew: /\p{Script=Hebrew}/u,
  devanagari: /\p{Script=Devanagari}/u,
  thai: /\p{Script=Thai}/u,
  kr: /\p{Script=Hangul}/u,
  sc: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u,
};

/** Folder into which packages of Debian install fonts with outlines. */
const SYSTEM_FONTS = '/usr/share/fonts/truetype';

/** A package of Debian, one of its fonts, and letters that it has. */
type SystemFont = readonly [name: string, file: string, letters: RegExp];

const noto = (file: string, letters: RegExp): SystemFont => [
  'fonts-noto-core',
  `noto/${file}-Regular.ttf`,
  letters,
];

const OF_SYSTEM: readonly SystemFont[] = [
  noto('NotoSansTamil', /\p{Script=Tamil}/u),
  noto('NotoSansBengali', /\p{Script=Bengali}/u),
  noto('NotoSansTelugu', /\p{Script=Telugu}/u),
  noto('NotoSansKannada', /\p{Script=Kannada}/u),
  noto('NotoSansMalayalam', /\p{Script=Malayalam}/u),
  noto('NotoSansGujarati', /\p{Script=Gujarati}/u),
  noto('NotoSansGurmukhi', /\p{Script=Gurmukhi}/u),
  noto('NotoSansOriya', /\p{Script=Oriya}/u),
  noto('NotoSansSinhala', /\p{Script=Sinhala}/u),
  noto('NotoSansKhmer', /\p{Script=Khmer}/u),
  noto('NotoSansMyanmar', /\p{Script=Myanmar}/u),
  noto('NotoSansEthiopic', /\p{Script=Ethiopic}/u),
  noto('NotoSansMongolian', /\p{Script=Mongolian}/u),
  noto('NotoSansCherokee', /\p{Script=Cherokee}/u),
  noto('NotoSansJavanese', /\p{Script=Javanese}/u),
  noto('NotoSansSyriac', /\p{Script=Syriac}/u),
  noto('NotoSerifTibetan', /\p{Script=Tibetan}/u),
  ['fonts-hanazono', 'hanazono/HanaMinB.ttf', /[\u{20000}-\u{2ebef}]/u],
  ['fonts-hanazono', 'hanazono/HanaMinA.ttf', /\p{Script=Han}/u],
  ['fonts-symbola', 'ancient-scripts/Symbola_hint.ttf', /\p{Extended_Pictographic}/u],
];

/** One font with its characters. */
export interface ScriptFace {
  readonly name: string;
  readonly font: Font;
  readonly unitsPerEm: number;
  has(codePoint: number): boolean;
}

interface Slice {
  readonly first: number;
  readonly last: number;
  /** Path in its package. */
  readonly file: string;
}

const slices = new Map<Package, readonly Slice[]>();
/** In the order of their last use. */
const faces = new Map<string, ScriptFace>();

/**
 * Returns the font that has a character; undefined when none has.
 * @throws {CryptoError} `font.missing` when the package of its script is not installed
 */
export function scriptFace(codePoint: number): ScriptFace | undefined {
  const letter = String.fromCodePoint(codePoint);
  const order = IDEOGRAPH.test(letter) ? IDEOGRAPH_PACKAGES : PACKAGES;
  for (const name of order) {
    const file = sliceOf(name, codePoint);
    const face = file === undefined ? undefined : faceOf(file);
    if (face?.has(codePoint)) return face;
  }
  const home = PACKAGES.find((name) => SCRIPTS[name].test(letter));
  // An absent package has no slices.
  if (home !== undefined && slices.get(home)?.length === 0) fontPath(directoryOf(home));
  const [, file] = systemFont(letter) ?? [];
  const face = file !== undefined && existsSync(file) ? faceOf(file) : undefined;
  return face?.has(codePoint) === true ? face : undefined;
}

/** Returns the package of Debian whose fonts have a letter, and the path of the font; undefined for one of no known script. */
export function systemFont(letter: string): readonly [name: string, path: string] | undefined {
  const [name, file] = OF_SYSTEM.find(([, , letters]) => letters.test(letter)) ?? [];
  return name === undefined ? undefined : [name, `${SYSTEM_FONTS}/${file}`];
}

function directoryOf(name: Package): string {
  return `@fontsource-variable/noto-sans-${name}/unicode.json`;
}

function sliceOf(name: Package, codePoint: number): string | undefined {
  let cached = slices.get(name);
  if (cached === undefined) {
    cached = slicesOf(name);
    slices.set(name, cached);
  }
  let low = 0;
  let high = cached.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const slice = cached[middle];
    if (slice === undefined || codePoint < slice.first) high = middle - 1;
    else if (codePoint > slice.last) low = middle + 1;
    else return slice.file;
  }
  return undefined;
}

/** Reads the ranges of characters, in ascending order. */
function slicesOf(name: Package): readonly Slice[] {
  const path = installedPath(directoryOf(name));
  if (path === undefined) return [];
  const directory = `@fontsource-variable/noto-sans-${name}`;
  const ranges = JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>;
  const found = Object.entries(ranges)
    // The other slices of a package have the letters of European scripts.
    .filter(([slice]) => slice === name || slice.startsWith('['))
    .flatMap(([slice, characters]) =>
      characters.split(',').map((range): Slice => {
        const [first = '', last = first] = range.replace('U+', '').split('-');
        const file = `${directory}/files/noto-sans-${name}-${slice.replace(/[[\]]/g, '')}-wght-normal.woff2`;
        return { first: Number.parseInt(first, 16), last: Number.parseInt(last, 16), file };
      }),
    );
  return found.sort((one, other) => one.first - other.first);
}

function faceOf(file: string): ScriptFace {
  const cached = faces.get(file) ?? readFace(file);
  faces.delete(file);
  faces.set(file, cached);
  const [oldest] = faces.keys();
  if (faces.size > MAX_FACES && oldest !== undefined) faces.delete(oldest);
  return cached;
}

function readFace(file: string): ScriptFace {
  const isOfSystem = file.startsWith(SYSTEM_FONTS);
  const bytes = Uint8Array.from(isOfSystem ? readFileSync(file) : unpackWoff2(readFileSync(fontPath(file))));
  const face = new Face(new Blob(bytes.buffer));
  const font = new Font(face);
  const weight = Variation.fromString(WEIGHT);
  if (weight !== undefined) font.setVariations([weight]);
  const characters = new Set(face.collectUnicodes());
  return { name: file, font, unitsPerEm: face.upem, has: (codePoint) => characters.has(codePoint) };
}
