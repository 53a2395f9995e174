/**
 * Finds page content that does not end in the state in which it began (ISO 32000-2, 8.4.2, 9.4 and 14.6): an overlay after
 * it would be drawn in other coordinates, inside its text, or in a hidden layer.
 */
import type { PdfDocument } from '../document/document.ts';
import { unpack } from '../syntax/filters.ts';
import { PdfSyntaxError } from '../syntax/reading-errors.ts';
import { asReference, isArray, items, type PdfDict } from '../syntax/values.ts';

/** Most decoded bytes of one page that are checked; larger content is assumed to be balanced. */
const MAX_BYTES = 4 << 20;
/** Most decoded bytes of a whole file that are checked: few files need it. */
const MAX_BYTES_OF_FILE = 64 << 20;

/** Remaining bytes of a file that may be parsed. */
export class ByteBudget {
  left: number = MAX_BYTES_OF_FILE;
}
/** Strings, comments, names and operators; other characters are irrelevant. */
const TOKEN = /\((?:[^()\\]|\\[\s\S])*\)|<(?!<)[^>]*>|%[^\r\n]*|\/[^\s()<>[\]{}/%]*|[^\s()<>[\]{}/%]+/g;

/**
 * Returns the decoded content of a page that is not balanced; undefined for other content, and for what cannot be read:
 * readers show it in different ways.
 */
export function unbalancedContent(
  pdf: PdfDocument,
  page: PdfDict,
  byteBudget: ByteBudget,
): Buffer | undefined {
  try {
    const content = contentOf(pdf, page, byteBudget);
    if (content === undefined || isBalanced(content)) return undefined;
    return Buffer.from(content, 'latin1');
  } catch (error) {
    if (error instanceof PdfSyntaxError) return undefined;
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

/** Operators that begin and end something, by kind. */
const STEPS: { readonly [operator: string]: readonly [kind: 0 | 1 | 2, step: 1 | -1] } = {
  q: [0, 1],
  Q: [0, -1],
  BT: [1, 1],
  ET: [1, -1],
  BMC: [2, 1],
  BDC: [2, 1],
  EMC: [2, -1],
};

function isBalanced(content: string): boolean {
  const depths = [0, 0, 0];
  let end = 0;
  TOKEN.lastIndex = 0;
  for (let found = TOKEN.exec(content); found !== null; found = TOKEN.exec(content)) {
    const [token] = found;
    // A text that does not end would contain the overlay.
    if (content.slice(end, found.index).includes('(')) return false;
    if (token === 'ID') {
      // The data of an inline image may contain anything.
      const image = /\sEI(?=\s|$)/g;
      image.lastIndex = TOKEN.lastIndex;
      if (image.exec(content) === null) return false;
      TOKEN.lastIndex = image.lastIndex;
    }
    end = TOKEN.lastIndex;
    const [kind, step] = Object.hasOwn(STEPS, token) ? (STEPS[token] ?? []) : [];
    if (kind === undefined || step === undefined) continue;
    const depth = (depths[kind] ?? 0) + step;
    if (depth < 0) return false;
    depths[kind] = depth;
  }
  return !content.slice(end).includes('(') && depths.every((depth) => depth === 0);
}
