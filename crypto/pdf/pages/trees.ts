/** Reads name trees and number trees (ISO 32000-2, 7.9.6 and 7.9.7) as lists. */

import type { PdfDocument } from '../document/document.ts';
import { PdfSyntaxError } from '../syntax/damage.ts';
import { asReference, type ByteSlice, items } from '../syntax/values.ts';

/** Most entries; each takes memory. */
const MAX_ENTRIES = 200_000;
const MAX_DEPTH = 64;

/**
 * Iterates over unparsed keys and their values, in the order of the tree. @throws PdfSyntaxError when there are too many
 */
export function* treeEntries(
  pdf: PdfDocument,
  root: ByteSlice | undefined,
  list: 'Names' | 'Nums',
): Generator<readonly [key: ByteSlice, value: ByteSlice]> {
  const seen = new Set<number>();
  const open: Iterator<ByteSlice>[] = root === undefined ? [] : [[root].values()];
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
    let key: ByteSlice | undefined;
    for (const item of items(pdf.resolve(node.get(list)))) {
      if (key === undefined) {
        key = item;
        continue;
      }
      if (++count > MAX_ENTRIES)
        throw new PdfSyntaxError(`A tree of names has more than ${MAX_ENTRIES} entries.`);
      yield [pdf.resolve(key), item];
      key = undefined;
    }
    if (open.length < MAX_DEPTH) open.push(items(pdf.resolve(node.get('Kids'))));
  }
}
