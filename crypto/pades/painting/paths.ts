/** Current path while content is interpreted, and the areas that stroking it paints (ISO 32000-2, 8.5). */
import { applied, around, type Box, boxAround, type Matrix, transformed } from './geometry.ts';

type Point = readonly [number, number];

export class PaintedPath {
  readonly points: Point[] = [];
  isRectilinear = true;
  /** True for one rectangle of the operator `re`. */
  isRectangle = false;
  isCurved = false;
  /** Rectangles of `re`; undefined for a path with other parts. */
  rectangles: Box[] | undefined = [];
  readonly #segments: [Point, Point][] = [];
  /** Lines with which a fill closes the parts that are open. */
  readonly #closings: [Point, Point][] = [];
  /** Around the points that are not kept. */
  #rest: Box | undefined;
  /** True for more than one part. */
  #isBroken = false;
  #start: Point | undefined;
  #last: Point | undefined;

  rectangle(x: number, y: number, width: number, height: number): void {
    if (this.points.length > 0) this.isRectilinear = false;
    this.isRectangle = this.points.length === 0;
    const corners = [
      [x, y],
      [x + width, y],
      [x + width, y + height],
      [x, y + height],
    ] as const;
    this.#keep(corners[0]);
    this.#keep(corners[2]);
    this.rectangles?.push(boxAround(corners));
    corners.forEach((corner, index) => {
      this.#segment(corner, corners[(index + 1) % 4] ?? corner);
    });
    this.#start = corners[0];
    this.#last = corners[0];
  }

  point(x: number, y: number, isLine: boolean): void {
    const last = this.points.at(-1);
    this.isRectangle = false;
    this.rectangles = undefined;
    if (isLine && last !== undefined && last[0] !== x && last[1] !== y) this.isRectilinear = false;
    if (this.points.length >= MAX_RECTILINEAR_POINTS) this.isRectilinear = false;
    this.#keep([x, y]);
    if (isLine && this.#last !== undefined) this.#segment(this.#last, [x, y]);
    else {
      this.#isBroken ||= this.points.length > 1;
      this.#closings.push(...this.#opening());
      this.#start = [x, y];
    }
    this.#last = [x, y];
  }

  curve(controls: readonly Point[]): void {
    this.isRectilinear = false;
    this.isCurved = true;
    this.isRectangle = false;
    this.rectangles = undefined;
    const from = this.#last ?? controls[0] ?? [0, 0];
    const [one = from, two = one, end = two] = controls;
    let last = from;
    for (let step = 1; step <= CURVE_STEPS; step++) {
      const t = step / CURVE_STEPS;
      const at = (axis: 0 | 1): number =>
        (1 - t) ** 3 * from[axis] +
        3 * (1 - t) ** 2 * t * one[axis] +
        3 * (1 - t) * t ** 2 * two[axis] +
        t ** 3 * end[axis];
      const next = [at(0), at(1)] as const;
      this.#segment(last, next);
      this.#keep(next);
      last = next;
    }
    this.#last = end;
  }

  close(): void {
    if (this.#last !== undefined && this.#start !== undefined) this.#segment(this.#last, this.#start);
    this.#last = this.#start;
  }

  /** True for a rectangle, of `re` or of four lines. */
  get isBox(): boolean {
    if (this.isRectangle) return true;
    const [a, b, c, d, end = a] = this.points;
    if (!this.isRectilinear || this.#isBroken || this.points.length > 5) return false;
    if (a === undefined || b === undefined || c === undefined || d === undefined || end === undefined)
      return false;
    if (end[0] !== a[0] || end[1] !== a[1]) return false;
    const first = a[0] === b[0] ? 0 : 1;
    const second = first === 0 ? 1 : 0;
    return (
      a[first] === b[first] && b[second] === c[second] && c[first] === d[first] && d[second] === a[second]
    );
  }

  /** Returns the extent in the space of the matrix. */
  extent(matrix: Matrix): Box {
    const box = boxAround(this.points.map((point) => applied(matrix, ...point)));
    return this.#rest === undefined ? box : around(box, transformed(matrix, this.#rest));
  }

  /** Returns the areas along the edges of what a fill paints. */
  edges(matrix: Matrix): Box[] {
    return this.#along([...this.#segments, ...this.#closings, ...this.#opening()], matrix, 0);
  }

  /** Returns the areas that stroking paints in the space of the matrix. @param width of the line in that space */
  stroked(matrix: Matrix, width: number): Box[] {
    return this.#along(this.#segments, matrix, width);
  }

  #along(segments: readonly (readonly [Point, Point])[], matrix: Matrix, width: number): Box[] {
    const found: Box[] = [];
    const half = Math.max(width, HAIRLINE) / 2;
    for (const [from, to] of segments) {
      const [x1, y1] = applied(matrix, ...from);
      const [x2, y2] = applied(matrix, ...to);
      const isAligned = x1 === x2 || y1 === y2;
      const length = Math.hypot(x2 - x1, y2 - y1);
      const pieces = isAligned ? 1 : Math.min(MAX_PIECES, Math.ceil(length / Math.max(width, 1))) || 1;
      for (let piece = 0; piece < pieces; piece++) {
        const at = (part: number): Point => [
          x1 + ((x2 - x1) * part) / pieces,
          y1 + ((y2 - y1) * part) / pieces,
        ];
        found.push(widened(boxAround([at(piece), at(piece + 1)]), half));
      }
      if (found.length > MAX_AREAS) return [widened(this.extent(matrix), half)];
    }
    return found;
  }

  /** Returns the line between the ends of the part that is drawn. */
  #opening(): [Point, Point][] {
    return this.#last === undefined || this.#start === undefined ? [] : [[this.#last, this.#start]];
  }

  #keep(point: Point): void {
    if (this.points.length < MAX_POINTS) this.points.push(point);
    else this.#rest = around(this.#rest ?? boxAround([point]), boxAround([point]));
  }

  #segment(from: Point, to: Point): void {
    if (this.#segments.length < MAX_POINTS) this.#segments.push([from, to]);
  }
}

/** Most points kept of one path; of the others, their extent. */
const MAX_POINTS = 10_000;
/** Most points of a rectilinear path: a closed rectangle. */
const MAX_RECTILINEAR_POINTS = 5;
const CURVE_STEPS = 8;
/** Most boxes that stand for one slanted line, and for one path. */
const MAX_PIECES = 64;
const MAX_AREAS = 4_000;
/** Width at which viewers draw the thinnest line, in units of the page. */
const HAIRLINE = 0.3;

/** Enlarges a box on each side. */
export function widened({ left, bottom, right, top }: Box, by: number): Box {
  return { left: left - by, bottom: bottom - by, right: right + by, top: top + by };
}

/** Returns the control points of a curve operator (8.5.2.2). */
export function curveOf(
  operator: string,
  path: PaintedPath,
  n: readonly number[],
): (readonly [number, number])[] {
  const points = Array.from(
    { length: n.length >> 1 },
    (_, index) => [n[2 * index] ?? 0, n[2 * index + 1] ?? 0] as const,
  );
  const [one = [0, 0], two = one] = points;
  if (operator === 'v') return [path.points.at(-1) ?? one, one, two];
  return operator === 'y' ? [one, two, two] : points;
}
