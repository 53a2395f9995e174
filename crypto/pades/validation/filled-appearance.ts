/**
 * Checks that the new appearance of a filled field shows its value and nothing else (ISO 32000-2, 12.7.4.3).
 *
 * A field can be anywhere on a page and as large as one, so an appearance that fills its rectangle and shows text
 * could replace signed content. It passes when it shows the text of the value inside the rectangle of the field,
 * and covers no other content. An appearance that was signed is checked too when the new value selects it, and when it
 * stays although the value changed.
 */
import { inheritedByField } from '../../pdf/document/form.ts';
import { asInteger, asName, asReference, type PdfDict, type PdfDocument } from '../../pdf/index.ts';
import { ContentReader } from '../painting/content-reader.ts';
import {
  around,
  type Box,
  boxOf,
  contains,
  IDENTITY,
  type Matrix,
  matrixOf,
  transformed,
} from '../painting/geometry.ts';
import {
  inReadingOrder,
  type Mark,
  type PaintedContent,
  THIN,
  UnreadableContent,
} from '../painting/painted-marks.ts';
import { streamsOf } from './appearance.ts';
import { type Covered, coveredOn } from './covered-content.ts';
import { fieldValue, showsList, showsValue } from './field-value.ts';
import { changedObjectsBelow, type PermittedChanges } from './permitted-changes.ts';
import type { SurveyedField, SurveyedPage } from './survey.ts';

type AppearanceJudgement =
  | { readonly status: 'faithful' }
  /** `reason` completes `gave the field X an appearance that …`. */
  | { readonly status: 'forbidden' | 'undecided'; readonly reason: string };

/** Pages that list a field; undefined: none. */
type Pages = ReadonlySet<SurveyedPage> | undefined;

const FAITHFUL: AppearanceJudgement = { status: 'faithful' };
const forbids = (reason: string): AppearanceJudgement => ({ status: 'forbidden', reason });
const leavesOpen = (reason: string): AppearanceJudgement => ({ status: 'undecided', reason });

/** Most lines and boxes of a field without combs. */
const MAX_PATHS = 16;
/** Bit 25 of /Ff. Source: ISO 32000-1, table 228. */
const COMB = 1 << 24;
/** Largest width and height of a check box or radio button, in units of the page; its mark may have any shape. */
const BUTTON_SIZE = 48;
/** `Hidden` and `NoView` (table 167). */
const HIDDEN_FLAGS = 2 | 32;
/** Largest gap between lines that are joined, in units of the page. */
const MAX_GAP = 2 * THIN;
/** Tolerance beside a rectangle for the width of its border, in units of the page. */
const SLACK = 2;

/**
 * @param pages all pages that list the field; undefined when none does
 * @throws PdfSyntaxError; WorkBudgetExceeded
 */
export function judgeAppearance(
  pair: PermittedChanges,
  field: SurveyedField,
  pages: Pages,
): AppearanceJudgement {
  const { pdf } = pair.after;
  const dict = pdf.dict(pdf.object(field.number));
  const streams = dict && streamsOf(pdf, dict.get('AP'));
  if (dict === undefined || streams === undefined) return forbids('has other parts than streams');
  let open = field.type === 'Btn' ? judgeState(pdf, dict) : FAITHFUL;
  const shown = shownStream(pdf, dict);
  for (const number of new Set(streams)) {
    const isSigned = isAsBefore(pair, field, number);
    if (isSigned && number !== shown) continue;
    const judge = isSigned ? judgeSigned : judgeStream;
    const judged = judge(pair, field, dict, number, pages);
    if (judged.status === 'forbidden') return judged;
    if (judged.status === 'undecided') open = judged;
  }
  return open;
}

/** Returns the stream that a widget shows: its normal appearance, or the state of it that /AS selects (12.5.5). */
function shownStream(pdf: PdfDocument, widget: PdfDict): number | undefined {
  const normal = pdf.dict(widget.get('AP'))?.get('N');
  const number = asReference(normal)?.number;
  if (number !== undefined && pdf.plainObject(number)?.data !== undefined) return number;
  const state = asName(pdf.resolve(widget.get('AS')));
  return state === undefined ? undefined : asReference(pdf.dict(normal)?.get(state))?.number;
}

/** Compares the appearance state of a button with its value (12.7.5.2.3). Widgets of one field can be off each. */
function judgeState(pdf: PdfDocument, widget: PdfDict): AppearanceJudgement {
  const value = asName(pdf.resolve(inheritedByField(pdf, widget, 'V'))) ?? 'Off';
  const state = asName(pdf.resolve(widget.get('AS'))) ?? 'Off';
  if (state === value || (state === 'Off' && widget.get('V') === undefined)) return FAITHFUL;
  return leavesOpen('shows another state than its value');
}

/**
 * Judges an appearance that was signed. Its author meant it for some value, so that only large content over other
 * content is forbidden: a hidden page could come to light.
 */
function judgeSigned(
  pair: PermittedChanges,
  field: SurveyedField,
  dict: PdfDict,
  number: number,
  pages: Pages,
): AppearanceJudgement {
  const isButton = field.type === 'Btn';
  if (isButton && shownStream(pair.before.pdf, field.dict) === number) return FAITHFUL;
  const judged = judgeStream(pair, field, dict, number, pages);
  if (judged.status !== 'forbidden') return judged;
  const rectangle = boxOf(pair.after.pdf, dict.get('Rect'));
  if (!isButton || rectangle === undefined || isSmall(rectangle) || pages === undefined)
    return leavesOpen(judged.reason);
  const boxes = paintedBoxes(pair, number, rectangle);
  const covered = coveredOnAny(pair, pages, field, boxes);
  return covered === 'content' ? forbids('hides what was there') : leavesOpen(judged.reason);
}

/**
 * True when the new appearance of a signature field paints where the page, or another annotation, showed something, and
 * when this cannot be determined. The content of a signature's appearance is not restricted.
 * @throws PdfSyntaxError; WorkBudgetExceeded
 */
export function coversContent(pair: PermittedChanges, field: SurveyedField, pages: Pages): boolean {
  const { pdf } = pair.after;
  const dict = pdf.dict(pdf.object(field.number));
  const rectangle = boxOf(pdf, dict?.get('Rect'));
  const streams = (dict && streamsOf(pdf, dict.get('AP'))) ?? [];
  const fresh = [...new Set(streams)].filter((number) => !isAsBefore(pair, field, number));
  if (fresh.length === 0) return false;
  if (rectangle === undefined) return true;
  const boxes = fresh.flatMap((number) => paintedBoxes(pair, number, rectangle));
  if (boxes.length === 0) return false;
  if (pages === undefined) return true;
  return coveredOnAny(pair, pages, field, boxes) !== 'nothing';
}

/** Returns the areas that an appearance paints, clipped to the rectangle of its field; the rectangle if they are unknown. */
function paintedBoxes(pair: PermittedChanges, number: number, rectangle: Box): readonly Box[] {
  try {
    const painted = paintedBy(pair, 'after', number, rectangle);
    if (painted === undefined || painted.unsupported !== undefined) return [rectangle];
    return painted.marks.map(({ box }) => (contains(rectangle, box, SLACK) ? box : rectangle));
  } catch (error) {
    if (error instanceof UnreadableContent) return [rectangle];
    throw error;
  }
}

function isAsBefore(pair: PermittedChanges, { dict }: SurveyedField, number: number): boolean {
  const before = streamsOf(pair.before.pdf, dict.get('AP')) ?? [];
  return before.includes(number) && isUnchanged(pair, number);
}

function isUnchanged(pair: PermittedChanges, number: number): boolean {
  return (
    pair.before.has(number) &&
    changedObjectsBelow(pair, [{ numbers: [number], place: '' }], () => false).length === 0
  );
}

function judgeStream(
  pair: PermittedChanges,
  field: SurveyedField,
  dict: PdfDict,
  number: number,
  pages: Pages,
): AppearanceJudgement {
  const rectangle = boxOf(pair.after.pdf, dict.get('Rect'));
  if (rectangle === undefined) return forbids('has no place');
  let painted: PaintedContent | undefined;
  try {
    painted = paintedBy(pair, 'after', number, rectangle);
  } catch (error) {
    if (!(error instanceof UnreadableContent)) throw error;
    return forbids(`cannot be read (${error.message})`);
  }
  if (painted === undefined) return forbids('has no extent');
  const { marks, unsupported } = painted;
  if (unsupported !== undefined) return forbids(`has ${unsupported}`);
  const paths = judgePaths(field, marks, rectangle, lineLimit(pair, dict));
  if (paths !== undefined) return forbids(paths);
  const hidden = judgeFills(pair, field, marks, rectangle, pages);
  if (hidden.status === 'forbidden') return hidden;
  const shown = judgeText(pair, field, dict, marks, rectangle);
  return shown.status === 'faithful' ? hidden : shown;
}

/** Returns the marks in page space (12.5.5, algorithm "appearance streams"). @throws UnreadableContent */
export function paintedBy(
  pair: PermittedChanges,
  state: 'before' | 'after',
  number: number,
  rectangle: Box,
): PaintedContent | undefined {
  const { pdf } = pair[state];
  const bytes = Buffer.from(`${number} 0 R`, 'latin1');
  const slice = { bytes, at: -1, start: 0, end: bytes.length };
  const form = pdf.dict(slice);
  const box = boxOf(pdf, form?.get('BBox'));
  const matrix = matrixOf(pdf, form?.get('Matrix'));
  if (box === undefined || matrix === undefined) return undefined;
  const reader = new ContentReader(pdf, (steps) => pair.before.spend(steps));
  return reader.form(slice, fitting(transformed(matrix, box), rectangle));
}

/** Returns the matrix that maps one box to the other. */
function fitting(from: Box, to: Box): Matrix {
  const [width, height] = [from.right - from.left, from.top - from.bottom];
  if (!(width > 0 && height > 0)) return IDENTITY;
  const x = (to.right - to.left) / width;
  const y = (to.top - to.bottom) / height;
  return [x, 0, 0, y, to.left - from.left * x, to.bottom - from.bottom * y];
}

/** Returns the most lines: a text field with combs has one between each two characters. */
function lineLimit(pair: PermittedChanges, dict: PdfDict): number {
  const { pdf } = pair.after;
  const length = asInteger(pdf.resolve(inheritedByField(pdf, dict, 'MaxLen'))) ?? 0;
  return MAX_PATHS + Math.min(Math.max(length, 0), 200);
}

/** Checks paths and images: curves could draw letters, and an image can show any text. */
function judgePaths(
  { type }: SurveyedField,
  marks: readonly Mark[],
  rectangle: Box,
  limit: number,
): string | undefined {
  if (marks.some(({ kind }) => kind === 'image')) return 'draws a picture';
  const paths = marks.filter(({ kind }) => kind === 'fill' || kind === 'stroke');
  const isButton = type === 'Btn' && isSmall(rectangle);
  if (!isButton && paths.some(({ isRectilinear }) => !isRectilinear))
    return 'draws more than boxes and lines';
  if (paths.length > limit) return 'draws more boxes and lines than a field has';
  return paths.every((mark) => isInside(mark, rectangle)) ? undefined : 'paints outside of its rectangle';
}

function isSmall({ left, bottom, right, top }: Box): boolean {
  return right - left <= BUTTON_SIZE && top - bottom <= BUTTON_SIZE;
}

/** True when the mark, or the clipping path around it, is inside the rectangle. */
function isInside({ box, clip }: Mark, rectangle: Box): boolean {
  if (contains(rectangle, box, SLACK)) return true;
  return clip !== undefined && contains(rectangle, clip, SLACK) && !contains(clip, rectangle, 0.01);
}

function judgeFills(
  pair: PermittedChanges,
  field: SurveyedField,
  marks: readonly Mark[],
  rectangle: Box,
  pages: Pages,
): AppearanceJudgement {
  const old = fillsBefore(pair, field, rectangle);
  const fresh = marks
    .flatMap(({ covers }) => covers)
    .filter((box) => !old.some((known) => contains(known, box, 1)));
  const fills = joinedLines(fresh).filter(
    ({ left, bottom, right, top }) => !(right - left <= THIN || top - bottom <= THIN),
  );
  const rest = fresh.some((box) => isShortLine(box, rectangle, combCells(pair, field)))
    ? leavesOpen('draws lines that could be characters')
    : FAITHFUL;
  if (fills.length === 0) return rest;
  if (pages === undefined) return leavesOpen('fills a rectangle on no page that lists the field');
  const covered = coveredOnAny(pair, pages, field, fills);
  if (covered === 'content') return forbids('hides what was there');
  if (covered === 'nothing') return rest;
  return leavesOpen('fills a rectangle, and whether something was there cannot be told');
}

/** Part of the field that the lines of a frame and of a table extend over. */
const LONG_LINE = 0.8;

/** Largest distance of a line of a comb from the limit of two cells, in cells. */
const COMB_SLACK = 0.1;

/** True for a line that is no part of a frame: a dash, or a stroke of a digit. Combs have lines between their cells. */
function isShortLine({ left, bottom, right, top }: Box, rectangle: Box, cells: number): boolean {
  const [width, height] = [right - left, top - bottom];
  if (width > THIN && height > THIN) return false;
  if (width >= height) return width < LONG_LINE * (rectangle.right - rectangle.left);
  const cell = (((left + right) / 2 - rectangle.left) / (rectangle.right - rectangle.left)) * cells;
  if (cells > 0 && Math.abs(cell - Math.round(cell)) <= COMB_SLACK) return false;
  return height < LONG_LINE * (rectangle.top - rectangle.bottom);
}

/** Returns the number of cells of a text field with combs; 0 for any other field. */
function combCells({ after: { pdf } }: PermittedChanges, { dict }: SurveyedField): number {
  const flags = asInteger(pdf.resolve(inheritedByField(pdf, dict, 'Ff'))) ?? 0;
  return (flags & COMB) === 0 ? 0 : (asInteger(pdf.resolve(inheritedByField(pdf, dict, 'MaxLen'))) ?? 0);
}

/** Steps for looking at one page, besides those for its content. */
const STEPS_PER_PAGE = 50;

/** Returns the worst of all pages: a widget can be listed by several. */
function coveredOnAny(
  pair: PermittedChanges,
  pages: ReadonlySet<SurveyedPage>,
  { number }: SurveyedField,
  boxes: readonly Box[],
): Covered {
  let worst: Covered = 'nothing';
  for (const page of pages) {
    pair.before.spend(STEPS_PER_PAGE);
    const covered = coveredOn(pair.before.pdf, page, number, boxes, (steps) => pair.before.spend(steps));
    if (covered === 'content') return covered;
    if (covered === 'unknown') worst = covered;
  }
  return worst;
}

/** Joins thin boxes with their neighbours on the same side, since many lines side by side cover as a box does. */
function joinedLines(boxes: readonly Box[]): Box[] {
  const joined = [...boxes];
  for (const [low, high] of [
    ['left', 'right'],
    ['bottom', 'top'],
  ] as const) {
    let last: Box | undefined;
    const lines = boxes.filter((box) => box[high] - box[low] <= THIN);
    for (const box of lines.toSorted((one, other) => one[low] - other[low])) {
      const isNext = last !== undefined && box[low] - last[high] <= MAX_GAP;
      if (last !== undefined && isNext) {
        last = around(last, box);
        joined.push(last);
      } else last = box;
    }
  }
  return joined;
}

/** Returns the boxes that the field filled before; content below them was already hidden. */
function fillsBefore(pair: PermittedChanges, { dict }: SurveyedField, rectangle: Box): Box[] {
  const { pdf } = pair.before;
  if (((asInteger(pdf.resolve(dict.get('F'))) ?? 0) & HIDDEN_FLAGS) !== 0 || dict.get('OC') !== undefined)
    return [];
  const [number, ...more] = streamsOf(pdf, dict.get('AP')) ?? [];
  if (number === undefined || more.length > 0) return [];
  try {
    const painted = paintedBy(pair, 'before', number, rectangle);
    if (painted === undefined || painted.unsupported !== undefined) return [];
    return painted.marks.flatMap(({ hides, box }) => (hides ? [box] : []));
  } catch (error) {
    if (error instanceof UnreadableContent) return [];
    throw error;
  }
}

function judgeText(
  pair: PermittedChanges,
  { type }: SurveyedField,
  dict: PdfDict,
  marks: readonly Mark[],
  rectangle: Box,
): AppearanceJudgement {
  const shown = marks.flatMap(({ text }) => text ?? []);
  // A glyph of a symbol font has no text.
  if (type === 'Btn' && isSmall(rectangle) && shown.length <= 1) return FAITHFUL;
  if (shown.some(({ text, embedded }) => text === undefined && !embedded))
    return forbids('shows a text that cannot be read');
  if (shown.some(({ text }) => text === undefined))
    return leavesOpen('shows a text that cannot be read, in a font of the file');
  const text = shown.map((one) => one.text).join('');
  const value = fieldValue(pair.after.pdf, dict);
  if (type === 'Btn') {
    return text.trim() === '' ? FAITHFUL : forbids('shows a text');
  }
  const isRightToLeft = (value.texts?.[0] ?? '').search(/[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/) >= 0;
  if (isRightToLeft) return leavesOpen('shows a text that runs from right to left, which is not compared');
  if (!showsValue(text, value)) {
    if (!showsList(text, value)) return forbids('shows another text than its value');
    return leavesOpen('shows the options of a list, and which of them is marked is not compared');
  }
  if (!inReadingOrder(shown)) return leavesOpen('places its text in another order than it is read');
  if (!marks.every((mark) => mark.text === undefined || isNear(mark, rectangle)))
    return leavesOpen('places text outside of its rectangle');
  const isNew = ({ fontNumber, embedded }: (typeof shown)[number]): boolean =>
    embedded && (fontNumber === undefined || !isUnchanged(pair, fontNumber));
  if (shown.some(isNew))
    return leavesOpen('brought a font, whose shapes are not compared with its characters');
  return FAITHFUL;
}

function isNear({ text }: Mark, rectangle: Box): boolean {
  const [x, y] = text?.at ?? [0, 0];
  return contains(rectangle, { left: x, right: x, bottom: y, top: y }, SLACK);
}
