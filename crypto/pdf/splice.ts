/**
 * Changes single values of a dictionary or array and keeps every other byte of it.
 */
import { sourceText } from './source-text.ts';
import { isArray, type PdfDict, type Piece, readDict } from './values.ts';

/** The dictionary with these keys set to new values, as text of one byte per character; strings in it are clear. */
export function spliceDict(original: PdfDict, changes: ReadonlyMap<string, string>): string {
  const dict =
    original.cipher === undefined ? original : readDict(Buffer.from(sourceText(original), 'latin1'), -1, 0);
  const { bytes } = dict;
  const keys = [...changes.keys()];
  let kept = '';
  let at = dict.start + 2;
  const written = new Set<string>();
  for (const entry of dict.entries) {
    const key = keys.find((name) => dict.isKey(entry, name));
    const value = key === undefined ? undefined : changes.get(key);
    if (key === undefined || value === undefined) continue;
    // A key written twice ends up with one value, whichever of the two a reader believes.
    kept += `${bytes.toString('latin1', at, entry.start)} ${value}`;
    at = entry.end;
    written.add(key);
  }
  kept += bytes.toString('latin1', at, dict.end);
  let added = '';
  for (const [key, value] of changes) {
    if (!written.has(key)) added += `/${key} ${value}`;
  }
  // In front, since a damaged dictionary may end in a key without a value, which would take ours for it.
  return `<<${added}${kept}`;
}

/** The array with a value added at its end; a new array when there is none. */
export function appendItem(array: Piece, item: string): string {
  if (!isArray(array)) return `[${item}]`;
  const text = sourceText(array);
  return `${text.slice(0, -1)} ${item}]`;
}
