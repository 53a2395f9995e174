/**
 * Finds what a page draws from outside of its file, so that no signature covers it: streams in other files (ISO 32000-2,
 * 7.3.8.2), reference XObjects (8.10.4), and pictures that a print shop exchanges (OPI, 14.11.7).
 */
import {
  asReference,
  type ByteSlice,
  isArray,
  isNull,
  items,
  type PdfDocument,
  type TreePage,
} from '../../pdf/index.ts';
import { shownStream } from '../painting/page-marks.ts';

/** Entries of a stream that lead out of the file. */
const LEADING_OUT = ['F', 'Ref', 'OPI'] as const;
/** Resources that are drawn and have resources of their own (7.8.3). */
const DRAWN = ['XObject', 'Pattern'] as const;

/**
 * True when contents, appearances, or forms and patterns in them lead out of the file.
 * @param seen streams of earlier pages, which are not looked at again
 * @param spend called once for each object
 */
export function drawsFromElsewhere(
  pdf: PdfDocument,
  page: TreePage,
  seen: Set<number>,
  spend: () => void,
): boolean {
  const open: (ByteSlice | number | undefined)[] = [];
  const addAll = (list: ByteSlice | undefined): void => {
    const value = pdf.resolve(list);
    if (isArray(value)) open.push(...items(value));
    else open.push(list);
  };
  const addResources = (given: ByteSlice | undefined): void => {
    const resources = pdf.dict(given);
    for (const kind of DRAWN) {
      const named = pdf.dict(resources?.get(kind));
      for (const entry of named?.entries ?? []) open.push(named?.valueAt(entry));
    }
  };
  addAll(page.dict.get('Contents'));
  addResources([...page.above, page.dict].findLast((one) => one.get('Resources'))?.get('Resources'));
  for (const item of items(pdf.resolve(page.dict.get('Annots')))) {
    spend();
    const annotation = pdf.dict(item);
    if (annotation !== undefined) open.push(shownStream(pdf, annotation));
  }
  while (open.length > 0) {
    const next = open.pop();
    const number = typeof next === 'number' ? next : asReference(next)?.number;
    if (number === undefined || seen.has(number)) continue;
    spend();
    seen.add(number);
    const dict = pdf.dict(pdf.object(number));
    if (dict === undefined) continue;
    if (LEADING_OUT.some((key) => !isNull(pdf.resolve(dict.get(key))))) return true;
    addResources(dict.get('Resources'));
  }
  return false;
}
