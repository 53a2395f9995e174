/** Pages that programs may show otherwise than each other, since the page tree is not the one of ISO 32000-2, 7.7.3. */
import { asInteger, asName, asReference, type ByteSlice, items, type PdfDict } from '../syntax/values.ts';
import type { PdfDocument } from './document.ts';

/** Faults of a page or a part of the tree, closed: all that is not here is a page or a part of its parent, once. */
export const TREE_FAULTS = {
  again: 'stands in the tree twice',
  direct: 'is no object of its own',
  missing: 'is not there',
  kind: 'is neither a page nor a part of the tree',
  parent: 'names another parent',
  count: 'has another number of pages than it says',
} as const;

export interface TreeFault {
  /** Position where it stands, 1-based. */
  readonly page: number;
  readonly fault: keyof typeof TREE_FAULTS;
}

/** An open part of the tree. */
interface Part {
  readonly number: number | undefined;
  readonly dict: PdfDict;
  readonly kids: Iterator<ByteSlice>;
  /** Position of its first page. */
  readonly from: number;
}

/**
 * Iterates over the faults of the tree from its first page to its last.
 * @param spend called once for each page and part
 * @throws PdfSyntaxError for objects that can't be read
 */
export function* treeFaults(pdf: PdfDocument, spend: () => void): Generator<TreeFault> {
  const seen = new Set<number>();
  const open: Part[] = [];
  let page = 1;
  const enter = (dict: PdfDict, number: number | undefined): void => {
    if (number !== undefined) seen.add(number);
    open.push({ number, dict, kids: items(pdf.resolve(dict.get('Kids'))), from: page });
  };
  const root = pdf.dict(pdf.catalog.get('Pages'));
  if (root === undefined) return;
  enter(root, asReference(pdf.catalog.get('Pages'))?.number);
  for (let part = open.at(-1); part !== undefined; part = open.at(-1)) {
    spend();
    const next = part.kids.next();
    if (next.done === true) {
      open.pop();
      const count = asInteger(pdf.resolve(part.dict.get('Count')));
      if (count !== page - part.from) yield { page: part.from, fault: 'count' };
      continue;
    }
    const number = asReference(next.value)?.number;
    const dict = pdf.dict(next.value);
    const isAgain = number !== undefined && seen.has(number);
    const fault = isAgain ? 'again' : faultOf(pdf, part, number, dict);
    if (fault !== undefined) yield { page, fault };
    if (dict === undefined) continue;
    if (dict.get('Kids') === undefined) {
      if (number !== undefined) seen.add(number);
      page++;
    } else if (!isAgain) enter(dict, number);
  }
}

function faultOf(
  pdf: PdfDocument,
  parent: Part,
  number: number | undefined,
  dict: PdfDict | undefined,
): TreeFault['fault'] | undefined {
  if (dict === undefined) return 'missing';
  if (number === undefined) return 'direct';
  const type = asName(pdf.resolve(dict.get('Type')));
  if (type !== undefined && type !== (dict.get('Kids') === undefined ? 'Page' : 'Pages')) return 'kind';
  const named = asReference(dict.get('Parent'))?.number;
  return named !== undefined && named !== parent.number ? 'parent' : undefined;
}
