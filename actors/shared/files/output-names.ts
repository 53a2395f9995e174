/**
 * Output names of jobs. Source: docs/batch-values.md §0 (5), §1 rows 1 and 10, §4.
 */
import { extname } from 'node:path';
import type { JobFormat } from '../../../machines/batch/job-context.ts';

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

/** The last dot starts the extension; a leading dot does not (`.profile` has none). */
function split(fileName: string): { readonly stem: string; readonly extension: string } {
  const extension = extname(fileName);
  return { stem: fileName.slice(0, fileName.length - extension.length), extension };
}

/** Naming and format of a profile's outputs. */
export interface OutputFormat {
  /** `PreserveFileExtension`: `a.bin` → `a.signed.bin`, for every format. */
  readonly preserveFileExtension: boolean;
  /** `SaveAsPem`: CMS as text. */
  readonly saveAsPem: boolean;
  /** `Detached`: CMS without its content. */
  readonly detached: boolean;
  /** `Container`: the signature goes into an ASiC container of one file (`S`) or of any number (`E`). @default none */
  readonly container?: 'S' | 'E';
  /** The input is a signed file that was extended: `a.signed.pdf` → `a.signed.extended.pdf`. @default false */
  readonly extended?: boolean;
  readonly encrypted: boolean;
}

/** The format of the API document. */
export const PLAIN_FORM: OutputFormat = {
  preserveFileExtension: true,
  saveAsPem: false,
  detached: false,
  encrypted: false,
};

/** Extension of a container (EN 319 162-1 §4.3.2, §4.4.2). */
const CONTAINER_EXTENSION = { S: '.asics', E: '.asice' } as const;

/** Extension of an encrypted output. */
export const ENVELOPE_EXTENSION = '.enc';

/** `report.pdf` → `report.signed.pdf`. Also the name of every signed file in its working folder. */
export function outputName(fileName: string): string {
  const { stem, extension } = split(fileName);
  return `${stem}.signed${extension}`;
}

/** Components of a name: `<stem>[mark]<before><extension><after>`. */
interface NameComponents {
  readonly stem: string;
  readonly before: string;
  readonly extension: string;
  readonly after: string;
}

function nameComponents(fileName: string, format: JobFormat, form: OutputFormat): NameComponents {
  const { stem, extension } = split(fileName);
  const envelope = form.encrypted ? ENVELOPE_EXTENSION : '';
  if (form.extended) return { stem, before: '.extended', extension, after: envelope };
  if (form.container !== undefined && format !== 'Pades')
    return { stem, before: '', extension, after: `${CONTAINER_EXTENSION[form.container]}${envelope}` };
  if (format === 'Cades' && form.detached) return { stem, before: '', extension, after: `.p7s${envelope}` };
  if (form.preserveFileExtension || format === 'Pades')
    return { stem, before: '.signed', extension, after: envelope };
  if (format === 'Xades') return { stem, before: '.signed', extension: '.xml', after: envelope };
  return { stem, before: '', extension, after: `${form.saveAsPem ? '.pem' : '.p7m'}${envelope}` };
}

/**
 * Names of a job's output: the preferred one, the one used when that is taken (`report-1a2b3c4d.signed.pdf`), and one with
 * the whole id: jobs that two nodes make in the same millisecond have ids that begin alike. In these, the stem and an
 * overlong extension are cut to the limit.
 */
export function outputNames(
  fileName: string,
  jobId: string,
  format: JobFormat = 'Pades',
  form: OutputFormat = PLAIN_FORM,
): readonly [wanted: string, beside: string, whole: string] {
  const { stem, before, extension, after } = nameComponents(fileName, format, form);
  const marked = (id: string): string => {
    const mark = `-${id}`;
    const kept = cutToBytes(extension, NAME_LIMIT - Buffer.byteLength(mark + before + after));
    const end = `${mark}${before}${kept}${after}`;
    return `${cutToBytes(stem, NAME_LIMIT - Buffer.byteLength(end))}${end}`;
  };
  return [`${stem}${before}${extension}${after}`, marked(jobId.slice(0, 8)), marked(jobId)];
}

/** Bytes of the longer one of the names that a signed file has: in its working folder, and as the preferred output. */
export function bytesOfOutputName(fileName: string, format: JobFormat, form: OutputFormat): number {
  const { stem, before, extension, after } = nameComponents(fileName, format, form);
  return Math.max(
    Buffer.byteLength(outputName(fileName)),
    Buffer.byteLength(`${stem}${before}${extension}${after}`),
  );
}

const FORMS: readonly OutputFormat[] = [
  PLAIN_FORM,
  { ...PLAIN_FORM, preserveFileExtension: false },
  { ...PLAIN_FORM, preserveFileExtension: false, saveAsPem: true },
  { ...PLAIN_FORM, detached: true },
  { ...PLAIN_FORM, extended: true },
  { ...PLAIN_FORM, container: 'S' },
  { ...PLAIN_FORM, container: 'E' },
];

/** All possible output names of a job under any configuration of its profile, which may have changed. */
export function possibleOutputNames(fileName: string, jobId: string): readonly string[] {
  const formats: readonly JobFormat[] = ['Cades', 'Xades'];
  const names = formats.flatMap((format) =>
    FORMS.flatMap((form) =>
      [false, true].flatMap((encrypted) => outputNames(fileName, jobId, format, { ...form, encrypted })),
    ),
  );
  return [...new Set(names)];
}

/** Content type of a published file. Source: docs/batch-values.md §3. */
export function outputContentType(format: JobFormat, form: Partial<OutputFormat> = PLAIN_FORM): string {
  if (form.encrypted) return 'application/octet-stream';
  if (format === 'Pades') return 'application/pdf';
  if (form.container === 'S') return 'application/vnd.etsi.asic-s+zip';
  if (form.container === 'E') return 'application/vnd.etsi.asic-e+zip';
  if (format === 'Xades') return 'application/xml';
  if (form.saveAsPem) return 'application/x-pem-file';
  return form.detached ? 'application/pkcs7-signature' : 'application/pkcs7-mime';
}
