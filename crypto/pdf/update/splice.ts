/** Replaces single values of a dictionary or array and keeps all other bytes. */
import { sourceText } from '../syntax/source-text.ts';
import { type ByteSlice, isArray, type PdfDict, readDict } from '../syntax/values.ts';

/** Sets keys to new values, as text of one byte per character; strings are not encrypted. */
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
    // A repeated key gets one value in both places, so that all readers agree.
    kept += `${bytes.toString('latin1', at, entry.start)} ${value}`;
    at = entry.end;
    written.add(key);
  }
  kept += bytes.toString('latin1', at, dict.end);
  let added = '';
  for (const [key, value] of changes) {
    if (!written.has(key)) added += `/${key} ${value}`;
  }
  // At the beginning, since a damaged dictionary may end in a key without a value, which would take the new text as
  // its value.
  return `<<${added}${kept}`;
}

/** Appends a value to the array; creates an array when there is none. */
export function appendItem(array: ByteSlice, item: string): string {
  if (!isArray(array)) return `[${item}]`;
  const text = sourceText(array);
  return `${text.slice(0, -1)} ${item}]`;
}
