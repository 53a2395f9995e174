/**
 * Graphics state and current path while content is interpreted (ISO 32000-2, 8.4 and 8.5).
 */
import type { FontReader } from './font-text.ts';
import { type Box, boxAround, contains, type Matrix } from './geometry.ts';

export interface GraphicsState {
  ctm: Matrix;
  clip: Box | undefined;
  font: { readonly reader: FontReader; readonly number: number | undefined } | undefined;
  size: number;
  leading: number;
  rise: number;
  scale: number;
  mode: number;
  lineWidth: number;
  /** False while a fill may show what is below: transparent, blended, optional, or inside of a clipping path. */
  hides: boolean;
}

export interface Path {
  readonly points: (readonly [number, number])[];
  isRectilinear: boolean;
  /** True for one rectangle of the operator `re`. */
  isRectangle: boolean;
}

/** Most points kept of one path; the others are dropped. */
const MAX_POINTS = 10_000;
/** Most points of a rectilinear path: a closed rectangle. */
const MAX_RECTILINEAR_POINTS = 5;

export function initialState(ctm: Matrix): GraphicsState {
  return {
    ctm,
    clip: undefined,
    font: undefined,
    size: 0,
    leading: 0,
    rise: 0,
    scale: 1,
    mode: 0,
    lineWidth: 1,
    hides: true,
  };
}

/** Intersects two clipping boxes. */
export function intersectClip(clip: Box | undefined, box: Box): Box {
  if (clip === undefined || contains(clip, box, 0)) return box;
  return {
    left: Math.max(clip.left, box.left),
    bottom: Math.max(clip.bottom, box.bottom),
    right: Math.min(clip.right, box.right),
    top: Math.min(clip.top, box.top),
  };
}

export function emptyPath(): Path {
  return { points: [], isRectilinear: true, isRectangle: false };
}

export function addRectangle(path: Path, x: number, y: number, width: number, height: number): void {
  if (path.points.length > 0) path.isRectilinear = false;
  path.isRectangle = path.points.length === 0;
  if (path.points.length < MAX_POINTS) path.points.push([x, y], [x + width, y + height]);
}

export function addPoint(path: Path, x: number, y: number, isLine: boolean): void {
  const last = path.points.at(-1);
  path.isRectangle = false;
  if (isLine && last !== undefined && last[0] !== x && last[1] !== y) path.isRectilinear = false;
  if (path.points.length >= MAX_RECTILINEAR_POINTS) path.isRectilinear = false;
  if (path.points.length < MAX_POINTS) path.points.push([x, y]);
}

/** Most points of a curve or slanted line that is thin; one with more can hatch its whole box. */
const MAX_LINE_POINTS = 32;

/**
 * Returns the areas that stroking a path paints, in the space of the path: its lines, widened, or the box of the whole path
 * when its shape is not a rectangle of lines.
 * @param thin width of a line that covers nothing by its slanted parts
 */
export function strokedAreas(
  { points, isRectilinear, isRectangle }: Path,
  width: number,
  thin: number,
): Box[] {
  const around = widened(boxAround(points), width / 2);
  if (!isRectilinear) return width <= thin && points.length <= MAX_LINE_POINTS ? [] : [around];
  const [[x1, y1] = [Number.NaN, Number.NaN], [x2, y2] = [Number.NaN, Number.NaN]] = points;
  const corners = isRectangle
    ? ([
        [x1, y1],
        [x2, y1],
        [x2, y2],
        [x1, y2],
      ] as const)
    : points;
  const lines = corners.map(
    (corner, index) => [corner, corners[(index + 1) % corners.length] ?? corner] as const,
  );
  const isSlanted = lines.some(([from, to]) => from[0] !== to[0] && from[1] !== to[1]);
  if (isSlanted && !(width <= thin)) return [around];
  return lines
    .filter(([from, to]) => from[0] === to[0] || from[1] === to[1])
    .map((line) => widened(boxAround(line), width / 2));
}

/** Enlarges a box on each side. */
export function widened({ left, bottom, right, top }: Box, by: number): Box {
  return { left: left - by, bottom: bottom - by, right: right + by, top: top + by };
}
