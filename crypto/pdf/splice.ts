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
  let text = '';
  let at = dict.start;
  const written = new Set<string>();
  for (const entry of dict.entries) {
    const key = keys.find((name) => dict.isKey(entry, name));
    const value = key === undefined ? undefined : changes.get(key);
    if (key === undefined || value === undefined) continue;
    // A key written twice ends up with one value, whichever of the two a reader believes.
    text += `${bytes.toString('latin1', at, entry.start)} ${value}`;
    at = entry.end;
    written.add(key);
  }
  text += bytes.toString('latin1', at, dict.end - 2);
  for (const [key, value] of changes) {
    if (!written.has(key)) text += `/${key} ${value}`;
  }
  return `${text}>>`;
}

/** The array with a value added at its end; a new array when there is none. */
export function appendItem(array: Piece, item: string): string {
  if (!isArray(array)) return `[${item}]`;
  const text = sourceText(array);
  return `${text.slice(0, -1)} ${item}]`;
}
