/**
 * Appearances of annotations and widgets (ISO 32000-2, 12.5.5).
 */
import {
  asReference,
  type ByteSlice,
  entriesOf,
  isNull,
  items,
  type PdfDict,
  type PdfDocument,
} from '../../pdf/index.ts';
import { numberOf } from './geometry.ts';

/** True for no appearance, and for one that consists only of streams for its states. */
export function hasOnlyStreams(pdf: PdfDocument, appearance: ByteSlice | undefined): boolean {
  return streamsOf(pdf, appearance) !== undefined;
}

/** Returns the numbers of the streams of an appearance; undefined when it has other values. */
export function streamsOf(
  pdf: PdfDocument,
  appearance: ByteSlice | undefined,
): readonly number[] | undefined {
  const value = pdf.resolve(appearance);
  if (isNull(value)) return [];
  const parts = entriesOfDict(pdf, value);
  if (parts === undefined) return undefined;
  const found: number[] = [];
  for (const [key, part] of parts) {
    if (key !== 'N' && key !== 'R' && key !== 'D') return undefined;
    const states = isStream(pdf, part) ? [part] : entriesOfDict(pdf, part)?.values();
    if (states === undefined) return undefined;
    for (const state of states) {
      const number = asReference(state)?.number;
      if (number === undefined || !isStream(pdf, state)) return undefined;
      found.push(number);
    }
  }
  return found;
}

function entriesOfDict(pdf: PdfDocument, slice: ByteSlice): ReadonlyMap<string, ByteSlice> | undefined {
  const dict: PdfDict | undefined = pdf.dict(slice);
  return dict && entriesOf(dict);
}

function isStream(pdf: PdfDocument, slice: ByteSlice): boolean {
  const number = asReference(slice)?.number;
  return number !== undefined && pdf.plainObject(number)?.data !== undefined;
}

/** True when the rectangle has an area, or is unreadable. */
export function hasArea(pdf: PdfDocument, rectangle: ByteSlice | undefined): boolean {
  const corners = [...items(pdf.resolve(rectangle))].map((item) => numberOf(pdf.resolve(item)));
  if (corners.length !== 4 || corners.includes(undefined)) return corners.length > 0;
  const [left, bottom, right, top] = corners;
  return left !== right && bottom !== top;
}

/** @param pdf gives the generation of the object, which programs raise for the number of one that they deleted (7.3.10) */
export function referenceTo(number: number, pdf: PdfDocument): ByteSlice {
  const entry = pdf.xref.entry(number);
  const generation = entry?.kind === 'plain' ? entry.generation : 0;
  const bytes = Buffer.from(`${number} ${generation} R`, 'latin1');
  return { bytes, at: -1, start: 0, end: bytes.length };
}
