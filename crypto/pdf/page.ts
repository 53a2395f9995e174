/**
 * The first page of the page tree (ISO 32000-2, 7.7.3).
 */
import { CryptoError } from '../types.ts';
import type { PdfDocument } from './document.ts';
import { asName, asReference, items, type PdfDict, type Piece, type Reference } from './values.ts';

export interface Page {
  readonly reference: Reference;
  readonly dict: PdfDict;
}

/** @throws {CryptoError} `pdf.no-pages` */
export function firstPage(pdf: PdfDocument): Page {
  const seen = new Set<number>();
  const root = pdf.catalog.get('Pages');
  if (root === undefined) {
    throw new CryptoError('pdf.no-pages', 'The catalogue of the PDF names no pages.');
  }
  const open: Iterator<Piece>[] = [[root].values()];
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    const next = last.next();
    if (next.done === true) {
      open.pop();
      continue;
    }
    const reference = asReference(next.value);
    if (reference === undefined || seen.has(reference.number)) continue;
    seen.add(reference.number);
    const dict = pdf.dict(next.value);
    if (dict === undefined) continue;
    const kids = dict.get('Kids');
    if (kids !== undefined) open.push(items(pdf.resolve(kids)));
    else if (asName(dict.get('Type')) !== 'Pages') return { reference, dict };
  }
  throw new CryptoError('pdf.no-pages', 'The PDF has no page to attach a signature to.');
}
