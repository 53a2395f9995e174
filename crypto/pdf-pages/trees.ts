/**
 * Name trees and number trees (ISO 32000-2, 7.9.6 and 7.9.7), read as the lists they stand for.
 */
import { asReference, items, PdfDamage, type PdfDocument, type Piece } from '../pdf/index.ts';

/** More than any document of people has; each takes memory. */
const MOST_ENTRIES = 200_000;
const MAX_DEPTH = 64;

/** Keys, not looked at, with their values, in the order of the tree. @throws PdfDamage when there are too many */
export function* treeEntries(
  pdf: PdfDocument,
  root: Piece | undefined,
  list: 'Names' | 'Nums',
): Generator<readonly [key: Piece, value: Piece]> {
  const seen = new Set<number>();
  const open: Iterator<Piece>[] = root === undefined ? [] : [[root].values()];
  let count = 0;
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    const next = last.next();
    if (next.done === true) {
      open.pop();
      continue;
    }
    const reference = asReference(next.value);
    if (reference !== undefined) {
      if (seen.has(reference.number)) continue;
      seen.add(reference.number);
    }
    const node = pdf.dict(next.value);
    if (node === undefined) continue;
    let key: Piece | undefined;
    for (const item of items(pdf.resolve(node.get(list)))) {
      if (key === undefined) {
        key = item;
        continue;
      }
      if (++count > MOST_ENTRIES)
        throw new PdfDamage(`A tree of names has more than ${MOST_ENTRIES} entries.`);
      yield [pdf.resolve(key), item];
      key = undefined;
    }
    if (open.length < MAX_DEPTH) open.push(items(pdf.resolve(node.get('Kids'))));
  }
}
