/**
 * Lays out lines of text in the bundled font, and embeds the font: a subset addressed by glyph number, with widths and
 * a ToUnicode map (ISO 32000-2, 9.7.4, 9.8 and 9.10.3).
 *
 * Builds a TrueType subset for embedding in PDF (ISO 32000-2, 9.9.1): no names, no character map, no hinting. Hints are
 * a third of the size and need tables that most of the glyphs don't use.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Reference } from '../syntax/values.ts';
import { numberText, type ObjectSink, packedStream, referenceText } from '../update/incremental-update.ts';
import {
  bundledFont,
  type DrawnGlyph,
  FONT_NAME,
  fontFile,
  type OutlineFont,
  outlineTables,
} from './font-file.ts';
import { systemFont } from './script-fonts.ts';
import { type Cluster, isDrawable, type Letter, visualGlyphs } from './shaping.ts';

/** Flags of the parts of a composite glyph (OpenType, `glyf`). */
const INSTRUCTION_WORDS = 0x0001;
const SCALE = 0x0008;
const MORE = 0x0020;
const TWO_SCALES = 0x0040;
const MATRIX = 0x0080;
const INSTRUCTIONS = 0x0100;

/** A glyph of the source font by its number, or one of another font, in units of this one. */
type SubsetGlyph = number | DrawnGlyph;

/**
 * @param glyphs in the order of their new numbers; the first must be the glyph for missing characters
 * @returns the file, and its number of glyphs: components of composite glyphs follow the requested ones
 */
function subsetFont(
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
  const tables = { ...outlineTables(outlines), head, hhea, hmtx, maxp };
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

/** One line: four hexadecimal digits for each glyph, and its width in thousandths of the font size. */
export interface GlyphLine {
  readonly glyphs: string;
  readonly width: number;
}

export interface ShapedText {
  readonly lines: readonly GlyphLine[];
  /** Ascent and descent of any line, in thousandths of the font size. */
  readonly ascent: number;
  /** Below zero. */
  readonly descent: number;
  /** Embeds the font in the update and returns the text of the reference to it. */
  embed(draft: ObjectSink, options: EmbedOptions): string;
}

interface EmbedOptions {
  /** Adds a /CIDSet, which PDF/A-1 requires (ISO 19005-1, 6.3.5) and later parts do not. */
  readonly listGlyphs: boolean;
}

/** Replacement for a missing character: a white square. PDF/A forbids the glyph .notdef. */
const MISSING = 0x25a1;

/** Invisible characters without joiners, which change the letters beside them. */
const INVISIBLE = /(?![\u200c\u200d])\p{Default_Ignorable_Code_Point}/gu;

/** Replaces control characters, tabs and line ends with a space; removes invisible format characters. */
function visible(line: string): string {
  return line
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
    .replace(/\p{Cs}/gu, String.fromCodePoint(MISSING))
    .replace(INVISIBLE, '');
}

/** True when the fonts have every letter. @throws {CryptoError} `font.missing` */
export function isShowable(text: string): boolean {
  return [...visible(text)].every(isDrawable);
}

/** Most letters that are named for one package of fonts. */
const MAX_NAMED = 10;

/**
 * Returns the letters that no font has, as `த (U+0BA4)`, by the package of Debian whose fonts have them; undefined for none.
 * @throws {CryptoError} `font.missing`
 */
export function lettersWithoutGlyph(
  texts: readonly string[],
): ReadonlyMap<string | undefined, ReadonlySet<string>> {
  const found = new Map<string | undefined, Set<string>>();
  for (const letter of new Set(texts.flatMap((text) => [...visible(text)]))) {
    if (isDrawable(letter)) continue;
    const [fonts, path = ''] = systemFont(letter) ?? [];
    const wanted = existsSync(path) ? undefined : fonts;
    const letters = found.get(wanted) ?? new Set();
    found.set(wanted, letters);
    const code = (letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    if (letters.size < MAX_NAMED) letters.add(`${letter} (U+${code})`);
  }
  return found;
}

/** A glyph of the subset. */
interface FontGlyph {
  readonly glyph: number | Cluster;
  /** Text that it maps back to. */
  readonly text: string;
  /** In thousandths of the font size. */
  readonly width: number;
}

function fontGlyph(item: Letter | Cluster): FontGlyph {
  const font = bundledFont();
  if ('key' in item) return { glyph: item, text: item.text, width: (1000 * item.advance) / font.unitsPerEm };
  const glyph = font.glyph(item.codePoint) ?? font.glyph(MISSING) ?? 0;
  // The box maps to its original character, for copying and reading aloud.
  return { glyph, text: String.fromCodePoint(item.codePoint), width: font.width(glyph) };
}

/** Collects the characters of one document in one subset of the font. */
export class TextFont {
  readonly ascent: number;
  readonly descent: number;
  // Each character has a glyph of its own, even where the font shares one, so that the ToUnicode map is unique.
  readonly #numbers = new Map<number | string, number>();
  readonly #glyphs: FontGlyph[] = [{ glyph: 0, text: '', width: 0 }];

  constructor() {
    const { ascent, descent } = bundledFont().metrics;
    this.ascent = ascent;
    this.descent = descent;
  }

  /** @param text any; a missing character becomes a box */
  line(text: string): GlyphLine {
    let glyphs = '';
    let width = 0;
    for (const item of visualGlyphs(visible(text))) {
      const key = 'key' in item ? item.key : item.codePoint;
      const number = this.#numbers.get(key) ?? this.#glyphs.push(fontGlyph(item)) - 1;
      this.#numbers.set(key, number);
      glyphs += hex(number);
      width += this.#glyphs[number]?.width ?? 0;
    }
    return { glyphs, width };
  }

  /** Returns the font file that `embed` writes, and the text of each of its glyphs. */
  subset(): { readonly file: Buffer; readonly texts: readonly string[] } {
    return { file: subsetOf(this.#glyphs).file, texts: this.#glyphs.map(({ text }) => text) };
  }

  /** @param put writes the font itself; the objects it consists of go to the sink */
  embed(
    sink: ObjectSink,
    options: EmbedOptions,
    put: (body: string) => Reference = (body) => sink.add(body),
  ): string {
    return embedFont(sink, this.#glyphs, options, put);
  }
}

/** @param lines any text; a missing character becomes a box */
export function showText(lines: readonly string[]): ShapedText {
  const font = new TextFont();
  return {
    lines: lines.map((line) => font.line(line)),
    ascent: font.ascent,
    descent: font.descent,
    embed: (sink, options) => font.embed(sink, options),
  };
}

function hex(number: number): string {
  return number.toString(16).padStart(4, '0');
}

function embedFont(
  draft: ObjectSink,
  glyphs: readonly FontGlyph[],
  { listGlyphs }: EmbedOptions,
  put: (body: string) => Reference,
): string {
  const font = bundledFont();
  const { file, count } = subsetOf(glyphs);
  const name = `${subsetTag(file)}+${FONT_NAME}`;
  const { ascent, descent, box } = font.metrics;
  const outlines = referenceText(draft.add(packedStream(`/Length1 ${file.length}`, file)));
  const listed = listGlyphs ? `/CIDSet ${referenceText(draft.add(packedStream('', allOf(count))))}` : '';
  const descriptor = draft.add(
    `<</Type/FontDescriptor/FontName/${name}/Flags 4/FontBBox[${box.map(numberText).join(' ')}]/ItalicAngle 0` +
      `/Ascent ${numberText(ascent)}/Descent ${numberText(descent)}/CapHeight 729/StemV 80` +
      `/FontFile2 ${outlines}${listed}>>`,
  );
  const [missing, ...others] = glyphs;
  const missingWidth = typeof missing?.glyph === 'number' ? font.width(missing.glyph) : 0;
  const widths = [missingWidth, ...others.map(({ width }) => width)].map(numberText).join(' ');
  const byGlyph = draft.add(
    `<</Type/Font/Subtype/CIDFontType2/BaseFont/${name}/CIDToGIDMap/Identity` +
      '/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>' +
      `/FontDescriptor ${referenceText(descriptor)}/DW 600/W[0[${widths}]]>>`,
  );
  const back = draft.add(
    packedStream('', Buffer.from(toUnicodeMap(others.map(({ text }) => text)), 'latin1')),
  );
  return referenceText(
    put(
      `<</Type/Font/Subtype/Type0/BaseFont/${name}/Encoding/Identity-H` +
        `/DescendantFonts[${referenceText(byGlyph)}]/ToUnicode ${referenceText(back)}>>`,
    ),
  );
}

function subsetOf(glyphs: readonly FontGlyph[]): ReturnType<typeof subsetFont> {
  return subsetFont(
    bundledFont(),
    glyphs.map(({ glyph }): SubsetGlyph => (typeof glyph === 'number' ? glyph : glyph.draw())),
  );
}

/** Returns six capital letters that identify this subset (9.9.2). */
function subsetTag(file: Buffer): string {
  const digest = createHash('sha256').update(file).digest();
  return String.fromCharCode(...digest.subarray(0, 6).map((byte) => 0x41 + (byte % 26)));
}

/** Returns a bit string of `count` ones. */
function allOf(count: number): Buffer {
  const bits = Buffer.alloc(Math.ceil(count / 8), 0xff);
  if (count % 8 !== 0) bits[bits.length - 1] = 0xff00 >> (count % 8);
  return bits;
}

/** Most entries in a section of a character map. */
const SECTION = 100;

/** @param texts those of glyph 1, 2 and so on */
function toUnicodeMap(texts: readonly string[]): string {
  const rows = texts.map((text, index) => {
    const code = Buffer.from(text, 'utf16le').swap16().toString('hex');
    return `<${hex(index + 1)}> <${code}>\n`;
  });
  let sections = '';
  for (let from = 0; from < rows.length; from += SECTION) {
    const section = rows.slice(from, from + SECTION);
    sections += `${section.length} beginbfchar\n${section.join('')}endbfchar\n`;
  }
  return (
    '/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n' +
    '/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n' +
    '/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n' +
    `1 begincodespacerange\n<0000> <ffff>\nendcodespacerange\n${sections}` +
    'endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n'
  );
}
