/** Encodes outlines as TrueType glyphs without hints (OpenType, `glyf`). */

/** In font units. */
export interface OutlinePoint {
  readonly x: number;
  readonly y: number;
  /** False: control point of a quadratic curve. */
  readonly onCurve: boolean;
}

/** A glyph with metrics in units of the font that it becomes part of. */
export interface DrawnGlyph {
  readonly outline: Buffer;
  readonly advance: number;
}

export type Contour = readonly OutlinePoint[];

const ON_CURVE = 0x01;

/** Encodes a simple glyph; empty without contours. */
export function encodeOutline(contours: readonly Contour[]): Buffer {
  const filled = contours.filter(({ length }) => length > 0);
  if (filled.length === 0) return Buffer.alloc(0);
  const points = filled.flat().map(({ x, y, onCurve }) => ({ x: Math.round(x), y: Math.round(y), onCurve }));
  const header = Buffer.alloc(10 + 2 * filled.length + 2);
  header.writeInt16BE(filled.length, 0);
  let [left, bottom, right, top] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y } of points) {
    [left, bottom] = [Math.min(left, x), Math.min(bottom, y)];
    [right, top] = [Math.max(right, x), Math.max(top, y)];
  }
  for (const [index, edge] of [left, bottom, right, top].entries()) header.writeInt16BE(edge, 2 + 2 * index);
  let end = -1;
  for (const [index, { length }] of filled.entries()) {
    end += length;
    header.writeUInt16BE(end, 10 + 2 * index);
  }
  const flags = Buffer.from(points.map(({ onCurve }) => (onCurve ? ON_CURVE : 0)));
  return Buffer.concat([header, flags, differences(points, 'x'), differences(points, 'y')]);
}

/** Each coordinate as its distance from the one before, two bytes each. */
function differences(points: readonly OutlinePoint[], axis: 'x' | 'y'): Buffer {
  const bytes = Buffer.alloc(2 * points.length);
  let before = 0;
  for (const [index, point] of points.entries()) {
    bytes.writeInt16BE(point[axis] - before, 2 * index);
    before = point[axis];
  }
  return bytes;
}
