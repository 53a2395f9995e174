/** Finds content of a page that later marks would cover: text, images, drawings and annotations. */

import type { PdfDocument } from '../../pdf/index.ts';
import {
  areaOf,
  areaWithin,
  around,
  type Box,
  commonArea,
  contains,
  overlaps,
  thicknessOf,
} from './geometry.ts';
import { type PaintedPage, pageMarks } from './page-marks.ts';
import { type Mark, THIN } from './painted-marks.ts';
import { widened } from './paths.ts';

/** `image`: only pictures are below, and whether they show something there is not looked at. `look`: so are looks of signatures. */
export type Covered = 'nothing' | 'content' | 'look' | 'image' | 'unknown';

/** An area that a later change paints. */
export interface Cover {
  readonly box: Box;
  /** Part of what is below that stays to be seen, 0 for opaque. */
  readonly remains: number;
  readonly isText: boolean;
  /** True for a line of a frame, which may lie over pictures. */
  readonly isFrame?: boolean;
  /** True for a line that marks a text: it may cross letters, and hides none of them by more than a part. */
  readonly isStroke?: boolean;
}

/** Margin of the extent of a glyph on each side in which lines and fills may lie, as a part of it: the extent is an estimate. */
const MARGIN = 0.1;
/** Parts of a glyph inside of the margin that may be covered: by lines and fills together, and by the estimated ink of text. */
const COVERED_PART = 0.03;
const COVERED_BY_TEXT = 0.08;
/** Least part of a glyph that a transparent area darkens or lightens. */
const TINTED_PART = 0.1;
/** Least part of the lightness between text and paper that has to remain. */
const LEGIBLE = 0.35;
/** The same below a text, and below a line across a glyph, that is too faint to change the glyph. */
const FAINT = 0.9;
const FAINT_LINE = 0.8;
/** Thickness of a line, as a part of the width and the height of the glyph that it crosses; for ink of text, of its length. */
const LINE_PART = 0.5;
const DASH_PART = 0.5;
/** Part of a letter that all lines that mark a text may cover. */
const STRUCK_PART = 0.5;
/** Most lines on one letter whose common area is looked at. */
const MAX_STROKES = 60;
/** Comparisons of areas in one step. */
export const AREAS_PER_STEP = 50;

/** Returns the areas that opaque marks cover. */
export function coversOf(marks: readonly Mark[]): readonly Cover[] {
  return marks.flatMap((mark) => {
    if (mark.alpha === 0) return [];
    const isText = mark.kind === 'text';
    const boxes = mark.kind === 'image' ? [mark.box] : mark.covers;
    return boxes.filter(isReal(mark.clip)).map((box) => ({ box, remains: remainsBelow(mark), isText }));
  });
}

const isReal =
  (clip: Box | undefined) =>
  (box: Box): boolean =>
    !(clip !== undefined && commonArea(clip, box) === 0);

/** Annotations without an appearance that show nothing, or a symbol of the viewer. */
const SYMBOLS: ReadonlySet<string> = new Set(['Widget', 'Link', 'Text', 'FileAttachment']);

/** Part of the lightness between black text and white paper that a mark leaves. */
function remainsBelow({ alpha, blend, lightness }: Mark): number {
  if (blend === 'Normal' || blend === 'Compatible') return 1 - alpha;
  if (blend === 'Multiply' || blend === 'Darken') return 1 - alpha + alpha * (lightness ?? 0);
  return 0;
}

/**
 * Returns the content of the page that the areas would cover.
 */
export function coveredOn(
  pdf: PdfDocument,
  page: PaintedPage,
  {
    own,
    covers,
    signs = false,
    spend,
  }: {
    /** Numbers of the changed widget, and of the other widgets of its field. */
    readonly own: readonly number[];
    readonly covers: readonly Cover[];
    /** True for the look of a signature, which may lie over that of another. @default false */
    readonly signs?: boolean;
    readonly spend: (steps: number) => void;
  },
): Covered {
  const { content, annotations } = pageMarks(pdf, page, spend);
  const places = annotations.filter(({ number }) => number !== undefined && own.includes(number));
  const opaque = covers.filter(({ remains, isStroke }) => remains < LEGIBLE && isStroke !== true);
  const solid = opaque.filter(({ isText }) => !isText);
  let isOpen = false;
  let isLook = false;
  for (const { number, marks, rectangle, type, isDrawnByViewer, isSignature } of annotations) {
    if (type === 'Popup' || (number !== undefined && own.includes(number))) continue;
    if (marks !== undefined && judge(marks, true) === 'content') {
      if (!signs || !isSignature) return 'content';
      isLook = true;
    }
    if (!solid.some(({ box }) => overlaps(box, rectangle))) continue;
    if (marks === undefined && !SYMBOLS.has(type)) return 'content';
    isOpen ||= isDrawnByViewer;
  }
  if (content === undefined) return opaque.length > 0 ? 'unknown' : 'nothing';
  const found = judge(content, false);
  if (isLook && found !== 'content') return 'look';
  return isOpen && found === 'nothing' ? 'unknown' : found;

  function judge(marks: readonly Mark[], isAnnotation: boolean): Covered {
    let image = false;
    const strokes: Box[] = [];
    const leaders = leadersIn(marks);
    for (const mark of marks) {
      const { kind, alpha, clip } = mark;
      if (alpha === 0) continue;
      if (kind === 'text') {
        for (const glyph of mark.text?.glyphs ?? []) {
          if (glyph.isBlank || leaders.has(glyph)) continue;
          if (clip !== undefined && commonArea(clip, glyph.box) === 0) continue;
          spend(covers.length / AREAS_PER_STEP);
          if (isIllegible(glyph.box, covers)) return 'content';
        }
        continue;
      }
      spend(opaque.length / AREAS_PER_STEP);
      if (solid.some((cover) => isShortIn(mark, cover.box))) strokes.push(mark.box);
      const hidden = opaque.filter((cover) => hides(mark, cover, isAnnotation));
      if (hidden.length === 0 || places.some(({ rectangle }) => isBorder(mark, rectangle))) continue;
      if (kind === 'image') image = true;
      else return 'content';
    }
    if (image) return 'image';
    return isDrawing(strokes) ? 'unknown' : 'nothing';
  }
}

/** Part of an area that a line of a table, or to write on, extends over. */
const LONG_LINE = 0.6;
/** Fewest lines and columns of short strokes that could be letters; dotted lines have one. */
const FEWEST_ROWS = 3;

/** True for a thin line inside of an area that is too short to divide it. */
function isShortIn({ box, covers, alpha }: Mark, area: Box): boolean {
  const extent = covers.reduce(around, covers[0] ?? box);
  const width = extent.right - extent.left;
  const height = extent.top - extent.bottom;
  if (alpha === 0 || Math.min(width, height) > THIN || !contains(area, extent, 0)) return false;
  return width < LONG_LINE * (area.right - area.left) && height < LONG_LINE * (area.top - area.bottom);
}

function isDrawing(strokes: readonly Box[]): boolean {
  const rows = new Set(strokes.map(({ bottom, top }) => Math.round(bottom + top)));
  const columns = new Set(strokes.map(({ left, right }) => Math.round(left + right)));
  return rows.size >= FEWEST_ROWS && columns.size >= FEWEST_ROWS;
}

function isIllegible(ink: Box, covers: readonly Cover[]): boolean {
  const area = areaOf(ink);
  if (!(area > 0)) return Number.isNaN(area);
  const width = ink.right - ink.left;
  const height = ink.top - ink.bottom;
  const core = {
    left: ink.left + MARGIN * width,
    right: ink.right - MARGIN * width,
    bottom: ink.bottom + MARGIN * height,
    top: ink.top - MARGIN * height,
  };
  let covered = 0;
  let written = 0;
  let remains = 1;
  const strokes: Box[] = [];
  for (const cover of covers) {
    const part = commonArea(cover.box, ink) / area;
    if (Number.isNaN(part)) return true;
    if (part === 0) continue;
    if (cover.isStroke === true) {
      // A line runs into dashes of its direction.
      const isDashed = isLevel(cover.box) ? height < DASH_PART * width : width < DASH_PART * height;
      if (!isDashed && cover.remains < FAINT_LINE) strokes.push(cover.box);
      continue;
    }
    const isLine = cover.isText
      ? isDash(cover.box)
      : thicknessOf(cover.box) < LINE_PART * Math.min(width, height);
    if (cover.isText && !isLine) written += cover.remains < FAINT ? commonArea(cover.box, core) / area : 0;
    else if (cover.remains < (isLine ? FAINT_LINE : LEGIBLE)) covered += commonArea(cover.box, core) / area;
    else if (part > TINTED_PART) remains *= cover.remains;
    if (covered > COVERED_PART || written > COVERED_BY_TEXT || remains < LEGIBLE) return true;
  }
  return isStruck(ink, strokes);
}

/** True when lines cover too much of a letter together. Waves are made of many lines, in a narrow strip. */
function isStruck(ink: Box, [first, ...more]: readonly Box[]): boolean {
  if (first === undefined) return false;
  const most = STRUCK_PART * areaOf(ink);
  if (commonArea(more.reduce(around, first), ink) <= most) return false;
  return more.length >= MAX_STROKES || areaWithin([first, ...more], ink) > most;
}

const isLevel = ({ left, bottom, right, top }: Box): boolean => right - left >= top - bottom;

/** True for ink like that of a dash or a bar. */
function isDash({ left, bottom, right, top }: Box): boolean {
  const width = right - left;
  const height = top - bottom;
  return Math.min(width, height) < DASH_PART * Math.max(width, height);
}

/** True when a cover lies over a picture or a drawing, which is no background, frame or line. */
function hides(mark: Mark, { box: cover, isText, isFrame }: Cover, isAnnotation: boolean): boolean {
  const { kind, box, isRectilinear, isShaped, clip } = mark;
  const seen = clip === undefined ? box : shared(clip, box);
  if (!overlaps(seen, cover)) return false;
  // A dark text over a picture is a field on a scanned page.
  if (kind === 'image') return isText ? cover.top - cover.bottom > LARGE_TEXT : isFrame !== true;
  if (thicknessOf(seen) <= THIN || thicknessOf(cover) <= THIN) return false;
  if (isText && !isAnnotation) return cover.top - cover.bottom > LARGE_TEXT && !contains(seen, cover, THIN);
  if (isApart(mark, cover)) return false;
  // A box around the cover, filled or stroked, is its background or its border.
  return !(isRectilinear && !isShaped && contains(seen, cover, THIN)) && !(isAnnotation && isText);
}

/** Least length of the longer side of a field whose border the page may draw. */
const LEAST_BORDERED = 40;

/** True for a shape along the sides of a field, which is its border: forms have it in the page. */
function isBorder({ edges, isShaped, lightness }: Mark, field: Box): boolean {
  const { left, bottom, right, top } = field;
  if (edges === undefined || isShaped || lightness === undefined) return false;
  if (Math.max(right - left, top - bottom) < LEAST_BORDERED || thicknessOf(field) < 4 * THIN) return false;
  const isNear = (one: number, other: number): boolean => Math.abs(one - other) <= THIN;
  return edges.every(
    (edge) =>
      contains(field, edge, THIN) &&
      ([left, right].some((side) => isNear(edge.left, side) && isNear(edge.right, side)) ||
        [bottom, top].some((side) => isNear(edge.bottom, side) && isNear(edge.top, side))),
  );
}

/** Thickness of the sides of a border that are filled one by one, units of the page. */
const MAX_SIDE = 6;
/** Least part of a side of the field that such a side of the border extends over. */
const LONG_SIDE = 0.8;

/** True for one side of a border as a trapezium, which some programs fill: at an edge of the field, slanted at its ends alone. */
export function isSideOfFrame({ kind, box, edges, isCurved, isShaped }: Mark, field: Box): boolean {
  const thickness = thicknessOf(box);
  if (kind !== 'fill' || isCurved || isShaped || edges === undefined || thickness > MAX_SIDE) return false;
  const isLevelSide = isLevel(box);
  const [from, to, low, high] = isLevelSide
    ? (['left', 'right', 'bottom', 'top'] as const)
    : (['bottom', 'top', 'left', 'right'] as const);
  const isNear = (one: number, other: number): boolean => Math.abs(one - other) <= THIN;
  const isAtEdge = isNear(box[low], field[low]) || isNear(box[high], field[high]);
  const isLong = box[to] - box[from] >= LONG_SIDE * (field[to] - field[from]);
  const isPlain = (edge: Box): boolean =>
    thicknessOf(edge) < EDGE && isLevel(edge) === isLevelSide && edge[to] - edge[from] > 2 * thickness;
  const isAtEnd = (edge: Box): boolean =>
    edge[to] <= box[from] + thickness + EDGE || edge[from] >= box[to] - thickness - EDGE;
  return isAtEdge && isLong && edges.every((edge) => isPlain(edge) || isAtEnd(edge));
}

/** Distance from the edges of a filled shape at which they stay to be seen, in units of the page. */
const EDGE = 0.5;

/** True for a path no edge of which is near: below the cover is nothing of it, or one colour. */
function isApart({ kind, edges, isShaped, clip, lightness }: Mark, cover: Box): boolean {
  if (edges === undefined || isShaped) return false;
  const near = kind === 'fill' ? widened(cover, EDGE) : cover;
  if (kind === 'fill' && (lightness === undefined || (clip !== undefined && !contains(clip, near, 0))))
    return false;
  return edges.every((edge) => commonArea(edge, near) === 0);
}

/** Height of the ink of text that is paint rather than writing, in units of the page. */
const LARGE_TEXT = 40;

function shared(one: Box, other: Box): Box {
  return {
    left: Math.max(one.left, other.left),
    bottom: Math.max(one.bottom, other.bottom),
    right: Math.min(one.right, other.right),
    top: Math.min(one.top, other.top),
  };
}

/** Fewest equal characters that are a line to write on. */
const LEADER_RUN = 3;

/** Largest height of a dot or dash, and width of a bar, in font sizes. */
const THIN_INK = 0.3;

/** Returns the glyphs of dotted and dashed lines, on which people write. */
export function leadersIn(marks: readonly Mark[]): ReadonlySet<unknown> {
  const found = new Set<unknown>();
  const glyphs = marks
    .flatMap(({ text }) => (text?.glyphs ?? []).map((glyph) => ({ glyph, size: text?.size ?? 0 })))
    .filter(({ glyph }) => !glyph.isBlank);
  for (let from = 0; from < glyphs.length; ) {
    const character = glyphs[from]?.glyph.text ?? '';
    let to = from + 1;
    while (to < glyphs.length && glyphs[to]?.glyph.text === character) to++;
    if (/^[._…\-–—‐|]$/.test(character) && to - from >= LEADER_RUN)
      for (const { glyph, size } of glyphs.slice(from, to))
        if (thicknessOf(glyph.box) <= THIN_INK * size) found.add(glyph);
    from = to;
  }
  return found;
}
