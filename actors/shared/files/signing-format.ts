/**
 * Format of a file that comes without one: by its extension, and where that says nothing, by its first bytes.
 * Source: docs/decisions/0349-formats-by-content.md.
 */
import { extname } from 'node:path';
import { formatOfHeader, HEADER_BYTES } from '@sealwright/signatures';
import type { JobFormat } from '../../../machines/batch/job-context.ts';
import { isPdfContent } from './pdf-content.ts';

/** Undefined: the content tells. */
export function formatByName(fileName: string): JobFormat | undefined {
  const extension = extname(fileName).toLowerCase();
  if (extension === '.pdf') return 'Pades';
  return extension === '.xml' ? 'Xades' : undefined;
}

const TYPES: { readonly [format in JobFormat]: string } = {
  Pades: 'application/pdf',
  Xades: 'application/xml',
  Cades: 'application/octet-stream',
};

/** Content type of a file to be signed. @param format that of its job, where the extension says nothing */
export function inputContentType(fileName: string, format: JobFormat): string {
  return TYPES[formatByName(fileName) ?? format];
}

/** Format of a file that `formatByName` does not know. @param head its first bytes; `HEADER_BYTES` of them count */
export function formatByContent(head: Buffer, name: string): JobFormat {
  if (isPdfContent(head, { name, contentType: '' })) return 'Pades';
  return isXmlToSign(head) ? 'Xades' : 'Cades';
}

/** Format of a signed file, whatever it is called. @param head as of `formatByContent` */
export function formatOfSigned(head: Buffer): JobFormat {
  const found = formatOfHeader(head.subarray(0, HEADER_BYTES));
  return found === undefined || found === 'Asic' ? 'Cades' : found;
}

/** With a declaration: a text may begin with `<`. XAdES takes no document type; HTML is no data. */
function isXmlToSign(head: Buffer): boolean {
  const text = textOf(head.subarray(0, HEADER_BYTES));
  return /^<\?xml\s/.test(text) && !/<!DOCTYPE|<(?:[\w-]+:)?html[\s>]/i.test(text);
}

/** The encodings of XML that its first bytes tell (XML 1.0, Annex F); markup of the others is ASCII. */
function textOf(head: Buffer): string {
  const start = head.subarray(0, 2).toString('hex');
  const wide = head.subarray(0, head.length & ~1);
  const text =
    start === 'feff' || start === '003c'
      ? Buffer.from(wide).swap16().toString('utf16le')
      : head.toString(
          start === 'fffe' || wide.subarray(0, 2).equals(Buffer.from('<\0')) ? 'utf16le' : 'utf8',
        );
  return text.replace(/^\ufeff/, '');
}
