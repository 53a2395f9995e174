/**
 * The page tree (ISO 32000-2, 7.7.3).
 */

import { openSource } from '../../core/files.ts';
import { CryptoError, type InputFile } from '../../core/types.ts';
import {
  asName,
  asReference,
  type ByteSlice,
  items,
  type PdfDict,
  type Reference,
} from '../syntax/values.ts';
import { type PdfDocument, withPdf } from './document.ts';

export interface Page {
  readonly reference: Reference;
  readonly dict: PdfDict;
}

/** A page with the ancestors it inherits from. */
export interface TreePage extends Page {
  /** From the root of the tree downwards. */
  readonly above: readonly PdfDict[];
}

/**
 * Iterates over the pages in order; other objects in the tree are ignored.
 * @throws {CryptoError} `pdf.no-pages` when there is no tree
 */
export function* pages(pdf: PdfDocument): Generator<TreePage> {
  const root = pdf.catalog.get('Pages');
  if (root === undefined) {
    throw new CryptoError('pdf.no-pages', 'The catalogue of the PDF names no pages.');
  }
  // Cycles would never end; a page may be shown twice.
  const seen = new Set<number>();
  const open: Iterator<ByteSlice>[] = [[root].values()];
  const above: PdfDict[] = [];
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    const next = last.next();
    if (next.done === true) {
      open.pop();
      above.pop();
      continue;
    }
    const reference = asReference(next.value);
    if (reference === undefined || seen.has(reference.number)) continue;
    const dict = pdf.dict(next.value);
    if (dict === undefined) continue;
    const kids = dict.get('Kids');
    if (kids !== undefined) {
      seen.add(reference.number);
      open.push(items(pdf.resolve(kids)));
      above.push(dict);
    } else if (asName(dict.get('Type')) !== 'Pages') yield { reference, dict, above: above.slice() };
  }
}

/** @throws {CryptoError} `pdf.no-pages` */
export function firstPage(pdf: PdfDocument): Page {
  for (const page of pages(pdf)) return page;
  throw new CryptoError('pdf.no-pages', 'The PDF has no page to attach a signature to.');
}

/**
 * Counts the pages of the file at `path`, at most up to `limit`.
 * @throws {CryptoError} `input.unreadable`, `pdf.malformed`, `pdf.encrypted`, `pdf.no-pages`
 */
export function countPdfPages(path: InputFile, limit: number): number {
  const source = openSource(path);
  try {
    return withPdf(source, (pdf) => {
      let count = 0;
      for (const _ of pages(pdf)) {
        count += 1;
        if (count >= limit) break;
      }
      return count;
    });
  } finally {
    source.close();
  }
}
