/**
 * Lines of text as glyphs of the bundled font, and that font as PDF embeds it: a subset addressed by glyph number,
 * with widths and a way back to the characters (ISO 32000-2, 9.7.4, 9.8 and 9.10.3).
 */
import { createHash } from 'node:crypto';
import type { Reference } from '../../pdf/index.ts';
import { referenceText } from '../draft.ts';
import { bundledFont, FONT_NAME } from './font-file.ts';
import { subsetFont } from './font-subset.ts';
import { leftToRight } from './reading-order.ts';
import { numberText, type ObjectSink, packedStream } from './stream-object.ts';

/** One line: its glyphs as four hexadecimal digits each, and its width in thousandths of the font's size. */
export interface ShownLine {
  readonly glyphs: string;
  readonly width: number;
}

export interface ShownText {
  readonly lines: readonly ShownLine[];
  /** Extents of any line, in thousandths of the font's size. */
  readonly ascent: number;
  /** Below zero. */
  readonly descent: number;
  /** Writes the font into the draft and gives the text of the reference to it. */
  embed(draft: ObjectSink, options: EmbedOptions): string;
}

export interface EmbedOptions {
  /** Say which glyphs there are, as PDF/A-1 asks for (ISO 19005-1, 6.3.5) and later parts do without. */
  readonly listGlyphs: boolean;
}

/** What stands for a character the font has not: a white square. The glyph of missing ones is forbidden in archives. */
const MISSING = 0x25a1;

/** Controls, tabs and line ends among them, are a space; marks that only steer other programs are nothing. */
function visible(line: string): string {
  return line
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
    .replace(/\p{Cs}/gu, String.fromCodePoint(MISSING))
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '');
}

/** Whether every letter can be seen as what it is, and none is a box. */
export function isShowable(text: string): boolean {
  const font = bundledFont();
  return [...visible(text)].every((letter) => font.glyph(letter.codePointAt(0) ?? MISSING) !== undefined);
}

/** The letters of one document: what is shown with them uses one subset of the font. */
export class TextFont {
  readonly ascent: number;
  readonly descent: number;
  // Each character has a glyph of its own here, even where the font shares one, so that the way back is certain.
  readonly #numbers = new Map<number, number>();
  readonly #glyphs = [0];

  constructor() {
    const { ascent, descent } = bundledFont().metrics;
    this.ascent = ascent;
    this.descent = descent;
  }

  /** @param text any; a character the font has not becomes a box */
  line(text: string): ShownLine {
    const font = bundledFont();
    let glyphs = '';
    let width = 0;
    for (const letter of leftToRight(visible(text))) {
      const asked = letter.codePointAt(0) ?? MISSING;
      const glyph = font.glyph(asked) ?? font.glyph(MISSING) ?? 0;
      // A box, too, leads back to its own character: who copies the line, or has it read out, gets what was meant.
      const number = this.#numbers.get(asked) ?? this.#glyphs.push(glyph) - 1;
      this.#numbers.set(asked, number);
      glyphs += hex(number);
      width += font.width(glyph);
    }
    return { glyphs, width };
  }

  /** @param put where the font itself goes; the objects it is made of go to the sink */
  embed(
    sink: ObjectSink,
    options: EmbedOptions,
    put: (body: string) => Reference = (body) => sink.add(body),
  ): string {
    return embedFont(sink, this.#glyphs, [...this.#numbers.keys()], options, put);
  }
}

/** @param lines any text; a character the font has not becomes a box */
export function showText(lines: readonly string[]): ShownText {
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

/** @param characters what glyph 1, 2 and so on show */
function embedFont(
  draft: ObjectSink,
  glyphs: readonly number[],
  characters: readonly number[],
  { listGlyphs }: EmbedOptions,
  put: (body: string) => Reference,
): string {
  const font = bundledFont();
  const { file, count } = subsetFont(font, glyphs);
  const name = `${subsetTag(file)}+${FONT_NAME}`;
  const { ascent, descent, box } = font.metrics;
  const outlines = referenceText(draft.add(packedStream(`/Length1 ${file.length}`, file)));
  const listed = listGlyphs ? `/CIDSet ${referenceText(draft.add(packedStream('', allOf(count))))}` : '';
  const descriptor = draft.add(
    `<</Type/FontDescriptor/FontName/${name}/Flags 4/FontBBox[${box.map(numberText).join(' ')}]/ItalicAngle 0` +
      `/Ascent ${numberText(ascent)}/Descent ${numberText(descent)}/CapHeight 729/StemV 80` +
      `/FontFile2 ${outlines}${listed}>>`,
  );
  const widths = glyphs.map((glyph) => numberText(font.width(glyph))).join(' ');
  const byGlyph = draft.add(
    `<</Type/Font/Subtype/CIDFontType2/BaseFont/${name}/CIDToGIDMap/Identity` +
      '/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>' +
      `/FontDescriptor ${referenceText(descriptor)}/DW 600/W[0[${widths}]]>>`,
  );
  const back = draft.add(packedStream('', Buffer.from(wayBack(characters), 'latin1')));
  return referenceText(
    put(
      `<</Type/Font/Subtype/Type0/BaseFont/${name}/Encoding/Identity-H` +
        `/DescendantFonts[${referenceText(byGlyph)}]/ToUnicode ${referenceText(back)}>>`,
    ),
  );
}

/** Six capital letters that tell this subset from others (9.9.2). */
function subsetTag(file: Buffer): string {
  const digest = createHash('sha256').update(file).digest();
  return String.fromCharCode(...digest.subarray(0, 6).map((byte) => 0x41 + (byte % 26)));
}

/** One bit for each of the first `count` glyphs. */
function allOf(count: number): Buffer {
  const bits = Buffer.alloc(Math.ceil(count / 8), 0xff);
  if (count % 8 !== 0) bits[bits.length - 1] = 0xff00 >> (count % 8);
  return bits;
}

/** No section of a character map may have more. */
const SECTION = 100;

function wayBack(characters: readonly number[]): string {
  const rows = characters.map((character, index) => {
    const text = Buffer.from(String.fromCodePoint(character), 'utf16le').swap16().toString('hex');
    return `<${hex(index + 1)}> <${text}>\n`;
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
