/** Finds content of a page that a later fill would cover: text, images, drawings and annotations. */
import {
  asInteger,
  asReference,
  type ByteSlice,
  isArray,
  items,
  type PdfDict,
  type PdfDocument,
} from '../../pdf/index.ts';
import { ContentReader } from '../painting/content-reader.ts';
import { type Box, boxOf, contains, overlaps } from '../painting/geometry.ts';
import { type Mark, THIN, UnreadableContent } from '../painting/painted-marks.ts';
import type { SurveyedPage } from './survey.ts';

/** `Hidden` and `NoView` (ISO 32000-2, table 167). */
const HIDDEN_FLAGS = 2 | 32;

/** Most nodes between a page and the root of the page tree. */
const MAX_DEPTH = 50;
const MAX_STREAMS = 1000;
const MAX_ANNOTATIONS = 2000;

export type Covered = 'nothing' | 'content' | 'unknown';

/**
 * Returns the content of the page that one of the boxes would cover.
 * @param own number of the changed widget
 * @param boxes in page space
 */
export function coveredOn(
  pdf: PdfDocument,
  page: SurveyedPage,
  own: number,
  boxes: readonly Box[],
  spend: (steps: number) => void,
): Covered {
  if (otherAnnotations(pdf, page, own).some((rectangle) => boxes.some((box) => overlaps(box, rectangle))))
    return 'content';
  try {
    const list = page.dict.get('Contents');
    const value = pdf.resolve(list);
    const streams = isArray(value) ? [...items(value)] : list === undefined ? [] : [list];
    if (streams.length > MAX_STREAMS) return 'unknown';
    const { marks, unsupported } = new ContentReader(pdf, spend).content(
      streams,
      resourcesOf(pdf, page.dict),
    );
    if (marks.some((mark) => boxes.some((box) => isHidden(mark, box)))) return 'content';
    return unsupported === undefined ? 'nothing' : 'unknown';
  } catch (error) {
    if (error instanceof UnreadableContent) return 'unknown';
    throw error;
  }
}

function isHidden({ kind, box, isRectilinear, text }: Mark, cover: Box): boolean {
  if (!overlaps(box, cover)) return false;
  if (kind === 'text') return text?.text?.trim() !== '';
  if (kind === 'image') return true;
  const { left, bottom, right, top } = box;
  if (Math.min(right - left, top - bottom) <= THIN) return false;
  // A box around the cover, filled or stroked, is its background or its border.
  return !(isRectilinear && contains(box, cover, THIN));
}

/** Returns the rectangles of the visible annotations of a page. */
function otherAnnotations(pdf: PdfDocument, page: SurveyedPage, own: number): Box[] {
  const found: Box[] = [];
  for (const item of items(pdf.resolve(page.dict.get('Annots')))) {
    if (asReference(item)?.number === own || found.length > MAX_ANNOTATIONS) continue;
    const dict = pdf.dict(item);
    const unseen = (asInteger(pdf.resolve(dict?.get('F'))) ?? 0) & HIDDEN_FLAGS;
    const rectangle = boxOf(pdf, dict?.get('Rect'));
    if (rectangle !== undefined && unseen === 0 && dict?.get('AP') !== undefined) found.push(rectangle);
  }
  return found;
}

/** Returns the resources of a page, its own or those of an ancestor. */
function resourcesOf(pdf: PdfDocument, page: PdfDict): PdfDict | undefined {
  let node: PdfDict | undefined = page;
  for (let depth = 0; node !== undefined && depth < MAX_DEPTH; depth++) {
    const own: ByteSlice | undefined = node.get('Resources');
    if (own !== undefined) return pdf.dict(own);
    node = pdf.dict(node.get('Parent'));
  }
  return undefined;
}
