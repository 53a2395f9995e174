/**
 * A page as it is shown, and the way from there to the coordinates of its content (ISO 32000-2, 7.7.3.3, 8.3.2.3
 * and 14.11.2).
 */
import {
  asInteger,
  isArray,
  items,
  type PdfDict,
  type PdfDocument,
  type Piece,
  type TreePage,
} from '../../pdf/index.ts';

/** Left, bottom, right and top. */
export type Box = readonly [left: number, bottom: number, right: number, top: number];

export interface PageView {
  /** As it is shown, points. */
  readonly width: number;
  readonly height: number;
  /** Degrees it is turned clockwise to be shown. */
  readonly rotation: 0 | 90 | 180 | 270;
  /** A box in points from the lower left corner of the page as shown, in the coordinates of the page's content. */
  toContent(shown: Box): Box;
  /** The same way for single points, as six numbers a content stream takes. */
  readonly matrix: readonly [a: number, b: number, c: number, d: number, e: number, f: number];
  /** The way back. */
  toShown(content: Box): Box;
}

/** What readers take for a page that does not say how large it is. */
const LETTER: Box = [0, 0, 612, 792];

/** Boxes that make no sense are passed over as widespread readers do it. */
export function viewOf(pdf: PdfDocument, page: TreePage): PageView {
  const media = box(pdf, inherited(pdf, page, 'MediaBox')) ?? LETTER;
  const crop = box(pdf, inherited(pdf, page, 'CropBox')) ?? media;
  const [left, bottom, right, top] = overlap(media, crop) ?? media;
  const unit = userUnit(pdf, page.dict);
  const rotation = quarterTurns(asInteger(pdf.resolve(inherited(pdf, page, 'Rotate'))) ?? 0);
  const [across, up] = [right - left, top - bottom];
  const isTurned = rotation === 90 || rotation === 270;
  const content = (x: number, y: number): Point => {
    const [a, b] = [x / unit, y / unit];
    if (rotation === 90) return [right - b, bottom + a];
    if (rotation === 180) return [right - a, top - b];
    if (rotation === 270) return [left + b, top - a];
    return [left + a, bottom + b];
  };
  const shown = (x: number, y: number): Point => {
    if (rotation === 90) return [(y - bottom) * unit, (right - x) * unit];
    if (rotation === 180) return [(right - x) * unit, (top - y) * unit];
    if (rotation === 270) return [(top - y) * unit, (x - left) * unit];
    return [(x - left) * unit, (y - bottom) * unit];
  };
  const [e, f] = content(0, 0);
  const [alongX, alongY] = content(1, 0);
  const [upX, upY] = content(0, 1);
  return {
    width: (isTurned ? up : across) * unit,
    height: (isTurned ? across : up) * unit,
    rotation,
    matrix: [alongX - e, alongY - f, upX - e, upY - f, e, f],
    toContent: (given) => mapped(given, content),
    toShown: (given) => mapped(given, shown),
  };
}

type Point = readonly [x: number, y: number];

function mapped([left, bottom, right, top]: Box, map: (x: number, y: number) => Point): Box {
  return ordered(...map(left, bottom), ...map(right, top));
}

function ordered(x: number, y: number, otherX: number, otherY: number): Box {
  return [Math.min(x, otherX), Math.min(y, otherY), Math.max(x, otherX), Math.max(y, otherY)];
}

/** The value of the page itself or of the nearest node above it that has one. */
function inherited(pdf: PdfDocument, { dict, above }: TreePage, key: string): Piece | undefined {
  for (const node of [dict, ...above.toReversed()]) {
    const value = node.get(key);
    if (value !== undefined) return pdf.resolve(value);
  }
  return undefined;
}

/** A rectangle with an extent, whichever corners it is given by (7.9.5); undefined for anything else. */
export function box(pdf: PdfDocument, piece: Piece | undefined): Box | undefined {
  const found = pdf.resolve(piece);
  if (!isArray(found)) return undefined;
  const numbers: number[] = [];
  for (const item of items(found)) {
    const value = number(pdf.resolve(item));
    if (value === undefined || numbers.length === 4) return undefined;
    numbers.push(value);
  }
  const [x, y, otherX, otherY] = numbers;
  if (x === undefined || y === undefined || otherX === undefined || otherY === undefined) return undefined;
  const all = ordered(x, y, otherX, otherY);
  return all[0] < all[2] && all[1] < all[3] ? all : undefined;
}

function number({ bytes, start, end }: Piece): number | undefined {
  if (end - start > 40) return undefined;
  const text = bytes.toString('latin1', start, end);
  return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : undefined;
}

function overlap(one: Box, other: Box): Box | undefined {
  const left = Math.max(one[0], other[0]);
  const bottom = Math.max(one[1], other[1]);
  const right = Math.min(one[2], other[2]);
  const top = Math.min(one[3], other[3]);
  return left < right && bottom < top ? [left, bottom, right, top] : undefined;
}

/** Points a unit of the page's coordinates stands for (table 31). */
function userUnit(pdf: PdfDocument, page: PdfDict): number {
  const value = number(pdf.resolve(page.get('UserUnit')));
  return value !== undefined && value > 0 ? value : 1;
}

function quarterTurns(degrees: number): 0 | 90 | 180 | 270 {
  const turned = ((degrees % 360) + 360) % 360;
  return turned === 90 || turned === 180 || turned === 270 ? turned : 0;
}
