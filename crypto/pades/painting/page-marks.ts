/** Reads the marks of a page before a change: those of its content, and of the annotations above it. */
import {
  asDict,
  asName,
  asReference,
  asText,
  type ByteSlice,
  entriesOf,
  inheritedByField,
  isArray,
  items,
  type PdfDict,
  type PdfDocument,
} from '../../pdf/index.ts';
import { referenceTo, streamsOf } from './appearance-streams.ts';
import { ContentReader } from './content-reader.ts';
import { type Box, boxOf, fitting, IDENTITY, matrixOf, numberOf, transformed } from './geometry.ts';
import { type Mark, type PaintedContent, UnreadableContent } from './painted-marks.ts';

/** `Hidden`, `Print` and `NoView` (ISO 32000-2, table 167). */
const HIDDEN = 2;
const PRINT = 4;
const NO_VIEW = 32;
const MAX_DIGITS = 9;
/** An annotation that is not turned with its page. */
export const NO_ROTATE = 16;
/** Most nodes between a page and the root of the page tree. */
const MAX_DEPTH = 50;
const MAX_STREAMS = 1000;
const MAX_ANNOTATIONS = 2000;

export interface PaintedPage {
  readonly dict: PdfDict;
}

interface VisibleAnnotation {
  readonly number: number | undefined;
  readonly type: string;
  readonly rectangle: Box;
  /** Marks of its appearance; undefined without one, and for one that cannot be read. */
  readonly marks: readonly Mark[] | undefined;
  /** True for a field whose appearance leaves its value to the viewer. */
  readonly isDrawnByViewer: boolean;
  /** True for the look of a signature. */
  readonly isSignature: boolean;
}

export interface PageMarks {
  /** Undefined for content that cannot be read. */
  readonly content: readonly Mark[] | undefined;
  readonly annotations: readonly VisibleAnnotation[];
}

/** Returns the flags of an annotation; 0 for what is no plain number, of which some programs make none. */
export function flagsOf(pdf: PdfDocument, annotation: PdfDict | undefined): number {
  const { bytes, start, end } = pdf.resolve(annotation?.get('F'));
  const text = bytes.toString('latin1', start, Math.min(end, start + MAX_DIGITS + 1));
  return /^\d+$/.test(text) && text.length <= MAX_DIGITS ? Number(text) : 0;
}

/** True for an annotation that is neither shown nor printed. */
export function isUnseen(pdf: PdfDocument, annotation: PdfDict | undefined): boolean {
  const flags = flagsOf(pdf, annotation);
  return (flags & HIDDEN) !== 0 || (flags & (NO_VIEW | PRINT)) === NO_VIEW;
}

const KNOWN = new WeakMap<PdfDocument, Map<PaintedPage, PageMarks>>();

/** Reads a page once for each state of the document. @throws WorkBudgetExceeded */
export function pageMarks(pdf: PdfDocument, page: PaintedPage, spend: (steps: number) => void): PageMarks {
  const known = KNOWN.get(pdf) ?? new Map<PaintedPage, PageMarks>();
  KNOWN.set(pdf, known);
  const marks = known.get(page) ?? {
    content: contentMarks(pdf, page, spend),
    annotations: shownAnnotations(pdf, page.dict, spend),
  };
  known.set(page, marks);
  return marks;
}

function contentMarks(
  pdf: PdfDocument,
  page: PaintedPage,
  spend: (steps: number) => void,
): readonly Mark[] | undefined {
  const list = page.dict.get('Contents');
  const value = pdf.resolve(list);
  const streams = isArray(value) ? [...items(value)] : list === undefined ? [] : [list];
  if (streams.length > MAX_STREAMS || entriesOf(page.dict) === undefined) return undefined;
  try {
    return new ContentReader(pdf, spend).content(streams, resourcesOf(pdf, page.dict)).marks;
  } catch (error) {
    if (error instanceof UnreadableContent) return undefined;
    throw error;
  }
}

/** Returns the visible annotations of a page, in the order in which they are painted. */
function shownAnnotations(
  pdf: PdfDocument,
  page: PdfDict,
  spend: (steps: number) => void,
): VisibleAnnotation[] {
  const found: VisibleAnnotation[] = [];
  for (const item of items(pdf.resolve(page.get('Annots')))) {
    if (found.length > MAX_ANNOTATIONS) break;
    const dict = pdf.dict(item);
    const rectangle = boxOf(pdf, dict?.get('Rect'));
    if (dict === undefined || rectangle === undefined || isUnseen(pdf, dict)) continue;
    const type = asName(pdf.resolve(dict.get('Subtype'))) ?? '';
    const marks = annotationMarks(pdf, dict, rectangle, spend);
    const value = type === 'Widget' ? pdf.resolve(inheritedByField(pdf, dict, 'V')) : undefined;
    const isSignature =
      value !== undefined &&
      asDict(value) !== undefined &&
      asName(pdf.resolve(inheritedByField(pdf, dict, 'FT'))) === 'Sig';
    const isDrawnByViewer =
      (asText(value) ?? '').trim() !== '' && marks?.some(({ kind }) => kind === 'text') !== true;
    found.push({ number: asReference(item)?.number, type, rectangle, marks, isDrawnByViewer, isSignature });
  }
  return found;
}

/** Returns the marks of all appearances of an annotation; undefined without one, and for one that cannot be read. */
function annotationMarks(
  pdf: PdfDocument,
  dict: PdfDict,
  rectangle: Box,
  spend: (steps: number) => void,
): readonly Mark[] | undefined {
  const shown = shownStream(pdf, dict);
  const streams = shown === undefined ? streamsOf(pdf, dict.get('AP')) : [shown];
  if (streams === undefined || streams.length === 0 || entriesOf(dict) === undefined) return undefined;
  try {
    return streams.flatMap((number) => paintedBy(pdf, number, rectangle, spend)?.marks ?? []);
  } catch (error) {
    if (error instanceof UnreadableContent) return undefined;
    throw error;
  }
}

/** Returns the stream that an annotation shows: its normal appearance, or the state of it that /AS selects (12.5.5). */
export function shownStream(pdf: PdfDocument, annotation: PdfDict): number | undefined {
  const normal = pdf.dict(annotation.get('AP'))?.get('N');
  const number = asReference(normal)?.number;
  if (number !== undefined && pdf.plainObject(number)?.data !== undefined) return number;
  const state = asName(pdf.resolve(annotation.get('AS')));
  return state === undefined ? undefined : asReference(pdf.dict(normal)?.get(state))?.number;
}

/**
 * Returns the marks of an appearance in page space (12.5.5, algorithm "appearance streams").
 * @throws UnreadableContent
 */
export function paintedBy(
  pdf: PdfDocument,
  number: number,
  rectangle: Box,
  spend: (steps: number) => void,
): PaintedContent | undefined {
  const slice = referenceTo(number, pdf);
  const form = pdf.dict(slice);
  const box = boxOf(pdf, form?.get('BBox'));
  const matrix = matrixOf(pdf, form?.get('Matrix'));
  if (box === undefined || matrix === undefined) return undefined;
  const from = transformed(matrix, box);
  const hasArea = from.right > from.left && from.top > from.bottom;
  return new ContentReader(pdf, spend).form(slice, hasArea ? fitting(from, rectangle) : IDENTITY);
}

/** Returns the resources of a page, its own or those of an ancestor. */
function resourcesOf(pdf: PdfDocument, page: PdfDict): PdfDict | undefined {
  return pdf.dict(inheritedByPage(pdf, page, 'Resources'));
}

/** Returns the turn of a page in degrees. */
export function rotationOf(pdf: PdfDocument, page: PdfDict): number {
  return numberOf(pdf.resolve(inheritedByPage(pdf, page, 'Rotate'))) ?? 0;
}

function inheritedByPage(pdf: PdfDocument, page: PdfDict, key: string): ByteSlice | undefined {
  let node: PdfDict | undefined = page;
  for (let depth = 0; node !== undefined && depth < MAX_DEPTH; depth++) {
    const own: ByteSlice | undefined = node.get(key);
    if (own !== undefined) return own;
    node = pdf.dict(node.get('Parent'));
  }
  return undefined;
}
