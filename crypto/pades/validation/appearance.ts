/**
 * Appearances of annotations and widgets (ISO 32000-2, 12.5.5).
 */
import {
  asReference,
  entriesOf,
  isNull,
  items,
  type PdfDict,
  type PdfDocument,
  type Piece,
} from '../../pdf/index.ts';

/** True for no appearance, and for one that consists of nothing but streams for its states. */
export function hasOnlyStreams(pdf: PdfDocument, appearance: Piece | undefined): boolean {
  return streamsOf(pdf, appearance) !== undefined;
}

/** Numbers of the streams of an appearance; undefined when it has other parts. */
export function streamsOf(pdf: PdfDocument, appearance: Piece | undefined): readonly number[] | undefined {
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

function entriesOfDict(pdf: PdfDocument, piece: Piece): ReadonlyMap<string, Piece> | undefined {
  const dict: PdfDict | undefined = pdf.dict(piece);
  return dict && entriesOf(dict);
}

function isStream(pdf: PdfDocument, piece: Piece): boolean {
  const number = asReference(piece)?.number;
  return number !== undefined && pdf.plainObject(number)?.data !== undefined;
}

/** True when the rectangle has an area, and when it can't be told. */
export function hasArea(pdf: PdfDocument, rectangle: Piece | undefined): boolean {
  const corners = [...items(pdf.resolve(rectangle))].map((item) => {
    const { bytes, start, end } = pdf.resolve(item);
    return Number(bytes.toString('latin1', start, end));
  });
  const [left = 0, bottom = 0, right = 0, top = 0] = corners;
  return corners.length > 0 && !(left === right || bottom === top);
}
