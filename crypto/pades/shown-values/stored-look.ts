/** Compares the stored look of a field with its value (ISO 32000-2, 12.5.5 and 12.7.5). */
import {
  asInteger,
  asName,
  asText,
  inheritedByField,
  type PdfDict,
  type PdfDocument,
} from '../../pdf/index.ts';
import { boxOf } from '../painting/geometry.ts';
import { paintedBy, shownStream } from '../painting/page-marks.ts';
import { type Mark, UnreadableContent } from '../painting/painted-marks.ts';
import { fieldValue, showsList, showsValue } from './field-value.ts';
import { readText, showsFromRight } from './shown-value.ts';

/** Bit 17 of /Ff (table 229). */
const PUSH_BUTTON = 1 << 16;

type Spend = (steps: number) => void;

/** True when an annotation has a look that paints anything, or cannot be read. */
export function paintsSomething(pdf: PdfDocument, annotation: PdfDict, spend: Spend): boolean {
  const marks = marksOf(pdf, annotation, spend);
  return marks === 'unreadable' || (marks !== undefined && marks.length > 0);
}

/**
 * True when the look of a field shows another text than its value, or another state. False where this is not told: without
 * a look, for a picture or a signature, and for content that cannot be read.
 */
export function contradictsValue(
  pdf: PdfDocument,
  widget: PdfDict,
  type: string | undefined,
  spend: Spend,
): boolean {
  if (type === 'Btn') return contradictsState(pdf, widget);
  if (type !== 'Tx' && type !== 'Ch') return false;
  const value = fieldValue(pdf, widget);
  if (value.texts === undefined) return false;
  const marks = marksOf(pdf, widget, spend);
  if (marks === undefined || marks === 'unreadable') return false;
  const texts = marks.flatMap(({ text }) => text ?? []);
  if (texts.some(({ text }) => text === undefined)) return false;
  const written = texts.map(({ text }) => text ?? '').join('');
  const [own = ''] = value.texts;
  if (own === '' && (written.trim() === '' || value.isFormatted)) return false;
  const read = readText(marks, undefined, true, spend);
  if ('fault' in read && read.isDecided && read.isOrder !== true) return true;
  const shown = 'text' in read ? read.text : written;
  if (showsValue(shown, value) || showsValue(written, value)) return false;
  return !(value.list.length > 0 && showsList(shown, value)) && showsFromRight(marks, own) !== true;
}

/** The state of a check box or radio button is that of its value, or off. */
function contradictsState(pdf: PdfDocument, widget: PdfDict): boolean {
  const flags = asInteger(pdf.resolve(inheritedByField(pdf, widget, 'Ff'))) ?? 0;
  const states = pdf.dict(pdf.dict(widget.get('AP'))?.get('N'));
  if ((flags & PUSH_BUTTON) !== 0 || states === undefined) return false;
  const nameOf = (slice: ReturnType<PdfDict['get']>): string => {
    const value = pdf.resolve(slice);
    const name = asName(value) ?? asText(value) ?? 'Off';
    return states.get(name) === undefined ? 'Off' : name;
  };
  return nameOf(widget.get('AS')) !== nameOf(inheritedByField(pdf, widget, 'V'));
}

/** Undefined without a look, and for one without an extent. */
function marksOf(
  pdf: PdfDocument,
  annotation: PdfDict,
  spend: Spend,
): readonly Mark[] | 'unreadable' | undefined {
  const number = shownStream(pdf, annotation);
  const rectangle = boxOf(pdf, annotation.get('Rect'));
  if (number === undefined || rectangle === undefined) return undefined;
  try {
    return paintedBy(pdf, number, rectangle, spend)?.marks;
  } catch (error) {
    if (error instanceof UnreadableContent) return 'unreadable';
    throw error;
  }
}
