/** Copies the outlines of the files, each below an entry for its file (ISO 32000-2, 12.3.3). */

import { asInteger, asReference, type ByteSlice, type PdfDict, type Reference } from '../syntax/values.ts';
import { referenceText } from '../update/incremental-update.ts';
import type { Importer } from './import.ts';
import type { NewPdf } from './new-pdf.ts';

export interface OutlineEntry {
  /** Keys and values: title, destination, style. */
  readonly keys: string;
  readonly kids: readonly OutlineEntry[];
  readonly isOpen: boolean;
}

/** Most outline entries; the rest is dropped. */
const MAX_ENTRIES = 20_000;
const MAX_DEPTH = 50;

const COPIED_KEYS = ['Title', 'Dest', 'A', 'C', 'F'];

/** Copies the outline of a file; empty when it has none. */
export function copyOutline(importer: Importer): readonly OutlineEntry[] {
  const { pdf } = importer;
  const seen = new Set<number>();
  let count = 0;
  const level = (first: ByteSlice | undefined, depth: number): readonly OutlineEntry[] => {
    const entries: OutlineEntry[] = [];
    for (let next = first; next !== undefined && depth < MAX_DEPTH; ) {
      const number = asReference(next)?.number;
      const dict = pdf.dict(next);
      if (number === undefined || dict === undefined || seen.has(number) || ++count > MAX_ENTRIES) break;
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
  for (const key of COPIED_KEYS) {
    const value = dict.get(key);
    if (value === undefined) continue;
    const text = key === 'Dest' ? importer.destination(value) : importer.value(value);
    if (text !== undefined) keys += `/${key} ${text}`;
  }
  return dict.get('Title') === undefined ? `/Title()${keys}` : keys;
}

/** Writes the entries; undefined when there are none. */
export function writeOutline(out: NewPdf, entries: readonly OutlineEntry[]): Reference | undefined {
  if (entries.length === 0) return undefined;
  const root = out.reserve();
  out.put(root, `<</Type/Outlines${writeLevel(out, entries, root)}/Count ${shownCount(entries)}>>`);
  return root;
}

/** @returns the keys /First and /Last */
function writeLevel(out: NewPdf, entries: readonly OutlineEntry[], parent: Reference): string {
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
        : `${writeLevel(out, kids, own)}/Count ${isOpen ? shownCount(kids) : -shownCount(kids)}`;
    out.put(
      own,
      `<<${keys}/Parent ${referenceText(parent)}${at(index - 1, 'Prev')}${at(index + 1, 'Next')}${below}>>`,
    );
  }
  return `${at(0, 'First')}${at(references.length - 1, 'Last')}`;
}

/** Counts the visible entries, with closed entries closed (/Count). */
function shownCount(entries: readonly OutlineEntry[]): number {
  return entries.reduce((sum, { kids, isOpen }) => sum + 1 + (isOpen ? shownCount(kids) : 0), 0);
}
