/**
 * Geometry of a page as shown, and the mapping to the coordinates of its content (ISO 32000-2, 7.7.3.3, 8.3.2.3
 * and 14.11.2).
 */

import { openSource } from '../../core/files.ts';
import { CryptoError, type InputFile } from '../../core/types.ts';
import { openIntactPdf, type PdfDocument, withPdf } from '../document/document.ts';
import { pages, type TreePage } from '../document/page.ts';
import { asInteger, type ByteSlice, isArray, items, type PdfDict } from '../syntax/values.ts';

/** Left, bottom, right and top. */
export type Box = readonly [left: number, bottom: number, right: number, top: number];

export interface PageView {
  /** Size as shown, points. */
  readonly width: number;
  readonly height: number;
  /** Clockwise rotation for display, degrees. */
  readonly rotation: 0 | 90 | 180 | 270;
  /** Maps a box in points from the lower left corner of the page as shown to the coordinates of the page's content. */
  toContent(shown: Box): Box;
  /** The same mapping for points, as the six numbers of a content stream matrix. */
  readonly matrix: readonly [a: number, b: number, c: number, d: number, e: number, f: number];
  /** The inverse mapping. */
  toShown(content: Box): Box;
}

/** Default page size of readers: US Letter. */
const LETTER: Box = [0, 0, 612, 792];

/** Ignores invalid boxes, as widespread readers do. */
export function viewOf(pdf: PdfDocument, page: TreePage): PageView {
  const media = box(pdf, inherited(pdf, page, 'MediaBox')) ?? LETTER;
  const crop = box(pdf, inherited(pdf, page, 'CropBox')) ?? media;
  const [left, bottom, right, top] = overlap(media, crop) ?? media;
  const unit = userUnit(pdf, page.dict);
  const rotation = quarterTurns(asInteger(pdf.resolve(inherited(pdf, page, 'Rotate'))) ?? 0);
  const across = right - left;
  const up = top - bottom;
  const isTurned = rotation === 90 || rotation === 270;
  const content = (x: number, y: number): Point => {
    const a = x / unit;
    const b = y / unit;
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

/**
 * Size of the first page of the file at `path` as shown, points.
 * @param isRepaired false: a damaged cross-reference is refused, whose repair reads the whole file
 * @throws {CryptoError} `input.unreadable`, `pdf.malformed`, `pdf.encrypted`, `pdf.no-pages`
 */
export function firstPageSize(path: InputFile, isRepaired = true): Pick<PageView, 'width' | 'height'> {
  const source = openSource(path);
  try {
    return isRepaired ? withPdf(source, sizeOfFirst) : sizeOfFirst(openIntactPdf(source));
  } finally {
    source.close();
  }
}

function sizeOfFirst(pdf: PdfDocument): Pick<PageView, 'width' | 'height'> {
  for (const page of pages(pdf)) {
    const { width, height } = viewOf(pdf, page);
    return { width, height };
  }
  throw new CryptoError('pdf.no-pages', 'The PDF has no page.');
}

type Point = readonly [x: number, y: number];

function mapped([left, bottom, right, top]: Box, map: (x: number, y: number) => Point): Box {
  return ordered(...map(left, bottom), ...map(right, top));
}

function ordered(x: number, y: number, otherX: number, otherY: number): Box {
  return [Math.min(x, otherX), Math.min(y, otherY), Math.max(x, otherX), Math.max(y, otherY)];
}

/** Returns the value of the page itself or of the nearest ancestor with one. */
function inherited(pdf: PdfDocument, { dict, above }: TreePage, key: string): ByteSlice | undefined {
  for (const node of [dict, ...above.toReversed()]) {
    const value = node.get(key);
    if (value !== undefined) return pdf.resolve(value);
  }
  return undefined;
}

/** Returns a non-empty rectangle, given by any two opposite corners (7.9.5); undefined for anything else. */
export function box(pdf: PdfDocument, slice: ByteSlice | undefined): Box | undefined {
  const found = pdf.resolve(slice);
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

function number({ bytes, start, end }: ByteSlice): number | undefined {
  if (end - start > 40) return undefined;
  const text = bytes.toString('latin1', start, end);
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : undefined;
}

function overlap(one: Box, other: Box): Box | undefined {
  const left = Math.max(one[0], other[0]);
  const bottom = Math.max(one[1], other[1]);
  const right = Math.min(one[2], other[2]);
  const top = Math.min(one[3], other[3]);
  return left < right && bottom < top ? [left, bottom, right, top] : undefined;
}

/** Returns the points per user space unit (table 31). */
function userUnit(pdf: PdfDocument, page: PdfDict): number {
  const value = number(pdf.resolve(page.get('UserUnit')));
  return value !== undefined && value > 0 ? value : 1;
}

function quarterTurns(degrees: number): 0 | 90 | 180 | 270 {
  const turned = ((degrees % 360) + 360) % 360;
  return turned === 90 || turned === 180 || turned === 270 ? turned : 0;
}
