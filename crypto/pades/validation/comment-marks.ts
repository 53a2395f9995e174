/**
 * Judges what a comment paints (ISO 32000-2, 12.5.6): its appearance, or what viewers draw without one. A comment may not hide
 * what was signed, nor look like a part of it.
 */
import {
  asName,
  asReference,
  type ByteSlice,
  isNull,
  items,
  type PdfDict,
  type PdfDocument,
} from '../../pdf/index.ts';
import { streamsOf } from '../painting/appearance-streams.ts';
import { lightnessOf } from '../painting/colours.ts';
import {
  AREAS_PER_STEP,
  type Cover,
  type Covered,
  coveredOn,
  coversOf,
} from '../painting/covered-content.ts';
import {
  around,
  type Box,
  boxOf,
  commonArea,
  contains,
  hasOddNumber,
  numberOf,
} from '../painting/geometry.ts';
import { flagsOf, isUnseen, NO_ROTATE, paintedBy, rotationOf } from '../painting/page-marks.ts';
import { type Mark, type PaintedContent, THIN, UnreadableContent } from '../painting/painted-marks.ts';
import type { ObjectComparison } from './object-comparison.ts';
import type { SurveyedPage } from './survey.ts';

/**
 * Closed table of the kinds of annotations (ISO 32000-2, table 171), by what adding, changing or removing one may be:
 *
 * - `comment`: marks content without replacing it, where its look holds
 * - `window`: the same, and can be open over what was signed
 * - `file`: the same, and brings a file
 * - `refused`: can cover certified content or imitate it, does something, or is no comment; so is a kind without a row
 */
type AnnotationKind = 'comment' | 'window' | 'file' | 'refused';

export const ANNOTATION_KINDS: Readonly<Record<string, AnnotationKind>> = {
  Text: 'window',
  Link: 'refused',
  FreeText: 'refused',
  Line: 'refused',
  Square: 'refused',
  Circle: 'refused',
  Polygon: 'refused',
  PolyLine: 'refused',
  Highlight: 'comment',
  Underline: 'comment',
  Squiggly: 'comment',
  StrikeOut: 'comment',
  Caret: 'comment',
  Stamp: 'refused',
  Ink: 'refused',
  Popup: 'window',
  FileAttachment: 'file',
  Sound: 'refused',
  Movie: 'refused',
  Screen: 'refused',
  // Fields have rules of their own.
  Widget: 'refused',
  PrinterMark: 'refused',
  TrapNet: 'refused',
  Watermark: 'refused',
  '3D': 'refused',
  Redact: 'refused',
  Projection: 'refused',
  RichMedia: 'refused',
};

export function annotationKind(type: string): AnnotationKind {
  return Object.hasOwn(ANNOTATION_KINDS, type) ? (ANNOTATION_KINDS[type] ?? 'refused') : 'refused';
}

export const isComment = (type: string): boolean => annotationKind(type) !== 'refused';

/** `absent`: it has no appearance of its own. `marks`: the same, and viewers mark a text by it. `writes`: it shows text or pictures. */
export type CommentLook =
  | { readonly look: 'absent' | 'marks' | 'drawn' | 'hides' | 'writes' }
  /** `reason` completes `added an annotation, which …`. */
  | { readonly look: 'undecided'; readonly reason: string };

const NO_ZOOM = 8;
/** Entries of a comment that lead to other objects, or that are judged on their own. */
const LED_ELSEWHERE: ReadonlySet<string> = new Set('P Parent Popup IRT AP FS OC'.split(' '));
/** Notes, which viewers show by a symbol. */
const SYMBOLS: ReadonlySet<string> = new Set(['Text', 'FileAttachment']);
const LINES: ReadonlySet<string> = new Set(['Underline', 'StrikeOut', 'Squiggly']);
/** Comments that all viewers draw without an appearance. */
const MARKUP: ReadonlySet<string> = new Set([...LINES, 'Highlight']);
/** Thickness of a line of a comment, as a part of the height of the text that it marks, and in units of the page. */
const LINE_PART = 0.2;
const MAX_LINE = 6;
/** Part of the height of a text that all lines of a comment together extend over. */
const ALL_LINES_PART = 0.3;
/** Thickness that viewers give to a line without a width, as a part of the height. */
const USUAL_LINE = 1 / 12;
/** Lightness up to which a line is ink and no eraser. */
const DARK = 0.75;
/** Extent of a round end, as a part of the height. */
const ROUND_END = 0.2;
/** Width and height of the symbol that viewers draw for a note, whatever its rectangle. */
const SYMBOL = 25;
const SYMBOL_MARGIN = 1;
/** Half of the width of a symbol in the middle of its rectangle. */
const MIDDLE_SYMBOL = 10;
const BESIDE_TEXT = 'draws beside a text, and may read as a part of it';
/** Least part of the marked text that a mark of a highlight or a line extends over. */
const WHOLE = 0.6;
const MARGIN = 3;
/** Distance at which a drawing reads as a part of a text, in units of the page. */
const BESIDE = 8;

/** Area of a marked text. */
interface Marked extends Box {
  /** True for a text that runs upwards or downwards. */
  readonly isUpright: boolean;
}

/** @throws PdfSyntaxError; WorkBudgetExceeded */
export function commentLook(
  pair: ObjectComparison,
  state: 'before' | 'after',
  slice: ByteSlice,
  page: SurveyedPage,
): CommentLook {
  const { pdf } = pair[state];
  const dict = pdf.dict(slice);
  const type = typeOf(pdf, dict);
  const own = asReference(slice)?.number ?? -1;
  if (dict === undefined || isUnseen(pdf, dict)) return { look: 'absent' };
  // Viewers draw the window of a comment on their own, and some an appearance of it.
  if (type === 'Popup' && dict.get('AP') === undefined) return { look: 'absent' };
  if (hasOddNumber(pdf, dict, LED_ELSEWHERE))
    return { look: 'undecided', reason: 'has a number that programs read in different ways' };
  if (boxOf(pdf, dict.get('Rect')) === undefined || hasOddQuads(pdf, dict))
    return { look: 'undecided', reason: 'has no place that all programs read alike' };
  const spend = (steps: number): void => pair.before.spend(steps);
  const covered = (covers: readonly Cover[]) =>
    coveredOn(pair.before.pdf, page, { own: [own], covers, spend });
  const look = lookOf(pair, state, dict);
  const drawn = look?.marks;
  if (state === 'after' && drawn?.some(({ kind }) => kind === 'text' || kind === 'image') === true)
    return { look: 'writes' };
  if (isUnsteady(pdf, dict, page) && !(SYMBOLS.has(type) && covered(placesOf(pdf, dict)) === 'nothing'))
    return { look: 'undecided', reason: 'does not keep its place on the page' };
  const areas = boxesOf(pdf, dict);
  const painted = (drawn ?? []).reduce((sum, mark) => sum + mark.covers.length, 0);
  spend((painted * areas.length) / AREAS_PER_STEP);
  const covers = [
    ...(drawn === undefined ? viewerCovers(pdf, dict, type, areas) : drawnCovers(drawn, type, areas)),
    ...(type === 'Highlight' && drawn?.some(({ blend }) => blend === 'Multiply') === false
      ? redrawnCovers(pdf, dict, areas)
      : []),
  ];
  const isMarking = covers.every(({ isStroke }) => isStroke === true);
  const others = state === 'after' && !isMarking ? otherCovers(pair, page, own) : [];
  const found = covers.length === 0 ? 'nothing' : covered([...covers, ...others]);
  if (found === 'content') return { look: 'hides' };
  if (found !== 'nothing')
    return { look: 'undecided', reason: 'lies over something that is not compared with it' };
  if (LINES.has(type) && areas.some((area) => isDash(area, covered)))
    return { look: 'undecided', reason: BESIDE_TEXT };
  const isLayered = state === 'after' && dict.get('OC') !== undefined;
  const unsure = isLayered ? 'optional content' : look?.unsupported;
  if (unsure !== undefined && (state === 'after' || drawn?.length === 0))
    return { look: 'undecided', reason: `has ${unsure}` };
  if (drawn === undefined)
    return MARKUP.has(type) && covered(areas.map((box) => ({ box, remains: 0, isText: false }))) !== 'nothing'
      ? { look: 'marks' }
      : { look: 'absent' };
  if (!isOfItsKind(drawn, type, areas))
    return { look: 'undecided', reason: 'draws more than its kind of comment' };
  const isSymbol = type !== 'Highlight' && !LINES.has(type);
  const beside = drawn.flatMap(({ covers: boxes }) =>
    boxes.map((box) => ({ box: wider(box), remains: 0, isText: false })),
  );
  return isSymbol && covered(beside) === 'content'
    ? { look: 'undecided', reason: BESIDE_TEXT }
    : { look: 'drawn' };
}

/** True when the window of a comment is open over something of the page (12.5.6.14), or at a place that is not known. */
export function opensWindow(pair: ObjectComparison, slice: ByteSlice, page: SurveyedPage): boolean {
  const { pdf } = pair.after;
  const dict = pdf.dict(slice);
  if (dict === undefined || annotationKind(typeOf(pdf, dict)) !== 'window') return false;
  if (isUnseen(pdf, dict) || !isOpen(pdf, dict.get('Open'))) return false;
  const window = typeOf(pdf, dict) === 'Popup' ? dict : pdf.dict(dict.get('Popup'));
  const box = boxOf(pdf, window?.get('Rect'));
  if (box === undefined) return true;
  const own = asReference(slice)?.number ?? -1;
  const spend = (steps: number): void => pair.before.spend(steps);
  return (
    coveredOn(pair.before.pdf, page, { own: [own], covers: [{ box, remains: 0, isText: false }], spend }) !==
    'nothing'
  );
}

function isOpen(pdf: PdfDocument, written: ByteSlice | undefined): boolean {
  if (written === undefined || isNull(pdf.resolve(written))) return false;
  const { bytes, start, end } = pdf.resolve(written);
  return bytes.toString('latin1', start, end) !== 'false';
}

/** True for a line that marks no text, and stands beside one: it reads as a dash. */
function isDash(area: Box, covered: (covers: readonly Cover[]) => Covered): boolean {
  const within = { box: area, remains: 0, isText: false };
  return covered([within]) === 'nothing' && covered([{ ...within, box: wider(area) }]) === 'content';
}

const wider = ({ left, right, ...box }: Box): Box => ({ ...box, left: left - BESIDE, right: right + BESIDE });

function typeOf(pdf: PdfDocument, dict: PdfDict | undefined): string {
  return asName(pdf.resolve(dict?.get('Subtype'))) ?? '';
}

/**
 * True when a comment is not turned with its page, or keeps its size at any zoom, so that its place depends on the viewer
 * (`NoZoom` and `NoRotate`, table 167). Symbols of notes are like that.
 */
function isUnsteady(pdf: PdfDocument, dict: PdfDict, page: SurveyedPage): boolean {
  const flags = flagsOf(pdf, dict);
  const isTurned = rotationOf(pdf, page.dict) % 360 !== 0;
  return (
    ((flags & NO_ZOOM) !== 0 && !SYMBOLS.has(typeOf(pdf, dict))) || ((flags & NO_ROTATE) !== 0 && isTurned)
  );
}

/** Returns the places that a note may take which turns around its upper left corner. */
function placesOf(pdf: PdfDocument, dict: PdfDict): readonly Cover[] {
  const rectangle = boxOf(pdf, dict.get('Rect'));
  if (rectangle === undefined) return [];
  const { left, bottom, right, top } = rectangle;
  const reach = Math.max(SYMBOL, Math.hypot(right - left, top - bottom)) + SYMBOL_MARGIN;
  const box = { left: left - reach, bottom: top - reach, right: left + reach, top: top + reach };
  return [{ box, remains: 0, isText: false }];
}

/** Returns what all appearances paint; undefined for a comment without one. */
function lookOf(
  pair: ObjectComparison,
  state: 'before' | 'after',
  dict: PdfDict,
): PaintedContent | undefined {
  const { pdf } = pair[state];
  const streams = streamsOf(pdf, dict.get('AP')) ?? [];
  const rectangle = boxOf(pdf, dict.get('Rect'));
  if (streams.length === 0) return undefined;
  if (rectangle === undefined) return { marks: [], unsupported: 'an appearance without a place' };
  try {
    const looks = [...new Set(streams)].map(
      (number) =>
        paintedBy(pdf, number, rectangle, (steps) => pair.before.spend(steps)) ?? {
          marks: [],
          unsupported: 'an appearance without an extent',
        },
    );
    const [unsupported] = looks.flatMap((look) => look.unsupported ?? []);
    return { marks: looks.flatMap(({ marks }) => marks), unsupported };
  } catch (error) {
    if (!(error instanceof UnreadableContent)) throw error;
    return { marks: [], unsupported: `an appearance that cannot be read (${error.message})` };
  }
}

/** True for a list of corners that is none of whole areas: programs take other corners from it. */
function hasOddQuads(pdf: PdfDocument, dict: PdfDict): boolean {
  const numbers = [...items(pdf.resolve(dict.get('QuadPoints')))];
  return numbers.length % 8 !== 0 || numbers.some((item) => numberOf(pdf.resolve(item)) === undefined);
}

/** Returns the boxes around the marked texts; its rectangle without any. */
function boxesOf(pdf: PdfDocument, dict: PdfDict): readonly Marked[] {
  const numbers = [...items(pdf.resolve(dict.get('QuadPoints')))].map(
    (item) => numberOf(pdf.resolve(item)) ?? Number.NaN,
  );
  const boxes: Marked[] = [];
  for (let at = 0; at + 8 <= numbers.length; at += 8) {
    const xs = [0, 2, 4, 6].map((step) => numbers[at + step] ?? Number.NaN);
    const ys = [1, 3, 5, 7].map((step) => numbers[at + step] ?? Number.NaN);
    boxes.push({
      left: Math.min(...xs),
      right: Math.max(...xs),
      bottom: Math.min(...ys),
      top: Math.max(...ys),
      // Viewers take the first two points for one side of the text.
      isUpright: Math.abs((ys[1] ?? 0) - (ys[0] ?? 0)) > Math.abs((xs[1] ?? 0) - (xs[0] ?? 0)),
    });
  }
  const rectangle = boxOf(pdf, dict.get('Rect'));
  return boxes.length > 0 || rectangle === undefined ? boxes : [{ ...rectangle, isUpright: false }];
}

/** Areas that viewers paint for a comment without an appearance. */
function viewerCovers(
  pdf: PdfDocument,
  dict: PdfDict,
  type: string,
  areas: readonly Marked[],
): readonly Cover[] {
  const { lightness, alpha } = inkOf(pdf, dict);
  const cover = (box: Box, remains: number): Cover => ({ box, remains, isText: false });
  // With an opacity, some viewers paint a highlight over the text and do not multiply.
  const remains = alpha < 1 ? Math.min(1 - alpha, lightness) : lightness;
  if (type === 'Highlight') return areas.map((box) => cover(withEnds(box), remains));
  if (LINES.has(type)) {
    const border = [...items(pdf.resolve(dict.get('Border')))].map((item) => numberOf(pdf.resolve(item)));
    const width = numberOf(pdf.resolve(pdf.dict(dict.get('BS'))?.get('W'))) ?? border[2];
    return areas.flatMap(({ isUpright, ...box }) => {
      const [low, high] = isUpright ? [box.left, box.right] : [box.bottom, box.top];
      const thickness = Math.max(width ?? 0, USUAL_LINE * (high - low));
      const isStroke = thickness <= lineLimit(high - low) && lightness <= DARK;
      const places = type === 'StrikeOut' ? [(low + high) / 2] : isUpright ? [low, high] : [low];
      return places.map((middle) => {
        const from = middle - thickness / 2;
        const to = middle + thickness / 2;
        const line = isUpright ? { ...box, left: from, right: to } : { ...box, bottom: from, top: to };
        return { ...cover(line, 1 - alpha), isStroke };
      });
    });
  }
  const rectangle = boxOf(pdf, dict.get('Rect'));
  if (rectangle === undefined) return [];
  const { left, bottom, right, top } = rectangle;
  const symbol = {
    left: left - SYMBOL_MARGIN,
    top: top + SYMBOL_MARGIN,
    right: left + SYMBOL,
    bottom: top - SYMBOL,
  };
  // Some programs draw it in the middle, and a caret as large as its rectangle.
  const x = (left + right) / 2;
  const y = (bottom + top) / 2;
  const middle = {
    left: x - MIDDLE_SYMBOL,
    right: x + MIDDLE_SYMBOL,
    bottom: y - MIDDLE_SYMBOL,
    top: y + MIDDLE_SYMBOL,
  };
  return [cover(symbol, 0), cover(type === 'Caret' ? rectangle : middle, 0)];
}

/** Areas of a highlight that some programs draw themselves, where its look does not multiply. */
function redrawnCovers(pdf: PdfDocument, dict: PdfDict, areas: readonly Marked[]): readonly Cover[] {
  const { lightness, alpha } = inkOf(pdf, dict);
  return areas.map((box) => ({
    box: withEnds(box),
    remains: 1 - alpha + alpha * lightness,
    isText: false,
  }));
}

/** Colour and opacity with which viewers draw a comment. */
function inkOf(pdf: PdfDocument, dict: PdfDict): { readonly lightness: number; readonly alpha: number } {
  const colour = [...items(pdf.resolve(dict.get('C')))].map(
    (item) => numberOf(pdf.resolve(item)) ?? Number.NaN,
  );
  return { lightness: lightnessOf(colour) ?? 0, alpha: numberOf(pdf.resolve(dict.get('CA'))) ?? 1 };
}

/** Adds the round ends that some viewers give to a highlight. */
function withEnds({ left, bottom, right, top }: Box): Box {
  const end = ROUND_END * (top - bottom);
  return { left: left - end, bottom, right: right + end, top };
}

/** The marked area may be as high as a page. */
const lineLimit = (height: number): number => Math.min(MAX_LINE, Math.max(THIN, LINE_PART * height));

/** Areas of an appearance; the thin dark lines along a text are the purpose of a comment. */
function drawnCovers(marks: readonly Mark[], type: string, areas: readonly Box[]): readonly Cover[] {
  if (!LINES.has(type)) return coversOf(marks);
  const isLine = ({ lightness }: Mark, box: Box): boolean =>
    lightness !== undefined && lightness <= DARK && areas.some((area) => isAlong(box, area));
  const lines = marks.flatMap((mark) => mark.covers.filter((box) => isLine(mark, box)));
  if (areas.some((area) => hidesWith(lines, area))) return coversOf(marks);
  return marks.flatMap((mark) =>
    coversOf([mark]).map((cover) => ({ ...cover, isStroke: isLine(mark, cover.box) })),
  );
}

/** True for a box no thicker than a line along the marked text, which may run upwards where the area is tall. */
function isAlong(box: Box, area: Box): boolean {
  const width = area.right - area.left;
  const height = area.top - area.bottom;
  return (
    box.top - box.bottom <= lineLimit(height) || (height > width && box.right - box.left <= lineLimit(width))
  );
}

/** True when lines are at too much of the height of the marked text, or of its width where it runs upwards. */
function hidesWith(lines: readonly Box[], area: Box): boolean {
  const isTall = area.top - area.bottom > area.right - area.left;
  const [low, high] = isTall ? [area.left, area.right] : [area.bottom, area.top];
  const extents = lines
    .filter((box) => commonArea(box, area) > 0)
    .map((box) => (isTall ? ([box.left, box.right] as const) : ([box.bottom, box.top] as const)))
    .sort(([one], [other]) => one - other);
  let length = 0;
  let end = low;
  for (const [from, to] of extents) {
    length += Math.max(0, Math.min(to, high) - Math.max(from, end));
    end = Math.max(end, to);
  }
  return length > ALL_LINES_PART * (high - low);
}

/** Returns the areas of the other highlights of the page, through which a text is seen. */
function otherCovers(pair: ObjectComparison, page: SurveyedPage, own: number): readonly Cover[] {
  const { pdf } = pair.after;
  const dict = page.number === undefined ? page.dict : (pdf.dict(pdf.object(page.number)) ?? page.dict);
  const found: Cover[] = [];
  for (const item of items(pdf.resolve(dict.get('Annots')))) {
    const other = pdf.dict(item);
    if (other === undefined || asReference(item)?.number === own || found.length > MAX_OTHERS) continue;
    if (typeOf(pdf, other) !== 'Highlight' || isUnseen(pdf, other)) continue;
    const marks = lookOf(pair, 'after', other)?.marks;
    const areas = boxesOf(pdf, other);
    found.push(...(marks === undefined ? viewerCovers(pdf, other, 'Highlight', areas) : coversOf(marks)));
  }
  return found.filter(({ remains }) => remains > 0 && remains < 1);
}

const MAX_OTHERS = 2000;

/** True when each mark of a highlight or a line extends over a marked text, and none lies elsewhere. */
function isOfItsKind(marks: readonly Mark[], type: string, areas: readonly Box[]): boolean {
  if (type !== 'Highlight' && !LINES.has(type)) return true;
  const [first, ...more] = areas;
  if (first === undefined) return marks.length === 0;
  const whole = more.reduce(around, first);
  return marks.every(({ box, covers }) => {
    const extent = covers.reduce(around, covers[0] ?? box);
    return areas.some((area) => {
      const width = area.right - area.left;
      const height = area.top - area.bottom;
      const isWide =
        extent.right - extent.left >= WHOLE * Math.max(width, height) ||
        extent.top - extent.bottom >= WHOLE * Math.max(width, height);
      return isWide && contains(whole, box, MARGIN + height / 2);
    });
  });
}
