/** Judges what viewers draw for a field by its default appearance and its caption (ISO 32000-2, 12.5.6.19 and 12.7.4.3). */
import {
  asInteger,
  asName,
  asText,
  inheritedByField,
  type PdfDict,
  type PdfDocument,
} from '../../pdf/index.ts';
import { fieldLook } from '../content/field-look.ts';
import { lightnessOf } from '../painting/colours.ts';
import { fontReader, hasOddWidths } from '../painting/font-text.ts';
import { boxOf } from '../painting/geometry.ts';
import { paintedBy } from '../painting/page-marks.ts';
import { UnreadableContent } from '../painting/painted-marks.ts';
import { type AppearanceJudgement, FAITHFUL, leavesOpen } from '../shown-values/appearance-judgement.ts';
import { fieldValue } from '../shown-values/field-value.ts';
import { fontOf, styleFont } from './field-drawing.ts';
import type { ObjectComparison } from './object-comparison.ts';

/** Least size of a text that viewers draw, in units of the page; 0 is one that fits. */
const MIN_SIZE = 3;
/** Least difference in lightness between text and background. */
const MIN_CONTRAST = 0.2;
/** Bit 17 of /Ff (table 229). */
const PUSH_BUTTON = 1 << 16;

/** Families whose fonts readers have, or replace by one with the same characters. */
const USUAL_FONTS =
  /^(?:[A-Z]{6}\+)?(?:helv|arial|times|courier|verdana|tahoma|georgia|calibri|cambria|segoe ?ui|trebuchet|liberation|dejavu|noto ?s|roboto|open ?sans|myriad|minion|adobe|lucida|bookman|palatino|century|garamond|cour$|tiro$|hebo$|heob$)/i;

/** Members of these families whose glyphs are no letters and digits. */
const ORNAMENTS = /pi(?:std)?\b|ornament|math|icon|expert|arrow|star|border|extra/i;

export const isUsualFont = (name: string): boolean => USUAL_FONTS.test(name) && !ORNAMENTS.test(name);

/** Judges whether the text that viewers draw with the default appearance of a field can be read. */
export function judgeStyle(pdf: PdfDocument, field: PdfDict): AppearanceJudgement {
  const form = pdf.dict(pdf.catalog.get('AcroForm'));
  const { ink, size, background } = fieldLook(pdf, field, form);
  if (styleFont(pdf, field) === undefined) return leavesOpen('is drawn by viewers in an unusual way');
  if (size !== 0 && !(size >= MIN_SIZE)) return leavesOpen('is drawn by viewers too small to be read');
  const text = lightnessOf(ink);
  const paper = background === undefined ? 1 : lightnessOf(background);
  if (text === undefined || paper === undefined || Math.abs(text - paper) < MIN_CONTRAST)
    return leavesOpen('is drawn by viewers in a colour that cannot be seen');
  const font = pdf.dict(fontOf(pdf, field));
  // Viewers replace a font that is missing.
  return font === undefined || hasUsualShapes(pdf, font, fieldValue(pdf, field).texts?.join('') ?? '')
    ? FAITHFUL
    : leavesOpen('is drawn by viewers in a font whose shapes are not compared');
}

/** Characters whose codes all Latin encodings share. */
const SHARED = Array.from({ length: 0x7f - 0x21 }, (_, index) => String.fromCharCode(0x21 + index));

/** True for a simple font that readers have, which neither exchanges characters nor lays them over each other. */
function hasUsualShapes(pdf: PdfDocument, font: PdfDict, value: string): boolean {
  const type = asName(pdf.resolve(font.get('Subtype')));
  if ((type !== 'Type1' && type !== 'TrueType') || font.get('FontDescriptor') !== undefined) return false;
  const { codes, name } = fontReader(pdf, font);
  if (!isUsualFont(name) || hasOddWidths(pdf, font)) return false;
  return codes(Buffer.from(Array.from({ length: 256 }, (_, code) => code))).every(({ code, text, fault }) => {
    const shared = SHARED[code - 0x21];
    if (shared === undefined) return fault === undefined || text === undefined || !value.includes(text);
    // Encodings differ in quotation marks.
    return fault === undefined && (text === shared || shared === "'" || shared === '`');
  });
}

/**
 * Compares the look of a push button with the caption from which some viewers draw it.
 * @param shown number of the stream that it shows
 * @returns undefined for another button, whose caption is the symbol of its mark
 */
export function judgeCaption(
  pair: ObjectComparison,
  button: PdfDict,
  shown: number | undefined,
): AppearanceJudgement | undefined {
  const { pdf } = pair.after;
  const flags = asInteger(pdf.resolve(inheritedByField(pdf, button, 'Ff'))) ?? 0;
  if ((flags & PUSH_BUTTON) === 0) return undefined;
  const rectangle = boxOf(pdf, button.get('Rect'));
  const caption = asText(pdf.resolve(pdf.dict(button.get('MK'))?.get('CA'))) ?? '';
  if (shown === undefined || rectangle === undefined) return FAITHFUL;
  try {
    const painted = paintedBy(pdf, shown, rectangle, (steps) => pair.before.spend(steps));
    const text = painted?.marks.map((mark) => mark.text?.text ?? '').join('') ?? '';
    const bare = (one: string): string => one.replace(/\s/g, '');
    return bare(text) === bare(caption) ? FAITHFUL : leavesOpen('shows another text than its caption');
  } catch (error) {
    if (error instanceof UnreadableContent) return leavesOpen('has a look that cannot be read');
    throw error;
  }
}
