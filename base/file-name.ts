/** Lengths of file names. */
import { extname } from 'node:path';

/** Maximum length of a file name on common file systems, bytes. */
export const NAME_LIMIT = 255;

/** Longest extension that a shortened name keeps, bytes. */
const EXTENSION_LIMIT = 32;

/** The name itself, or one of at most `limit` bytes, with the end of its stem cut off. */
export function shortFileName(fileName: string, limit: number = NAME_LIMIT): string {
  if (Buffer.byteLength(fileName) <= limit) return fileName;
  const extension = extname(fileName);
  const kept = Buffer.byteLength(extension) < EXTENSION_LIMIT ? extension : '';
  const stem = fileName.slice(0, fileName.length - extension.length);
  return `${cutToBytes(stem, limit - Buffer.byteLength(kept))}${kept}`;
}

/** The longest prefix of whole characters with at most `limit` bytes. */
export function cutToBytes(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text;
  let kept = '';
  let length = 0;
  // By code points: half a surrogate pair would not survive on disk.
  for (const character of text) {
    length += Buffer.byteLength(character);
    if (length > limit) break;
    kept += character;
  }
  return kept;
}
