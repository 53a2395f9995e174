/**
 * Outlines: those of the files, each below an entry for its file (ISO 32000-2, 12.3.3).
 */

import { referenceText } from '../pades/draft.ts';
import { asInteger, asReference, type PdfDict, type Piece, type Reference } from '../pdf/index.ts';
import type { Importer } from './import.ts';
import type { NewPdf } from './new-pdf.ts';

export interface OutlineEntry {
  /** Keys and values: title, where it leads, how it looks. */
  readonly keys: string;
  readonly kids: readonly OutlineEntry[];
  readonly isOpen: boolean;
}

/** Longer outlines are cut: nobody reads them. */
const MOST_ENTRIES = 20_000;
const MAX_DEPTH = 50;

const KEPT = ['Title', 'Dest', 'A', 'C', 'F'];

/** The outline of a file; empty when it has none. */
export function copyOutline(importer: Importer): readonly OutlineEntry[] {
  const { pdf } = importer;
  const seen = new Set<number>();
  let count = 0;
  const level = (first: Piece | undefined, depth: number): readonly OutlineEntry[] => {
    const entries: OutlineEntry[] = [];
    for (let next = first; next !== undefined && depth < MAX_DEPTH; ) {
      const number = asReference(next)?.number;
      const dict = pdf.dict(next);
      if (number === undefined || dict === undefined || seen.has(number) || ++count > MOST_ENTRIES) break;
      seen.add(number);
      const kids = level(dict.get('First'), depth + 1);
      const isOpen = (asInteger(pdf.resolve(dict.get('Count'))) ?? 0) > 0;
      entries.push({ keys: keysOf(importer, dict), kids, isOpen });
      next = dict.get('Next');
    }
    return entries;
  };
  return level(pdf.dict(pdf.catalog.get('Outlines'))?.get('First'), 0);
}

function keysOf(importer: Importer, dict: PdfDict): string {
  let keys = '';
  for (const key of KEPT) {
    const value = dict.get(key);
    if (value === undefined) continue;
    const text = key === 'Dest' ? importer.destination(value) : importer.value(value);
    if (text !== undefined) keys += `/${key} ${text}`;
  }
  return dict.get('Title') === undefined ? `/Title()${keys}` : keys;
}

/** Writes the entries; undefined when there are none. */
export function putOutline(out: NewPdf, entries: readonly OutlineEntry[]): Reference | undefined {
  if (entries.length === 0) return undefined;
  const root = out.reserve();
  out.put(root, `<</Type/Outlines${putLevel(out, entries, root)}/Count ${shownCount(entries)}>>`);
  return root;
}

/** @returns the keys that lead to the first and the last of them */
function putLevel(out: NewPdf, entries: readonly OutlineEntry[], parent: Reference): string {
  const references = entries.map(() => out.reserve());
  const at = (index: number, key: string): string => {
    const reference = references[index];
    return reference === undefined ? '' : `/${key} ${referenceText(reference)}`;
  };
  for (const [index, { keys, kids, isOpen }] of entries.entries()) {
    const own = references[index];
    if (own === undefined) continue;
    const below =
      kids.length === 0
        ? ''
        : `${putLevel(out, kids, own)}/Count ${isOpen ? shownCount(kids) : -shownCount(kids)}`;
    out.put(
      own,
      `<<${keys}/Parent ${referenceText(parent)}${at(index - 1, 'Prev')}${at(index + 1, 'Next')}${below}>>`,
    );
  }
  return `${at(0, 'First')}${at(references.length - 1, 'Last')}`;
}

/** How many are seen while those that are closed stay closed. */
function shownCount(entries: readonly OutlineEntry[]): number {
  return entries.reduce((sum, { kids, isOpen }) => sum + 1 + (isOpen ? shownCount(kids) : 0), 0);
}
