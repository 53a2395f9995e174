/**
 * Rectangles and transformations of page content (ISO 32000-2, 7.9.5 and 8.3.4).
 */
import { asReference, type ByteSlice, isArray, isNull, items, type PdfDocument } from '../../pdf/index.ts';

export type Matrix = readonly [number, number, number, number, number, number];

export interface Box {
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
  readonly top: number;
}

export const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];

/** Multiplies two matrices: `first`, then `second` (8.3.4). */
export function multiply(first: Matrix, second: Matrix): Matrix {
  const [a, b, c, d, e, f] = first;
  const [g, h, i, j, k, l] = second;
  return [a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + l];
}

/** True when a matrix maps horizontal and vertical lines to such lines. */
export function isUpright([a, b, c, d]: Matrix): boolean {
  return (b === 0 && c === 0) || (a === 0 && d === 0);
}

export function applied([a, b, c, d, e, f]: Matrix, x: number, y: number): readonly [number, number] {
  return [a * x + c * y + e, b * x + d * y + f];
}

/** Returns the bounding box of points; NaN where a coordinate is not a number. */
export function boxAround(points: readonly (readonly [number, number])[]): Box {
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  return { left: Math.min(...xs), bottom: Math.min(...ys), right: Math.max(...xs), top: Math.max(...ys) };
}

export function transformed(matrix: Matrix, { left, bottom, right, top }: Box): Box {
  return boxAround([
    applied(matrix, left, bottom),
    applied(matrix, right, bottom),
    applied(matrix, left, top),
    applied(matrix, right, top),
  ]);
}

/** True when `outer`, enlarged by `slack` on each side, contains `inner`; false when a coordinate is NaN. */
export function contains(outer: Box, inner: Box, slack: number): boolean {
  return (
    inner.left >= outer.left - slack &&
    inner.bottom >= outer.bottom - slack &&
    inner.right <= outer.right + slack &&
    inner.top <= outer.top + slack
  );
}

/** True when two rectangles overlap by more than one unit; true when a coordinate is NaN. */
export function overlaps(one: Box, other: Box): boolean {
  return !(
    one.right - 1 <= other.left ||
    other.right - 1 <= one.left ||
    one.top - 1 <= other.bottom ||
    other.top - 1 <= one.bottom
  );
}

/** Returns the numbers of an array; undefined for anything else. */
function numbersIn(pdf: PdfDocument, slice: ByteSlice | undefined): readonly number[] | undefined {
  const list = pdf.resolve(slice);
  if (!isArray(list)) return undefined;
  const numbers: number[] = [];
  for (const item of items(list)) {
    const value = numberOf(asReference(item) === undefined ? item : pdf.resolve(item));
    if (value === undefined || numbers.length > 64) return undefined;
    numbers.push(value);
  }
  return numbers;
}

const plainText = ({ bytes, start, end }: ByteSlice): string =>
  bytes.toString('latin1', start, Math.min(end, start + 41));

export function numberOf(slice: ByteSlice | undefined): number | undefined {
  if (slice === undefined || slice.end - slice.start > 40) return undefined;
  const text = plainText(slice);
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : undefined;
}

/**
 * True for a value that is neither a string, a name, a list nor a word, and no number either (ISO 32000-2, 7.3.3), such as
 * `--60`, `1.2.3` and `6-0`: programs make other numbers of it.
 */
export function isOddNumber(slice: ByteSlice): boolean {
  const first = String.fromCharCode(slice.bytes[slice.start] ?? 0);
  if ('(<[/'.includes(first) || isNull(slice) || asReference(slice) !== undefined) return false;
  return numberOf(slice) === undefined && !/^(?:true|false)$/.test(plainText(slice));
}

/** Values within values that are looked at. */
const MAX_LEVELS = 5;

/** True when such a value is in the entry of a drawn object, or what is there nests too deep. @param skip keys that are left out */
export function hasOddNumber(
  pdf: PdfDocument,
  slice: ByteSlice | undefined,
  skip: ReadonlySet<string> = new Set(),
  level = 0,
): boolean {
  if (level > MAX_LEVELS) return true;
  const value = pdf.resolve(slice);
  const dict = pdf.dict(value);
  const below = (one: ByteSlice): boolean => hasOddNumber(pdf, one, skip, level + 1);
  if (dict !== undefined)
    return dict.entries.some((entry) => !skip.has(dict.keyOf(entry)) && below(dict.valueAt(entry)));
  return isArray(value) ? [...items(value)].some(below) : isOddNumber(value);
}

/** Returns a rectangle with its corners in order. */
export function boxOf(pdf: PdfDocument, slice: ByteSlice | undefined): Box | undefined {
  const numbers = numbersIn(pdf, slice);
  if (numbers?.length !== 4) return undefined;
  const [x1, y1, x2, y2] = numbers as [number, number, number, number];
  return boxAround([
    [x1, y1],
    [x2, y2],
  ]);
}

export function matrixOf(pdf: PdfDocument, slice: ByteSlice | undefined): Matrix | undefined {
  if (slice === undefined) return IDENTITY;
  const numbers = numbersIn(pdf, slice);
  if (numbers?.length !== 6) return undefined;
  const [a, b, c, d, e, f] = numbers as [number, number, number, number, number, number];
  return [a, b, c, d, e, f];
}

/** Returns the smallest box that contains both. */
export function around(one: Box, other: Box): Box {
  return {
    left: Math.min(one.left, other.left),
    bottom: Math.min(one.bottom, other.bottom),
    right: Math.max(one.right, other.right),
    top: Math.max(one.top, other.top),
  };
}

/** Returns the matrix that maps one box to the other. */
export function fitting(from: Box, to: Box): Matrix {
  const x = (to.right - to.left) / (from.right - from.left);
  const y = (to.top - to.bottom) / (from.top - from.bottom);
  return [x, 0, 0, y, to.left - from.left * x, to.bottom - from.bottom * y];
}

/** Returns the common area of two boxes; NaN when a coordinate is not a number. */
export function commonArea(one: Box, other: Box): number {
  const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const height = Math.min(one.top, other.top) - Math.max(one.bottom, other.bottom);
  return width <= 0 || height <= 0 ? 0 : width * height;
}

export function areaOf({ left, bottom, right, top }: Box): number {
  return Math.max(0, right - left) * Math.max(0, top - bottom);
}

/** Returns the area that boxes cover of another; what lies on another box counts once. */
export function areaWithin(boxes: readonly Box[], whole: Box): number {
  const within = (x: number): number => Math.min(Math.max(x, whole.left), whole.right);
  const edges = [...new Set(boxes.flatMap(({ left, right }) => [within(left), within(right)]))].sort(
    (one, other) => one - other,
  );
  const upwards = boxes.toSorted((one, other) => one.bottom - other.bottom);
  let area = 0;
  for (const [index, right] of edges.entries()) {
    const left = edges[index - 1] ?? right;
    let covered = whole.bottom;
    for (const box of upwards) {
      const top = Math.min(box.top, whole.top);
      if (box.left > left || box.right < right || top <= covered) continue;
      area += (right - left) * (top - Math.max(box.bottom, covered));
      covered = top;
    }
  }
  return area;
}

export function thicknessOf({ left, bottom, right, top }: Box): number {
  return Math.min(right - left, top - bottom);
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
