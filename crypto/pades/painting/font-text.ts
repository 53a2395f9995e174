/** Decodes strings with the encoding or /ToUnicode map of their font (ISO 32000-2, 9.6.5 and 9.10.2). */
import { asInteger, asName, isArray, items, type PdfDict, type PdfDocument } from '../../pdf/index.ts';
import { glyphInk } from './font-ink.ts';
import { type Ink, together } from './font-program.ts';
import { hasOddNumber, matrixOf, numberOf } from './geometry.ts';
import { anyInk, usualInk } from './glyph-ink.ts';
import { glyphNames, simpleEncoding } from './glyph-names.ts';

/** One code of a string. */
interface StringCode {
  readonly code: number;
  /** Undefined when the font has no mapping. */
  readonly text: string | undefined;
  /** Advance, as a fraction of the font size. */
  readonly width: number;
  /** True for the code that word spacing applies to (9.3.3). */
  readonly isSpace: boolean;
  /** Reason why the glyph is not the character that the font says. */
  readonly fault: string | undefined;
  /** Its ink in font sizes; undefined when the font does not tell, and for glyphs that are drawings. */
  readonly ink: Ink | undefined;
}

export interface FontReader {
  codes(bytes: Buffer): readonly StringCode[];
  /** True when the file contains the glyph outlines, which may differ from the characters of the mapping. */
  readonly embedded: boolean;
  /** True for Type 3 fonts: glyphs are content streams with any content (9.6.4). */
  readonly drawn: boolean;
  readonly name: string;
}

/** Returns the codes of a text without a font, as wide as most letters. */
export function codesWithoutFont(bytes: Buffer): readonly StringCode[] {
  const shown = {
    text: undefined,
    width: USUAL_WIDTH,
    isSpace: false,
    fault: undefined,
    ink: anyInk(USUAL_WIDTH),
  };
  return Array.from(bytes, (code) => ({ code, ...shown }));
}

/** Most bytes of a /ToUnicode map. */
const MAX_MAP = 1 << 20;
const MAX_RANGE = 65_536;

export function fontReader(pdf: PdfDocument, font: PdfDict): FontReader {
  const subtype = asName(pdf.resolve(font.get('Subtype')));
  const name = asName(pdf.resolve(font.get('BaseFont'))) ?? '';
  if (subtype === 'Type0') return compositeFont(pdf, font, name);
  const drawn = subtype === 'Type3';
  const embedded = drawn || hasProgram(pdf, font);
  const encoding = simpleEncoding(pdf, font);
  const map = toUnicode(pdf, font);
  // A program in the file may have an encoding of its own (9.6.5.4).
  const isOwn = embedded && font.get('Encoding') === undefined;
  const contradicts = (code: number): boolean => {
    const glyph = encoding(code);
    const said = map?.get(code);
    return (
      !isOwn &&
      glyph !== undefined &&
      said !== undefined &&
      /[^\0\ufffd]/.test(said) &&
      alike(glyph) !== alike(said)
    );
  };
  const widths = simpleWidths(pdf, font, name, drawn);
  const own = embedded && !drawn ? glyphInk(pdf, font, glyphNames(pdf, font)) : undefined;
  const inkFor = (code: number, text: string | undefined, width: number): Ink | undefined =>
    embedded
      ? withUsual(own?.(code), text, width)
      : usualInk(text, text === undefined ? width : Math.max(width, usualWidth(text)));
  const isOverlapping = (text: string | undefined, width: number): boolean =>
    !embedded && text !== undefined && width < LEAST_WIDTH * usualWidth(text, NARROW_WIDTH);
  const mapped = (code: number): string | undefined =>
    isOwn ? (map?.get(code) ?? encoding(code)) : (encoding(code) ?? map?.get(code));
  return {
    embedded,
    drawn,
    name,
    codes: (bytes) =>
      Array.from(bytes, (code) => {
        const text = mapped(code);
        const width = widths(code, text);
        const ink = inkFor(code, text, width);
        const fault =
          contradicts(code) || isDenied(text, ink)
            ? 'shows a text in a font that says other characters than it shows'
            : isOverlapping(text, width)
              ? 'shows a text in a font whose characters lie over each other'
              : undefined;
        return { code, text, width, isSpace: code === 32, fault, ink };
      }),
  };
}

/** Adds the space that a character usually has to its ink: what touches a letter changes it. */
function withUsual(ink: Ink | undefined, text: string | undefined, width: number): Ink | undefined {
  if (ink === undefined || ink === 'blank' || text === undefined) return ink;
  return together([ink, usualInk(text, width)]);
}

/** True for a letter without ink, and for a space with some. */
function isDenied(text: string | undefined, ink: Ink | undefined): boolean {
  if (text === undefined || ink === undefined) return false;
  return ink === 'blank' ? /[\p{L}\p{N}]/u.test(text) : text.trim() === '';
}

/** Makes characters equal that one glyph stands for. */
function alike(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[\u00ad\u2010-\u2015\u2212]/g, '-')
    .replace(/[\u2018\u2019\u0060]/g, "'")
    .replace(/\s/g, ' ');
}

/** Advances of Helvetica from code 32 on, in thousandths (Adobe font metrics). */
const HELVETICA = (
  '278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 ' +
  '584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 ' +
  '667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 ' +
  '278 556 500 722 500 500 500 334 260 334 584'
)
  .split(' ')
  .map(Number);
/** Advance of a character without one, as a fraction of the font size. */
const USUAL_WIDTH = 0.6;
/** The same for the narrow ones among them, such as ł, ι, і, י and ’. */
export const NARROW_WIDTH = 0.2;
const MAX_WIDTHS = 65_536;
/** Least advance of a glyph, as a part of the usual one: fonts of one width have two thirds. */
const LEAST_WIDTH = 0.4;

/**
 * Returns the advance of a character in usual text fonts; none for marks above and below others.
 * @param other advance of a character whose own is not known
 */
export function usualWidth(text: string, other = USUAL_WIDTH): number {
  if (/^\p{M}/u.test(text)) return 0;
  const usual = HELVETICA[(text.normalize('NFD').charCodeAt(0) || 0) - 32];
  return usual === undefined ? other : usual / 1000;
}

function simpleWidths(
  pdf: PdfDocument,
  font: PdfDict,
  name: string,
  drawn: boolean,
): (code: number, text: string | undefined) => number {
  const first = asInteger(pdf.resolve(font.get('FirstChar'))) ?? 0;
  const list = [...items(pdf.resolve(font.get('Widths')))].map((item) => numberOf(pdf.resolve(item)));
  const missing = numberOf(pdf.resolve(pdf.dict(font.get('FontDescriptor'))?.get('MissingWidth'))) ?? 0;
  const scale = drawn ? (matrixOf(pdf, font.get('FontMatrix'))?.[0] ?? 0.001) : 0.001;
  return (code, text) => {
    const width = list[code - first] ?? (list.length > 0 ? missing : undefined);
    if (width !== undefined) return width * scale;
    return /Courier/i.test(name) ? USUAL_WIDTH : usualWidth(text ?? '');
  };
}

/** True when an advance of a font is no number. */
export function hasOddWidths(pdf: PdfDocument, font: PdfDict): boolean {
  const [descendant] = items(pdf.resolve(font.get('DescendantFonts')));
  const places = [
    [font, ['FirstChar', 'Widths', 'FontMatrix']],
    [pdf.dict(font.get('FontDescriptor')), ['MissingWidth']],
    [pdf.dict(descendant), ['DW', 'W']],
  ] as const;
  return places.some(([dict, keys]) => keys.some((key) => hasOddNumber(pdf, dict?.get(key))));
}

function hasProgram(pdf: PdfDocument, font: PdfDict): boolean {
  const descriptor = pdf.dict(font.get('FontDescriptor'));
  return ['FontFile', 'FontFile2', 'FontFile3'].some((key) => descriptor?.get(key) !== undefined);
}

function compositeFont(pdf: PdfDocument, font: PdfDict, name: string): FontReader {
  const encoding = asName(pdf.resolve(font.get('Encoding')));
  const map = encoding === 'Identity-H' ? toUnicode(pdf, font) : undefined;
  const widths = compositeWidths(pdf, font);
  const own = encoding === 'Identity-H' ? glyphInk(pdf, font) : undefined;
  return {
    // The file contains the outlines of a composite font, or readers choose them.
    embedded: true,
    drawn: false,
    name,
    codes: (bytes) =>
      Array.from({ length: Math.ceil(bytes.length / 2) }, (_, index) => {
        const code = index * 2 + 1 < bytes.length ? bytes.readUInt16BE(index * 2) : -1;
        const width = widths(code);
        const text = map?.get(code);
        const ink = withUsual(own?.(code), text, width);
        const fault = isDenied(text, ink)
          ? 'shows a text in a font that says other characters than it shows'
          : undefined;
        return { code, text, width, isSpace: false, fault, ink };
      }),
  };
}

/** Reads /W and /DW of the descendant of a composite font (9.7.4.3). */
function compositeWidths(pdf: PdfDocument, font: PdfDict): (code: number) => number {
  const [descendant] = items(pdf.resolve(font.get('DescendantFonts')));
  const dict = pdf.dict(descendant);
  const usual = (numberOf(pdf.resolve(dict?.get('DW'))) ?? 1000) / 1000;
  const found = new Map<number, number>();
  const list = [...items(pdf.resolve(dict?.get('W')))].map((item) => pdf.resolve(item));
  for (let at = 0; at < list.length && found.size < MAX_WIDTHS; ) {
    const first = numberOf(list[at]) ?? 0;
    const next = list[at + 1];
    if (next !== undefined && isArray(next)) {
      let code = first;
      for (const item of items(next)) found.set(code++, (numberOf(pdf.resolve(item)) ?? 0) / 1000);
      at += 2;
    } else {
      const last = Math.min(numberOf(next) ?? first, first + MAX_WIDTHS);
      for (let code = first; code <= last; code++) found.set(code, (numberOf(list[at + 2]) ?? 0) / 1000);
      at += 3;
    }
  }
  return (code) => found.get(code) ?? usual;
}

/** Reads the entries of a /ToUnicode CMap (9.10.3). */
function toUnicode(pdf: PdfDocument, font: PdfDict): ReadonlyMap<number, string> | undefined {
  const bytes = pdf.stream(font.get('ToUnicode'));
  if (bytes === undefined || bytes.length > MAX_MAP) return undefined;
  const text = bytes.toString('latin1');
  const map = new Map<number, string>();
  for (const body of sectionsOf(text, 'bfchar')) {
    for (const [, code = '', to = ''] of body.matchAll(
      /<([0-9a-fA-F]{2}|[0-9a-fA-F]{4})>\s*<((?:[0-9a-fA-F]{4}){1,8})>/g,
    ))
      map.set(Number.parseInt(code, 16), utf16(to));
  }
  for (const body of sectionsOf(text, 'bfrange')) {
    for (const [, from = '', to = '', first, list] of body.matchAll(
      /<([0-9a-fA-F]{2,4})>\s*<([0-9a-fA-F]{2,4})>\s*(?:<((?:[0-9a-fA-F]{4}){1,8})>|\[([^\]]*)\])/g,
    )) {
      const start = Number.parseInt(from, 16);
      const count = Number.parseInt(to, 16) - start + 1;
      const listed = list === undefined ? undefined : [...list.matchAll(/<([0-9a-fA-F]+)>/g)];
      for (let index = 0; index < count && map.size < MAX_RANGE; index++) {
        const target = listed === undefined ? next(first ?? '', index) : utf16(listed[index]?.[1] ?? '');
        if (target !== '') map.set(start + index, target);
      }
    }
  }
  return map;
}

/** Returns the text between `begin` and `end` of each section of a kind. */
function sectionsOf(text: string, kind: string): string[] {
  const [, ...sections] = text.split(`begin${kind}`);
  return sections.map((section) => section.split(`end${kind}`, 1)[0] ?? '');
}

function utf16(hex: string): string {
  return hex.length % 4 === 0 ? Buffer.from(hex, 'hex').swap16().toString('utf16le') : '';
}

/** Increments the last code unit, as ranges do. */
function next(hex: string, index: number): string {
  const last = (Number.parseInt(hex.slice(-4), 16) + index) & 0xffff;
  return utf16(hex.slice(0, -4) + last.toString(16).padStart(4, '0'));
}
