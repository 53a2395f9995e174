/**
 * Checks that the new appearance of a filled field shows its value and nothing else (ISO 32000-2, 12.7.4.3).
 *
 * A field can be anywhere on a page and as large as one, so an appearance that fills its rectangle and shows text
 * could replace signed content. It passes when it shows the text of the value inside the rectangle of the field,
 * and covers no other content. An appearance that was signed is checked too when the new value selects it, and when it
 * stays although the value changed.
 */
import { inheritedByField } from '../../pdf/document/form.ts';
import { hasKnownShapes } from '../../pdf/fonts/known-shapes.ts';
import {
  asInteger,
  asName,
  equalValues,
  isNull,
  items,
  type PdfDict,
  type PdfDocument,
  referencesIn,
} from '../../pdf/index.ts';
import { streamsOf } from '../painting/appearance-streams.ts';
import {
  AREAS_PER_STEP,
  type Cover,
  type Covered,
  coveredOn,
  coversOf,
  isSideOfFrame,
} from '../painting/covered-content.ts';
import { type Box, boxOf, contains, thicknessOf } from '../painting/geometry.ts';
import {
  isUnseen,
  NO_ROTATE,
  pageMarks,
  paintedBy,
  rotationOf,
  shownStream,
} from '../painting/page-marks.ts';
import { type Mark, THIN, UnmeasuredFont, UnreadableContent } from '../painting/painted-marks.ts';
import {
  type AppearanceJudgement,
  FAITHFUL,
  forbids,
  leavesOpen,
} from '../shown-values/appearance-judgement.ts';
import { judgeButton } from '../shown-values/button-mark.ts';
import { fieldValue, marksValue, showsList, showsValue } from '../shown-values/field-value.ts';
import { readText, showsFromRight } from '../shown-values/shown-value.ts';
import { drawsAllAnew, frameOf, seenFlags } from './field-drawing.ts';
import { changedObjectsBelow, type ObjectComparison } from './object-comparison.ts';
import { judgeRichText } from './rich-text.ts';
import type { SurveyedField, SurveyedPage } from './survey.ts';
import { isUsualFont, judgeCaption, judgeStyle } from './viewer-drawing.ts';

/** Pages that list a field; undefined: none. */
type Pages = ReadonlySet<SurveyedPage> | undefined;

/** Most lines and boxes of a field without combs. */
const MAX_PATHS = 16;
/** Bit 25 of /Ff. Source: ISO 32000-1, table 228. */
const COMB = 1 << 24;
/** Largest width and height of a check box or radio button, in units of the page; its mark may have any shape. */
const BUTTON_SIZE = 48;
/** Tolerance beside a rectangle for the width of its border, in units of the page. */
const SLACK = 2;
/** Lightness up to which a line is a frame and no eraser. */
const DARK = 0.6;

/**
 * @param pages all pages that list the field; undefined when none does
 * @throws PdfSyntaxError; WorkBudgetExceeded
 */
export function judgeAppearance(
  pair: ObjectComparison,
  field: SurveyedField,
  pages: Pages,
): AppearanceJudgement {
  const { pdf } = pair.after;
  const dict = pdf.dict(pdf.object(field.number));
  const streams = dict && streamsOf(pdf, dict.get('AP'));
  if (dict === undefined) return forbids('has no parts');
  if (streams === undefined) return leavesOpen('has other parts than streams');
  let open = field.type === 'Btn' ? judgeState(pair, dict) : judgeOwnValue(pdf, dict);
  if (open.status === 'forbidden') return open;
  const shown = shownStream(pdf, dict);
  const judgements: AppearanceJudgement[] = [judgeRichText(pair, field, dict)];
  if (isTurnedAlone(pdf, dict, pages)) judgements.push(leavesOpen('is not turned with its page'));
  if (streams.length === 0 || drawsAllAnew(pdf)) judgements.push(judgeViewer(pair, field, dict, pages));
  for (const number of new Set(streams)) {
    const isSigned = isAsBefore(pair, field, number);
    if (isSigned && number !== shown) continue;
    judgements.push(
      isSigned
        ? judgeSigned(pair, field, { dict, number, pages })
        : judgeStream(pair, field, { dict, number, pages }),
    );
  }
  for (const judged of judgements) {
    if (judged.status === 'forbidden') return judged;
    if (judged.status === 'undecided') open = judged;
  }
  return open;
}

function isTurnedAlone(pdf: PdfDocument, widget: PdfDict, pages: Pages): boolean {
  if (((asInteger(pdf.resolve(widget.get('F'))) ?? 0) & NO_ROTATE) === 0) return false;
  return [...(pages ?? [])].some((page) => rotationOf(pdf, page.dict) % 360 !== 0);
}

/** Judges a value written into a part of a field: the field has one for all its parts, and programs show either. */
function judgeOwnValue(pdf: PdfDocument, widget: PdfDict): AppearanceJudgement {
  const own = pdf.resolve(widget.get('V'));
  const field = pdf.dict(widget.get('Parent'));
  if (isNull(own) || field === undefined || widget.get('T') !== undefined) return FAITHFUL;
  return equalValues(own, pdf.resolve(inheritedByField(pdf, field, 'V')))
    ? FAITHFUL
    : leavesOpen('has another value than its field');
}

/** Compares the appearance state of a button with its value (12.7.5.2.3). Widgets of one field can be off each, not all. */
function judgeState({ after: { pdf }, before }: ObjectComparison, widget: PdfDict): AppearanceJudgement {
  const value = asName(pdf.resolve(inheritedByField(pdf, widget, 'V'))) ?? 'Off';
  const parts = referencesIn(pdf.resolve(widget.get('Kids')));
  if (parts.length > 0) {
    before.spend(parts.length);
    const isShown = parts.some(
      (part) => asName(pdf.resolve(pdf.dict(pdf.object(part))?.get('AS'))) === value,
    );
    return value === 'Off' || isShown ? FAITHFUL : leavesOpen('shows its value in none of its parts');
  }
  const written = pdf.resolve(widget.get('AS'));
  // Programs that read no name take another state than Off.
  if (!isNull(written) && asName(written) === undefined) return forbids('has no state that can be read');
  const state = asName(written) ?? 'Off';
  if (state === value || (state === 'Off' && widget.get('V') === undefined)) return FAITHFUL;
  return leavesOpen('shows another state than its value');
}

/** True when viewers draw a value that is no empty text, or the options of a list. */
function drawsText(pdf: PdfDocument, dict: PdfDict): boolean {
  const { texts, list } = fieldValue(pdf, dict);
  return texts?.[0] !== '' || list.length > 0;
}

/** Judges a field that viewers draw: its background and its value (12.7.4.3). */
function judgeViewer(
  pair: ObjectComparison,
  field: SurveyedField,
  dict: PdfDict,
  pages: Pages,
): AppearanceJudgement {
  const { pdf } = pair.after;
  const rectangle = boxOf(pdf, dict.get('Rect'));
  if (rectangle === undefined || pages === undefined || !drawsText(pdf, dict)) return FAITHFUL;
  if (field.type === 'Btn' || field.type === 'Sig') return FAITHFUL;
  const hasFill = frameOf(pdf, dict).background;
  const covered = coveredOnAny(pair, pages, field.number, {
    covers: [{ box: rectangle, remains: 0, isText: !hasFill }],
  });
  return covered === 'nothing' ? judgeStyle(pdf, dict) : leavesOpen('viewers draw, over what was there');
}

/**
 * Judges a field whose value stays, and that is drawn by its look in one state, and by viewers in the other: both have to
 * show the value.
 */
export function judgeRedrawn(
  pair: ObjectComparison,
  field: SurveyedField,
  dict: PdfDict,
  pages: Pages,
): AppearanceJudgement {
  const { pdf } = pair.after;
  const shown = shownStream(pdf, dict);
  if (field.type === 'Btn') return judgeCaption(pair, dict, shown) ?? judgeState(pair, dict);
  const judged =
    shown === undefined ? FAITHFUL : judgeStream(pair, field, { dict, number: shown, pages, isSigned: true });
  const own = judged.status === 'faithful' ? judgeOwnValue(pdf, dict) : judged;
  if (own.status !== 'faithful') return own;
  return drawsText(pdf, dict) ? judgeStyle(pdf, dict) : FAITHFUL;
}

/** A stream of a field after a change. */
interface FieldStream {
  readonly dict: PdfDict;
  readonly number: number;
  readonly pages: Pages;
}

/**
 * Judges an appearance that was signed. Its author meant it for some value, so that only large content over other
 * content is forbidden: a hidden page could come to light.
 */
function judgeSigned(
  pair: ObjectComparison,
  field: SurveyedField,
  { dict, number, pages }: FieldStream,
): AppearanceJudgement {
  const isButton = field.type === 'Btn';
  if (isButton && shownStream(pair.before.pdf, field.dict) === number) return FAITHFUL;
  const judged = judgeStream(pair, field, { dict, number, pages, isSigned: true });
  if (judged.status !== 'forbidden') return judged;
  const rectangle = boxOf(pair.after.pdf, dict.get('Rect'));
  if (!isButton || rectangle === undefined || pages === undefined) return leavesOpen(judged.reason);
  if (isSmall(rectangle)) return judged;
  const covers = paintedAreas(pair, number, rectangle);
  const covered = coveredOnAny(pair, pages, field.number, { covers });
  return covered === 'content' ? forbids('hides what was there') : leavesOpen(judged.reason);
}

/**
 * Tells what the new appearance of a signature field covers. The content of a signature's appearance is not restricted.
 * @param number of the widget
 * @param before the same widget before the change
 * @throws PdfSyntaxError; WorkBudgetExceeded
 */
export function coveredBySignature(
  pair: ObjectComparison,
  number: number,
  pages: Pages,
  before?: SurveyedField,
): Covered {
  const { pdf } = pair.after;
  const dict = pdf.dict(pdf.object(number));
  const rectangle = boxOf(pdf, dict?.get('Rect'));
  const streams = (dict && streamsOf(pdf, dict.get('AP'))) ?? [];
  // A look that was hidden comes to light as a new one does.
  const wasSeen = before !== undefined && seenFlags(pair.before.pdf, before.dict) === seenFlags(pdf, dict);
  const fresh = [...new Set(streams)].filter((one) => !wasSeen || !isAsBefore(pair, before, one));
  const frame =
    dict === undefined || streams.length > 0 || before !== undefined ? [] : frameCovers(pdf, dict);
  if ((fresh.length === 0 && frame.length === 0) || isUnseen(pdf, dict)) return 'nothing';
  if (rectangle === undefined) return 'unknown';
  const turned = [...(pages ?? [])].flatMap((page) => turnedPlace(pdf, dict, page, rectangle));
  const covers = [...frame, ...turned, ...fresh.flatMap((one) => paintedAreas(pair, one, rectangle))];
  if (covers.length === 0) return 'nothing';
  return pages === undefined ? 'unknown' : coveredOnAny(pair, pages, number, { covers, signs: true });
}

/** Returns where a widget is shown that is not turned with its page: around its upper left corner (table 167). */
function turnedPlace(
  pdf: PdfDocument,
  widget: PdfDict | undefined,
  page: SurveyedPage,
  { left, bottom, right, top }: Box,
): readonly Cover[] {
  if (widget === undefined || !isTurnedAlone(pdf, widget, new Set([page]))) return [];
  const width = right - left;
  const height = top - bottom;
  const turn = ((rotationOf(pdf, page.dict) % 360) + 360) % 360;
  if (turn === 90) return [wholly({ left, bottom: top, right: left + height, top: top + width })];
  if (turn === 180) return [wholly({ left: left - width, bottom: top, right: left, top: top + height })];
  return [wholly({ left: left - height, bottom: top - width, right: left, top })];
}

const wholly = (box: Box): Cover => ({ box, remains: 0, isText: false });

/** Returns the areas of the background and the border that viewers draw for a widget without a look. */
function frameCovers(pdf: PdfDocument, widget: PdfDict): readonly Cover[] {
  const box = boxOf(pdf, widget.get('Rect'));
  const { background, borderWidth } = frameOf(pdf, widget);
  if (box === undefined) return [];
  const { left, bottom, right, top } = box;
  if (background || 2 * borderWidth >= Math.min(right - left, top - bottom)) return [wholly(box)];
  if (borderWidth === 0) return [];
  return [
    wholly({ ...box, top: bottom + borderWidth }),
    wholly({ ...box, bottom: top - borderWidth }),
    wholly({ ...box, right: left + borderWidth }),
    wholly({ ...box, left: right - borderWidth }),
  ];
}

/** Returns the areas that an appearance paints, inside the rectangle of its field; the rectangle if they are unknown. */
function paintedAreas(pair: ObjectComparison, number: number, rectangle: Box): readonly Cover[] {
  try {
    const painted = paintedBy(pair.after.pdf, number, rectangle, (steps) => pair.before.spend(steps));
    return painted === undefined ? [wholly(rectangle)] : coversOf(painted.marks).map(within(rectangle));
  } catch (error) {
    if (error instanceof UnreadableContent) return [wholly(rectangle)];
    throw error;
  }
}

const within =
  ({ left, bottom, right, top }: Box) =>
  (cover: Cover): Cover => ({
    ...cover,
    box: {
      left: Math.max(left, cover.box.left),
      bottom: Math.max(bottom, cover.box.bottom),
      right: Math.min(right, cover.box.right),
      top: Math.min(top, cover.box.top),
    },
  });

function isAsBefore(pair: ObjectComparison, { dict }: SurveyedField, number: number): boolean {
  const before = streamsOf(pair.before.pdf, dict.get('AP')) ?? [];
  return before.includes(number) && isUnchanged(pair, number);
}

function isUnchanged(pair: ObjectComparison, number: number): boolean {
  return (
    pair.before.has(number) &&
    changedObjectsBelow(pair, [{ numbers: [number], place: '' }], () => false).length === 0
  );
}

function judgeStream(
  pair: ObjectComparison,
  field: SurveyedField,
  { dict, number, pages, isSigned = false }: FieldStream & { readonly isSigned?: boolean },
): AppearanceJudgement {
  const { pdf } = pair.after;
  const rectangle = boxOf(pdf, dict.get('Rect'));
  if (rectangle === undefined) return forbids('has no place');
  let painted: ReturnType<typeof paintedBy>;
  try {
    painted = paintedBy(pdf, number, rectangle, (steps) => pair.before.spend(steps));
  } catch (error) {
    if (!(error instanceof UnreadableContent)) throw error;
    return leavesOpen(
      error instanceof UnmeasuredFont ? `shows ${error.message}` : `cannot be read (${error.message})`,
    );
  }
  if (painted === undefined) return leavesOpen('has no extent');
  const { marks, unsupported } = painted;
  const open = leavesOpen(`has ${unsupported}`);
  if (isSigned && unsupported !== undefined) return open;
  const judged = judgeMarks(pair, field, { dict, number, pages, isSigned, marks, rectangle });
  return judged.status === 'forbidden' || unsupported === undefined ? judged : open;
}

/** Judges what a look paints as far as it is read: what is proven fails, whatever else is in it. */
function judgeMarks(
  pair: ObjectComparison,
  field: SurveyedField,
  {
    dict,
    number,
    pages,
    isSigned,
    marks,
    rectangle,
  }: FieldStream & { readonly isSigned: boolean; readonly marks: readonly Mark[]; readonly rectangle: Box },
): AppearanceJudgement {
  const { pdf } = pair.after;
  const paths = judgePaths(field, marks, rectangle, lineLimit(pair, dict));
  if (paths !== undefined) return forbids(paths);
  const hidden = judgeCovers(pair, field, { marks, rectangle, pages });
  if (hidden.status === 'forbidden') return hidden;
  const isShown = shownStream(pdf, dict) === number;
  const shown =
    field.type === 'Btn'
      ? judgeButton(marks, rectangle, isSigned, isShown ? asName(pdf.resolve(dict.get('AS'))) : undefined)
      : judgeText(pair, field, { dict, marks, rectangle, pages });
  return shown.status === 'faithful' ? hidden : shown;
}

/** Returns the most lines: a text field with combs has one between each two characters. */
function lineLimit(pair: ObjectComparison, dict: PdfDict): number {
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
  if (!isButton && paths.some((mark) => !mark.isRectilinear && !isSideOfFrame(mark, rectangle)))
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
  return clip !== undefined && contains(clip, rectangle, 0.01) === false && contains(rectangle, clip, SLACK);
}

/** Checks what all marks together cover: the text as well, for any glyph can be large and white. */
function judgeCovers(
  pair: ObjectComparison,
  field: SurveyedField,
  {
    marks,
    rectangle,
    pages,
  }: { readonly marks: readonly Mark[]; readonly rectangle: Box; readonly pages: Pages },
): AppearanceJudgement {
  const old = areasBefore(pair, field, rectangle);
  const isOld = (box: Box): boolean =>
    old.some((known) => contains(known, box, Math.min(1, thicknessOf(known))));
  const painted = marks.reduce((sum, { covers }) => sum + covers.length, 0);
  pair.before.spend((old.length * painted) / AREAS_PER_STEP);
  const fresh = marks.flatMap((mark) =>
    coversOf([mark])
      .filter(({ box }) => !isOld(box))
      .map((cover) => ({ ...cover, isFrame: isFrame(mark, cover.box, rectangle) })),
  );
  const cells = combCells(pair, field);
  const lines = marks
    .filter(({ kind }) => kind !== 'text')
    .flatMap(({ covers }) => covers)
    .filter((box) => !isOld(box));
  const rest =
    field.type !== 'Btn' && lines.some((box) => isShortLine(box, rectangle, cells))
      ? leavesOpen('draws lines that could be characters')
      : FAITHFUL;
  if (fresh.length === 0) return rest;
  if (pages === undefined) {
    const isFilled = fresh.some((cover) => !cover.isText && !cover.isFrame);
    return isFilled ? leavesOpen('fills a rectangle on no page that lists the field') : rest;
  }
  const covered = coveredOnAny(pair, pages, field.number, { covers: fresh });
  if (covered === 'content') return forbids('hides what was there');
  if (covered === 'image') return leavesOpen('covers a part of a picture');
  if (covered === 'nothing') return rest;
  return leavesOpen('covers a place, and whether something was there cannot be told');
}

/** True for a thin dark line along the edge of a field. */
function isFrame({ kind, lightness }: Mark, box: Box, rectangle: Box): boolean {
  if (kind === 'text' || lightness === undefined || lightness > DARK) return false;
  const near = (one: number, other: number): boolean => Math.abs(one - other) <= SLACK + THIN;
  const isUpright =
    box.right - box.left <= THIN && (near(box.left, rectangle.left) || near(box.right, rectangle.right));
  const isLevel =
    box.top - box.bottom <= THIN && (near(box.bottom, rectangle.bottom) || near(box.top, rectangle.top));
  return isUpright || isLevel;
}

/** Part of the field that the lines of a frame and of a table extend over. */
const LONG_LINE = 0.8;

/** Largest distance of a line of a comb from the limit of two cells, in cells. */
const COMB_SLACK = 0.1;

/** True for a line that is no part of a frame: a dash, or a stroke of a digit. Combs have lines between their cells. */
function isShortLine({ left, bottom, right, top }: Box, rectangle: Box, cells: number): boolean {
  const width = right - left;
  const height = top - bottom;
  if (width > THIN && height > THIN) return false;
  if (width >= height) return width < LONG_LINE * (rectangle.right - rectangle.left);
  const cell = (((left + right) / 2 - rectangle.left) / (rectangle.right - rectangle.left)) * cells;
  if (cells > 0 && Math.abs(cell - Math.round(cell)) <= COMB_SLACK) return false;
  return height < LONG_LINE * (rectangle.top - rectangle.bottom);
}

/** Returns the number of cells of a text field with combs; 0 for any other field. */
function combCells({ after: { pdf } }: ObjectComparison, { dict }: SurveyedField): number {
  const flags = asInteger(pdf.resolve(inheritedByField(pdf, dict, 'Ff'))) ?? 0;
  return (flags & COMB) === 0 ? 0 : (asInteger(pdf.resolve(inheritedByField(pdf, dict, 'MaxLen'))) ?? 0);
}

/** Steps for looking at one page, besides those for its content. */
const STEPS_PER_PAGE = 50;

export const WORST: readonly Covered[] = ['nothing', 'unknown', 'image', 'look', 'content'];

/** Returns the worst of all pages: a widget can be listed by several. */
function coveredOnAny(
  pair: ObjectComparison,
  pages: ReadonlySet<SurveyedPage>,
  number: number,
  what: { readonly covers: readonly Cover[]; readonly signs?: boolean },
): Covered {
  let worst: Covered = 'nothing';
  const own = widgetsOf(pair.before.pdf, number);
  for (const page of pages) {
    pair.before.spend(STEPS_PER_PAGE);
    const covered = coveredOn(pair.before.pdf, page, {
      own,
      ...what,
      spend: (steps) => pair.before.spend(steps),
    });
    if (WORST.indexOf(covered) > WORST.indexOf(worst)) worst = covered;
  }
  return worst;
}

/** Returns the numbers of all widgets of the field with this widget. */
function widgetsOf(pdf: PdfDocument, number: number): readonly number[] {
  const dict = pdf.dict(pdf.object(number));
  const parent = dict?.get('T') === undefined ? pdf.dict(dict?.get('Parent')) : undefined;
  return [number, ...referencesIn(pdf.resolve((parent ?? dict)?.get('Kids')))];
}

/** Returns the boxes and lines that the field painted before; content below them was already hidden. */
function areasBefore(pair: ObjectComparison, { dict }: SurveyedField, rectangle: Box): Box[] {
  const { pdf } = pair.before;
  if (isUnseen(pdf, dict) || dict.get('OC') !== undefined) return [];
  const [number, ...more] = streamsOf(pdf, dict.get('AP')) ?? [];
  if (number === undefined || more.length > 0) return [];
  try {
    const painted = paintedBy(pdf, number, rectangle, (steps) => pair.before.spend(steps));
    if (painted === undefined || painted.unsupported !== undefined) return [];
    return painted.marks.flatMap(({ kind, hides, box, covers, alpha, blend, isConditional }) => {
      if (hides) return [box];
      const isWhole = alpha === 1 && blend === 'Normal' && !isConditional;
      return kind === 'stroke' && isWhole ? covers : [];
    });
  } catch (error) {
    if (error instanceof UnreadableContent) return [];
    throw error;
  }
}

function judgeText(
  pair: ObjectComparison,
  { type }: SurveyedField,
  {
    dict,
    marks,
    rectangle,
    pages,
  }: {
    readonly dict: PdfDict;
    readonly marks: readonly Mark[];
    readonly rectangle: Box;
    readonly pages: Pages;
  },
): AppearanceJudgement {
  const { pdf } = pair.after;
  const shown = marks.flatMap(({ text }) => text ?? []);
  const fault = shown.find(({ fontFault }) => fontFault !== undefined)?.fontFault;
  if (fault !== undefined) return forbids(fault);
  const value = fieldValue(pdf, dict);
  const isRightToLeft = (value.texts?.[0] ?? '').search(/[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/) >= 0;
  // Latin encodings have no codes for such a value: programs use those of fonts that readers have.
  if (!isRightToLeft && shown.some(({ text, embedded }) => text === undefined && !embedded))
    return forbids('shows a text that cannot be read');
  if (shown.some(({ text }) => text === undefined))
    return leavesOpen('shows a text that cannot be read by its font');
  const plain = shown.map((one) => one.text).join('');
  if (type === 'Btn') return plain.trim() === '' ? FAITHFUL : forbids('shows a text');
  const [page] = pages ?? [];
  const spend = (steps: number): void => pair.before.spend(steps);
  const below = page === undefined ? undefined : pageMarks(pair.before.pdf, page, spend).content;
  const ownTurn = asInteger(pdf.resolve(pdf.dict(dict.get('MK'))?.get('R')));
  const pageTurn = page === undefined ? 0 : rotationOf(pdf, page.dict);
  const isTurned = ownTurn === 180 || Math.abs(pageTurn % 360) === 180;
  const read = readText(marks, below, isTurned, spend);
  if ('fault' in read) {
    if (!read.isDecided) return leavesOpen(read.fault);
    if (!isRightToLeft || read.isOrder !== true) return forbids(read.fault);
  }
  if (isRightToLeft) {
    if (showsFromRight(marks, value.texts?.[0] ?? '') !== true)
      return leavesOpen('shows a text that runs from right to left, which is not compared');
  } else if (!showsValue('text' in read ? read.text : plain, value)) {
    if (!showsList(plain, value)) return forbids('shows another text than its value');
    if (!marksValue(marks, rectangle, value.texts))
      return leavesOpen('shows the options of a list, and which of them is marked is not compared');
  }
  if (!marks.every((mark) => mark.text === undefined || isNear(mark, rectangle)))
    return leavesOpen('places text outside of its rectangle');
  const isNew = ({ fontNumber }: (typeof shown)[number]): boolean =>
    fontNumber === undefined || !isUnchanged(pair, fontNumber);
  const fresh = shown.filter(isNew).filter(({ text }) => text?.trim() !== '');
  const unknown = fresh.some((one) =>
    one.embedded ? !isKnownFont(pdf, one, plain, value.texts?.[0] ?? '') : !isUsualFont(one.fontName),
  );
  return unknown ? leavesOpen('brought a font, whose shapes are not compared with its characters') : FAITHFUL;
}

/** True when the glyphs of an embedded font have the shapes of the bundled one. */
function isKnownFont(
  pdf: PdfDocument,
  { fontNumber, glyphs }: NonNullable<Mark['text']>,
  shown: string,
  value: string,
): boolean {
  if (fontNumber === undefined) return false;
  const font = pdf.dict(pdf.object(fontNumber));
  const [descendant] = items(pdf.resolve(font?.get('DescendantFonts')));
  const dict = pdf.dict(descendant);
  if (asName(pdf.resolve(dict?.get('CIDToGIDMap'))) !== 'Identity') return false;
  const file = pdf.stream(pdf.dict(dict?.get('FontDescriptor'))?.get('FontFile2'));
  const used = glyphs.map(({ code, text }) => ({ glyph: code, text: text ?? '' }));
  return file !== undefined && hasKnownShapes(file, used, `${value}\n${shown}`);
}

function isNear({ text }: Mark, rectangle: Box): boolean {
  const [x, y] = text?.at ?? [0, 0];
  return contains(rectangle, { left: x, right: x, bottom: y, top: y }, SLACK);
}
