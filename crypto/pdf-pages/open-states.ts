/**
 * How many graphics states a page's content leaves open (ISO 32000-2, 8.4.2). What is drawn after it would otherwise
 * stand where the page happened to move its coordinates to.
 */
import { isArray, items, PdfDamage, type PdfDict, type PdfDocument } from '../pdf/index.ts';

/** Content beyond this is taken to be in order, bytes unpacked. */
const MOST_BYTES = 16 << 20;
/** Nobody nests deeper; what does is not worth following. */
const MOST_STATES = 100;

/** Strings, comments, names and words; what stands between them does not matter. */
const TOKEN = /\((?:[^()\\]|\\[\s\S])*\)|<(?!<)[^>]*>|%[^\r\n]*|\/[^\s()<>[\]{}/%]*|[^\s()<>[\]{}/%]+/g;

/** 0 for content that cannot be read: readers show it in their own ways. */
export function openStates(pdf: PdfDocument, page: PdfDict): number {
  try {
    const content = contentOf(pdf, page);
    return content === undefined ? 0 : depthAtEnd(content);
  } catch (error) {
    if (error instanceof PdfDamage) return 0;
    throw error;
  }
}

function contentOf(pdf: PdfDocument, page: PdfDict): string | undefined {
  const contents = page.get('Contents');
  const found = pdf.resolve(contents);
  const parts: string[] = [];
  let length = 0;
  for (const piece of isArray(found) ? items(found) : [contents]) {
    const part = pdf.stream(piece);
    length += part?.length ?? 0;
    if (length > MOST_BYTES) return undefined;
    if (part !== undefined) parts.push(part.toString('latin1'));
  }
  return parts.join('\n');
}

function depthAtEnd(content: string): number {
  let depth = 0;
  TOKEN.lastIndex = 0;
  for (let found = TOKEN.exec(content); found !== null; found = TOKEN.exec(content)) {
    const [token] = found;
    if (token === 'q') depth++;
    // One too many changes nothing.
    else if (token === 'Q') depth = Math.max(0, depth - 1);
    else if (token === 'ID') {
      // The data of a picture inside the content may hold anything.
      const end = /\sEI(?=\s|$)/g;
      end.lastIndex = TOKEN.lastIndex;
      if (end.exec(content) === null) return 0;
      TOKEN.lastIndex = end.lastIndex;
    }
  }
  return Math.min(depth, MOST_STATES);
}
