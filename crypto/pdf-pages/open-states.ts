/**
 * How many graphics states a page's content leaves open (ISO 32000-2, 8.4.2). What is drawn after it would otherwise
 * stand where the page happened to move its coordinates to.
 */
import {
  asReference,
  isArray,
  items,
  PdfDamage,
  type PdfDict,
  type PdfDocument,
  unpack,
} from '../pdf/index.ts';

/** Content of one page beyond this is taken to be in order, bytes unpacked. */
const MOST_BYTES = 4 << 20;
/** The same for a whole file: looking costs time, and hardly any file needs it. */
const MOST_BYTES_OF_FILE = 64 << 20;

/** What may still be looked at of a file. */
export class Patience {
  left: number = MOST_BYTES_OF_FILE;
}
/** Nobody nests deeper; what does is not worth following. */
const MOST_STATES = 100;

/** Strings, comments, names and words; what stands between them does not matter. */
const TOKEN = /\((?:[^()\\]|\\[\s\S])*\)|<(?!<)[^>]*>|%[^\r\n]*|\/[^\s()<>[\]{}/%]*|[^\s()<>[\]{}/%]+/g;

/** Anything that may open a state; much quicker than looking at every token. */
const OPENS = /(?:^|[\s\])>])q(?=\s|$)/;

/** 0 for content that cannot be read: readers show it in their own ways. */
export function openStates(pdf: PdfDocument, page: PdfDict, patience: Patience): number {
  try {
    const content = contentOf(pdf, page, patience);
    return content === undefined ? 0 : depthAtEnd(content);
  } catch (error) {
    if (error instanceof PdfDamage) return 0;
    throw error;
  }
}

function contentOf(pdf: PdfDocument, page: PdfDict, patience: Patience): string | undefined {
  const contents = page.get('Contents');
  const found = pdf.resolve(contents);
  const parts: string[] = [];
  let length = 0;
  for (const piece of isArray(found) ? items(found) : [contents]) {
    if (patience.left <= 0) return undefined;
    const part = streamOf(pdf, asReference(piece)?.number);
    length += part.length;
    patience.left -= part.length;
    if (length > MOST_BYTES) return undefined;
    parts.push(part.toString('latin1'));
  }
  return parts.join('\n');
}

/** Unpacked here, because what a page shows is no structure, which is all the reader of the file allows for. */
function streamOf(pdf: PdfDocument, number: number | undefined): Buffer {
  const dict = number === undefined ? undefined : pdf.dict(pdf.plainObject(number)?.value);
  const packed = number === undefined ? undefined : pdf.packedStream(number);
  if (dict === undefined || packed === undefined) return Buffer.alloc(0);
  return unpack(dict, packed, (piece) => pdf.resolve(piece));
}

function depthAtEnd(content: string): number {
  if (!OPENS.test(content)) return 0;
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
