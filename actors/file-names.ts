/**
 * Names of the files that jobs leave behind, and the format a name suggests.
 * Source: Batch Signing Service API, "What the service does" 5; batch-gaps §1 rows 1 and 10, §4.
 */
import { extname } from 'node:path';
import type { JobFormat } from '../machines/job.ts';

/** The longest file name common file systems take, in bytes. */
export const NAME_LIMIT = 255;

/** The last dot starts the extension; a leading dot does not (`.profile` has none). */
function split(fileName: string): { readonly stem: string; readonly extension: string } {
  const extension = extname(fileName);
  return { stem: fileName.slice(0, fileName.length - extension.length), extension };
}

/** `report.pdf` → `report.signed.pdf`. */
export function outputName(fileName: string): string {
  const { stem, extension } = split(fileName);
  return `${stem}.signed${extension}`;
}

/**
 * The name used when `outputName` is taken: `report-1a2b3c4d.signed.pdf`. The stem, and an extension without
 * end, give up what the limit has no room for.
 */
export function outputNameBeside(fileName: string, jobId: string): string {
  const { stem, extension } = split(fileName);
  const mark = `-${jobId.slice(0, 8)}.signed`;
  const kept = cutToBytes(extension, NAME_LIMIT - Buffer.byteLength(mark));
  return `${cutToBytes(stem, NAME_LIMIT - Buffer.byteLength(mark + kept))}${mark}${kept}`;
}

/** Both names a job may publish under, the wanted one first. */
export function outputNames(fileName: string, jobId: string): readonly [string, string] {
  return [outputName(fileName), outputNameBeside(fileName, jobId)];
}

/**
 * Name of the staged input in the working folder: the file's own name, or a shortened one where the file
 * system would not take it (an upload's name is the client's and may be any length).
 */
export function stagedName(fileName: string): string {
  if (Buffer.byteLength(fileName) <= NAME_LIMIT) return fileName;
  const { stem, extension } = split(fileName);
  const kept = Buffer.byteLength(extension) < 32 ? extension : '';
  return `${cutToBytes(stem, NAME_LIMIT - Buffer.byteLength(kept))}${kept}`;
}

/** The longest beginning of whole characters that takes at most `limit` bytes. */
export function cutToBytes(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text;
  let kept = '';
  let length = 0;
  // By code points: a pair of surrogates cut in half would come back from the disk as another name.
  for (const character of text) {
    length += Buffer.byteLength(character);
    if (length > limit) break;
    kept += character;
  }
  return kept;
}

/** Format by extension, for profiles that do not fix one. */
export function formatByName(fileName: string): JobFormat {
  const extension = extname(fileName).toLowerCase();
  if (extension === '.pdf') return 'Pades';
  if (extension === '.xml') return 'Xades';
  return 'Cades';
}

/** Content type of a file to be signed, by its extension. */
export function inputContentType(fileName: string): string {
  const extension = extname(fileName).toLowerCase();
  if (extension === '.pdf') return 'application/pdf';
  if (extension === '.xml') return 'application/xml';
  return 'application/octet-stream';
}

/** Content type of a signed file. Source: batch-gaps §3. */
export function outputContentType(format: JobFormat): string {
  if (format === 'Pades') return 'application/pdf';
  if (format === 'Xades') return 'application/xml';
  return 'application/pkcs7-mime';
}
