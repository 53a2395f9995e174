/**
 * Names of the files that jobs leave behind, and the format a name suggests.
 * Source: Batch Signing Service API, "What the service does" 5; batch-gaps §1 rows 1 and 10, §4.
 */
import { extname } from 'node:path';
import type { JobFormat } from '../machines/job-context.ts';

/** The longest file name common file systems take, in bytes. */
export const NAME_LIMIT = 255;

/** The last dot starts the extension; a leading dot does not (`.profile` has none). */
function split(fileName: string): { readonly stem: string; readonly extension: string } {
  const extension = extname(fileName);
  return { stem: fileName.slice(0, fileName.length - extension.length), extension };
}

/** What a profile makes of the names and the form of its outputs. */
export interface OutputForm {
  /** `PreserveFileExtension`: `a.bin` → `a.signed.bin`, for every format. */
  readonly preserveFileExtension: boolean;
  /** `SaveAsPem`: CMS as text. */
  readonly saveAsPem: boolean;
  /** `Detached`: CMS without its content. */
  readonly detached: boolean;
  readonly encrypted: boolean;
}

/** The form the document describes. */
export const PLAIN_FORM: OutputForm = {
  preserveFileExtension: true,
  saveAsPem: false,
  detached: false,
  encrypted: false,
};

/** Ends the name of an encryption envelope. */
export const ENVELOPE_EXTENSION = '.enc';

/** `report.pdf` → `report.signed.pdf`. Also what every signed file is called in its working folder. */
export function outputName(fileName: string): string {
  const { stem, extension } = split(fileName);
  return `${stem}.signed${extension}`;
}

/** A name in pieces: `<stem>[mark]<before><extension><after>`. */
interface Pieces {
  readonly stem: string;
  readonly before: string;
  readonly extension: string;
  readonly after: string;
}

function piecesOf(fileName: string, format: JobFormat, form: OutputForm): Pieces {
  const { stem, extension } = split(fileName);
  const envelope = form.encrypted ? ENVELOPE_EXTENSION : '';
  if (format === 'Cades' && form.detached) return { stem, before: '', extension, after: `.p7s${envelope}` };
  if (form.preserveFileExtension || format === 'Pades')
    return { stem, before: '.signed', extension, after: envelope };
  if (format === 'Xades') return { stem, before: '.signed', extension: '.xml', after: envelope };
  return { stem, before: '', extension, after: `${form.saveAsPem ? '.pem' : '.p7m'}${envelope}` };
}

/**
 * Both names a job may publish under: the wanted one, and the one used when that is taken
 * (`report-1a2b3c4d.signed.pdf`). In the second, the stem, and an extension without end, give up what the limit
 * has no room for.
 */
export function outputNames(
  fileName: string,
  jobId: string,
  format: JobFormat = 'Pades',
  form: OutputForm = PLAIN_FORM,
): readonly [string, string] {
  const { stem, before, extension, after } = piecesOf(fileName, format, form);
  const mark = `-${jobId.slice(0, 8)}`;
  const kept = cutToBytes(extension, NAME_LIMIT - Buffer.byteLength(mark + before + after));
  const end = `${mark}${before}${kept}${after}`;
  return [
    `${stem}${before}${extension}${after}`,
    `${cutToBytes(stem, NAME_LIMIT - Buffer.byteLength(end))}${end}`,
  ];
}

const FORMS: readonly OutputForm[] = [
  PLAIN_FORM,
  { ...PLAIN_FORM, preserveFileExtension: false },
  { ...PLAIN_FORM, preserveFileExtension: false, saveAsPem: true },
  { ...PLAIN_FORM, detached: true },
];

/**
 * Every name a job may have been published under, whatever its profile said then: the configuration may have
 * changed since.
 */
export function possibleOutputNames(fileName: string, jobId: string): readonly string[] {
  const formats: readonly JobFormat[] = ['Cades', 'Xades'];
  const names = formats.flatMap((format) =>
    FORMS.flatMap((form) =>
      [false, true].flatMap((encrypted) => outputNames(fileName, jobId, format, { ...form, encrypted })),
    ),
  );
  return [...new Set(names)];
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

/** Content type of a published file. Source: batch-gaps §3. */
export function outputContentType(format: JobFormat, form: Partial<OutputForm> = PLAIN_FORM): string {
  if (form.encrypted) return 'application/octet-stream';
  if (format === 'Pades') return 'application/pdf';
  if (format === 'Xades') return 'application/xml';
  if (form.saveAsPem) return 'application/x-pem-file';
  return form.detached ? 'application/pkcs7-signature' : 'application/pkcs7-mime';
}
