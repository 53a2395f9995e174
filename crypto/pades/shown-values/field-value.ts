/** Value of a field as it must be shown (ISO 32000-2, 12.7.5), and the comparison with shown text. */
import {
  asInteger,
  asName,
  asText,
  type ByteSlice,
  inheritedByField,
  isArray,
  isNull,
  items,
  type PdfDict,
  type PdfDocument,
} from '../../pdf/index.ts';
import type { Box } from '../painting/geometry.ts';
import type { Mark } from '../painting/painted-marks.ts';
import { keepsNumbers } from './shown-value.ts';
import { isFormatOf } from './value-formats.ts';

/** Most characters of a value that are compared. */
const MAX_LENGTH = 1 << 20;
/** Flag Password (table 231): the value is shown as asterisks. */
const PASSWORD = 1 << 13;
/** Flag Comb (table 231). */
const COMB = 1 << 24;
/** Flag Combo (table 233). */
const COMBO = 1 << 17;
const MAX_OPTIONS = 2000;

interface FieldValue {
  /** Texts that may be shown: the value, or its display text; undefined when the value is not text. */
  readonly texts: readonly string[] | undefined;
  readonly isPassword: boolean;
  /** Texts of all options of a list box, which shows a part of them and marks those of the value. */
  readonly list: readonly string[];
  /** True for cells of one character each. */
  readonly isComb: boolean;
  /** True when an action formats the shown text (12.6.3, `F`). */
  readonly isFormatted: boolean;
}

export function fieldValue(pdf: PdfDocument, field: PdfDict): FieldValue {
  const flags = asInteger(pdf.resolve(inheritedByField(pdf, field, 'Ff'))) ?? 0;
  const written = inheritedByField(pdf, field, 'V');
  const value = written === undefined ? '' : textOf(pdf, written);
  const actions = pdf.dict(inheritedByField(pdf, field, 'AA'));
  const options = displayTexts(pdf, field);
  const isList = (flags & COMBO) === 0 && asName(pdf.resolve(inheritedByField(pdf, field, 'FT'))) === 'Ch';
  const shown = options.flatMap(([exported, text]) =>
    exported === value && text !== undefined ? [text] : [],
  );
  return {
    texts: value === undefined ? undefined : [value, ...shown, ...valueAbove(pdf, field)],
    isPassword: (flags & PASSWORD) !== 0,
    list: isList ? options.map(([exported, text = exported]) => text ?? '') : [],
    isComb: (flags & COMB) !== 0,
    isFormatted: actions?.get('F') !== undefined,
  };
}

/** Returns the value of the field of which this is a part, as some programs write another one into the part. */
function valueAbove(pdf: PdfDocument, part: PdfDict): readonly string[] {
  const parent = pdf.dict(part.get('Parent'));
  if (parent === undefined || isNull(pdf.resolve(part.get('V'))) || part.get('T') !== undefined) return [];
  const written = inheritedByField(pdf, parent, 'V');
  const value = written === undefined ? '' : textOf(pdf, written);
  return value === undefined ? [] : [value];
}

/** Bytes 0x18 to 0x1F and 0x80 to 0x9F of PDFDocEncoding (annex D.2), and 0xA0. */
const PDF_DOC: ReadonlyMap<string, string> = new Map(
  [...'˘ˇˆ˙˝˛˚˜']
    .map((one, at): [string, string] => [String.fromCharCode(0x18 + at), one])
    .concat(
      [...'•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž\u009f€'].map((one, at): [string, string] => [
        String.fromCharCode(0x80 + at),
        one,
      ]),
    ),
);

/** Returns the text of a string or a stream; undefined for another value, and for a long one. */
export function textOf(pdf: PdfDocument, slice: ByteSlice): string | undefined {
  const value = pdf.resolve(slice);
  const text = asText(value) ?? streamText(pdf, slice);
  if (text === undefined || text.length > MAX_LENGTH) return undefined;
  return Array.from(text, (one) => PDF_DOC.get(one) ?? one).join('');
}

/** Reads a value in a stream (table 226). */
export function streamText(pdf: PdfDocument, slice: ByteSlice): string | undefined {
  const bytes = pdf.stream(slice);
  if (bytes === undefined) return undefined;
  return bytes[0] === 0xfe && bytes[1] === 0xff
    ? Buffer.from(bytes.subarray(2, 2 + ((bytes.length - 2) & ~1)))
        .swap16()
        .toString('utf16le')
    : bytes.toString('latin1');
}

/** Returns the export values of the options of a choice, each with its display text if it has one (table 234). */
function displayTexts(pdf: PdfDocument, field: PdfDict): readonly (readonly (string | undefined)[])[] {
  const found: (string | undefined)[][] = [];
  for (const option of items(pdf.resolve(inheritedByField(pdf, field, 'Opt')))) {
    if (found.length === MAX_OPTIONS) break;
    const pair = pdf.resolve(option);
    found.push(isArray(pair) ? [...items(pair)].map((item) => asText(pdf.resolve(item))) : [asText(pair)]);
  }
  return found;
}

/** True when the shown text is a run of options of a list box that has the value among them. */
export function showsList(shown: string, { texts, list }: FieldValue): boolean {
  const plain = comparable(shown);
  const options = list.map(comparable);
  for (let from = 0; from < options.length; from++) {
    let rest = plain;
    // Several values are not compared.
    let hasValue = texts === undefined;
    for (let at = from; rest.startsWith(options[at] ?? '\0'); at++) {
      const option = options[at] ?? '';
      if (option === '') break;
      hasValue ||= texts?.some((text) => comparable(text) === option) === true;
      rest = rest.slice(option.length);
      if (rest === '') return hasValue;
    }
  }
  return false;
}

/** True when the filled boxes of a list lie behind the options of the value, and only behind these. */
export function marksValue(
  marks: readonly Mark[],
  rectangle: Box,
  texts: readonly string[] | undefined,
): boolean {
  const height = rectangle.top - rectangle.bottom;
  const bars = marks.filter(({ kind, box }) => kind === 'fill' && box.top - box.bottom < 0.9 * height);
  const isMarked = ({ box }: { readonly box: Box }): boolean => {
    const middle = (box.bottom + box.top) / 2;
    return bars.some((bar) => bar.box.bottom < middle && middle < bar.box.top);
  };
  const marked = marks
    .flatMap(({ text }) => text?.glyphs ?? [])
    .filter((glyph) => glyph.text?.trim() !== '' && isMarked(glyph))
    .map(({ text }) => text)
    .join('');
  return texts?.some((text) => text.replace(/\s/g, '') === marked) === true;
}

/** True when the shown text represents the value. */
export function showsValue(shown: string, { texts, isPassword, isFormatted, isComb }: FieldValue): boolean {
  const [own] = texts ?? [];
  if (texts === undefined || own === undefined) return false;
  const plain = comparable(shown);
  if (isPassword) return /^[*•●]*$/u.test(plain) && plain.length === own.length;
  if (texts.some((text) => comparable(text) === plain && (isComb || keepsNumbers(shown, text)))) return true;
  return isFormatted && isFormatOf(own, shown);
}

/** Removes line breaks and spaces, which depend on the layout. */
function comparable(text: string): string {
  return text.normalize('NFKC').replace(/[\s\p{Cc}\p{Zs}]+/gu, '');
}
