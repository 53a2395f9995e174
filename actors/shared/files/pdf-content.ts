/** Tells by the first bytes of a file whether it is a PDF. Source: docs/decisions/0319-types-by-content.md. */
import { formatOfHeader, HEADER_BYTES } from '@sealwright/signatures';

/** Name and media type of a file, as its sender gave them. */
export interface DeclaredFile {
  readonly name: string;
  readonly contentType: string;
}

const PDF_TYPE = /^application\/(?:x-)?pdf$/i;
/** Types that say nothing about the content. */
const ANY_TYPE = /^(?:(?:application|binary)\/(?:octet-stream|x-download|force-download|download)|\*\/\*|)$/i;
/** A byte order mark and white space may stand before the header. */
const AT_START = /^(?:\u00ef\u00bb\u00bf)?[\s\0]*%PDF-/;
/** The header of a PDF on a line of its own, not in a sentence. */
const ON_A_LINE = /(?:^|[^ -~])%PDF-\d\.\d\s/;

/**
 * Behind other bytes a header counts where name or declared type say PDF, or where the type says nothing and the header is on a
 * line of its own: a text about PDFs is none. ZIP, CMS and XML are recognized first, also where they hold a PDF.
 * @param head first bytes of the file; `HEADER_BYTES` of them count
 */
export function isPdfContent(head: Buffer, { name, contentType }: DeclaredFile): boolean {
  const looked = head.subarray(0, HEADER_BYTES);
  if (formatOfHeader(looked) !== 'Pades') return false;
  const text = looked.toString('latin1');
  if (AT_START.test(text) || PDF_TYPE.test(contentType) || /\.pdf$/i.test(name)) return true;
  return ANY_TYPE.test(contentType) && ON_A_LINE.test(text);
}
