/**
 * Counts the graphics states that a page's content leaves open (ISO 32000-2, 8.4.2). Without closing them, an overlay
 * would be drawn in the coordinates at the end of the content.
 */

import type { PdfDocument } from '../document/document.ts';
import { PdfSyntaxError } from '../syntax/damage.ts';
import { unpack } from '../syntax/filters.ts';
import { asReference, isArray, items, type PdfDict } from '../syntax/values.ts';

/** Most decoded bytes of one page that are checked; larger content is assumed to be balanced. */
const MAX_BYTES = 4 << 20;
/** Most decoded bytes of a whole file that are checked: few files need it. */
const MAX_BYTES_OF_FILE = 64 << 20;

/** Remaining bytes of a file that may be parsed. */
export class ByteBudget {
  left: number = MAX_BYTES_OF_FILE;
}
/** Most open states. */
const MAX_STATES = 100;

/** Strings, comments, names and operators; other characters are irrelevant. */
const TOKEN = /\((?:[^()\\]|\\[\s\S])*\)|<(?!<)[^>]*>|%[^\r\n]*|\/[^\s()<>[\]{}/%]*|[^\s()<>[\]{}/%]+/g;

/** Quick check for an operator `q`, before all tokens are parsed. */
const OPENS = /(?:^|[\s\])>])q(?=\s|$)/;

/** Returns the open states; 0 for unreadable content, which readers show in different ways. */
export function openStates(pdf: PdfDocument, page: PdfDict, byteBudget: ByteBudget): number {
  try {
    const content = contentOf(pdf, page, byteBudget);
    return content === undefined ? 0 : depthAtEnd(content);
  } catch (error) {
    if (error instanceof PdfSyntaxError) return 0;
    throw error;
  }
}

function contentOf(pdf: PdfDocument, page: PdfDict, byteBudget: ByteBudget): string | undefined {
  const contents = page.get('Contents');
  const found = pdf.resolve(contents);
  const parts: string[] = [];
  let length = 0;
  for (const slice of isArray(found) ? items(found) : [contents]) {
    if (byteBudget.left <= 0) return undefined;
    const part = streamOf(pdf, asReference(slice)?.number);
    length += part.length;
    byteBudget.left -= part.length;
    if (length > MAX_BYTES) return undefined;
    parts.push(part.toString('latin1'));
  }
  return parts.join('\n');
}

/** Decodes the stream here, since the limits of the file reader apply to structure streams only. */
function streamOf(pdf: PdfDocument, number: number | undefined): Buffer {
  const dict = number === undefined ? undefined : pdf.dict(pdf.plainObject(number)?.value);
  const packed = number === undefined ? undefined : pdf.packedStream(number);
  if (dict === undefined || packed === undefined) return Buffer.alloc(0);
  return unpack(dict, packed, (slice) => pdf.resolve(slice));
}

function depthAtEnd(content: string): number {
  if (!OPENS.test(content)) return 0;
  let depth = 0;
  TOKEN.lastIndex = 0;
  for (let found = TOKEN.exec(content); found !== null; found = TOKEN.exec(content)) {
    const [token] = found;
    if (token === 'q') depth++;
    // An unmatched `Q` has no effect.
    else if (token === 'Q') depth = Math.max(0, depth - 1);
    else if (token === 'ID') {
      // The data of an inline image may contain anything.
      const end = /\sEI(?=\s|$)/g;
      end.lastIndex = TOKEN.lastIndex;
      if (end.exec(content) === null) return 0;
      TOKEN.lastIndex = end.lastIndex;
    }
  }
  return Math.min(depth, MAX_STATES);
}
