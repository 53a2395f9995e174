/**
 * Finds the tags in the text of a PDF. pdf.js reads the text: it knows the widths of glyphs and the encodings of fonts.
 * The limits of a task bound its time and memory.
 */
import { readFileSync } from 'node:fs';
import { describeFailure } from '@sealwright/runtime/core';
import { loadPdfJs, type TextItem } from '../drawing/pdf-js.ts';
import type { PortalResults, TextTag, TextTagsTask } from '../portal-tasks.ts';
import { TaskFailure } from '../task-failure.ts';

/** Most pages, and most characters of text, of a file with tags. */
const MAX_PAGES = 2_000;
const MAX_CHARACTERS = 5_000_000;
/** Characters between the braces are in one line. */
const TAG = /\{\{([^{}\n]{1,300})\}\}/g;
/** Extent of a line below and above its baseline, in font sizes. */
const DESCENT = 0.25;
const ASCENT = 0.95;

type Widths = readonly number[];

/** Advance widths of U+0020 to U+007E in Helvetica and Times, thousandths of the font size. */
const SANS: Widths = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556,
  556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278,
  500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469,
  556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500,
  278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
const SERIF: Widths = [
  250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500, 500, 500,
  500, 500, 500, 500, 500, 278, 278, 564, 564, 564, 444, 921, 722, 667, 667, 722, 611, 556, 722, 722, 333,
  389, 722, 611, 889, 722, 722, 556, 722, 667, 556, 611, 722, 722, 944, 722, 722, 611, 333, 278, 333, 469,
  500, 333, 444, 500, 444, 500, 444, 333, 500, 500, 278, 278, 500, 278, 778, 500, 500, 500, 500, 333, 389,
  278, 500, 500, 722, 500, 500, 444, 480, 200, 480, 541,
];

/**
 * Widths that letters of a font may have in proportion, the likeliest first. Some files call a font of serifs
 * sans-serif.
 */
const FAMILIES: { readonly [family: string]: readonly Widths[] } = {
  'sans-serif': [SANS, SERIF],
  serif: [SERIF, SANS],
};
const MONOSPACE: readonly Widths[] = [[]];
const OTHER_WIDTH = 556;

/** The widths of the letters of a piece, added up: the entry at an index is the width of what stands before it. */
type Offsets = Float64Array;

/** A piece of text on a page, with its place in the text of the page. */
interface Piece {
  readonly start: number;
  readonly text: string;
  /** In the direction of the text. */
  readonly width: number;
  readonly transform: readonly number[];
  readonly widths: readonly Widths[];
  /** By `widths`; computed when a tag is found in the piece, once for all of its tags. */
  readonly offsets: Offsets[];
}

/** Pieces and letters that the search for tags has visited, as a measure of its work. */
interface Visits {
  pieces: number;
  letters: number;
}

type Point = readonly number[];
type ToPagePoint = (x: number, y: number) => Point;

/**
 * @throws {TaskFailure} `document.unreadable` for text that cannot be read, `document.too-large` for more of it than is
 * read
 */
export async function findTextTags({ path, most }: TextTagsTask): Promise<PortalResults['portal.text-tags']> {
  const { getDocument, VerbosityLevel } = await loadPdfJs();
  const reading = getDocument({
    data: new Uint8Array(readFileSync(path)),
    disableFontFace: true,
    isEvalSupported: false,
    useSystemFonts: false,
    verbosity: VerbosityLevel.ERRORS,
  });
  try {
    const file = await reading.promise;
    if (file.numPages > MAX_PAGES)
      throw new TaskFailure('document.too-large', `A file with tags has at most ${MAX_PAGES} pages.`);
    const tags: TextTag[] = [];
    const visits: Visits = { pieces: 0, letters: 0 };
    let characters = 0;
    let found = 0;
    for (let pageNumber = 1; pageNumber <= file.numPages; pageNumber += 1) {
      const page = await file.getPage(pageNumber);
      const { items, styles } = await page.getTextContent();
      const { text, pieces } = joined(
        items.flatMap((item) => ('str' in item ? [item] : [])),
        (font) => FAMILIES[styles[font]?.fontFamily ?? ''] ?? MONOSPACE,
      );
      characters += text.length;
      if (characters > MAX_CHARACTERS)
        throw new TaskFailure(
          'document.too-large',
          `A file with tags has at most ${MAX_CHARACTERS} characters of text.`,
        );
      const view = page.getViewport({ scale: 1 });
      const toShown: ToPagePoint = (x, y) => view.convertToViewportPoint(x, y);
      for (const tag of tagsOf(text, pieces, pageNumber, { toShown, visits })) {
        found += 1;
        if (found > most)
          throw new TaskFailure('document.too-large', `A file has at most ${most} tags in its text.`);
        // Text without extent is not shown.
        if (isShown(tag)) tags.push(tag);
      }
      page.cleanup();
    }
    return { tags, visits };
  } catch (error) {
    if (error instanceof TaskFailure) throw error;
    throw new TaskFailure(
      'document.unreadable',
      `The text of the file cannot be read: ${describeFailure(error).message}`,
    );
  } finally {
    await reading.destroy();
  }
}

/** Joins the texts of a page: programs often write one word in several parts. */
function joined(
  items: readonly TextItem[],
  widthsOf: (font: string) => readonly Widths[],
): { readonly text: string; readonly pieces: readonly Piece[] } {
  const parts: string[] = [];
  const pieces: Piece[] = [];
  let start = 0;
  for (const { str, width, transform, fontName, hasEOL } of items) {
    if (str !== '')
      pieces.push({ start, text: str, width, transform, widths: widthsOf(fontName), offsets: [] });
    const part = hasEOL ? `${str}\n` : str;
    parts.push(part);
    start += part.length;
  }
  return { text: parts.join(''), pieces };
}

function* tagsOf(
  text: string,
  pieces: readonly Piece[],
  pageNumber: number,
  { toShown, visits }: { readonly toShown: ToPagePoint; readonly visits: Visits },
): Generator<TextTag> {
  let first = 0;
  for (const match of text.matchAll(TAG)) {
    const end = match.index + match[0].length;
    while (first < pieces.length && endOf(pieces[first]) <= match.index) {
      first += 1;
      visits.pieces += 1;
    }
    const likely: Point[] = [];
    const possible: Point[] = [];
    for (let at = first; at < pieces.length; at += 1) {
      const piece = pieces[at];
      if (piece === undefined || piece.start >= end) break;
      visits.pieces += 1;
      const from = match.index - piece.start;
      const to = end - piece.start;
      for (const index of piece.widths.keys()) {
        if (piece.offsets[index] === undefined) visits.letters += piece.text.length;
        const corners = cornersOf(piece, from, { to, index, toShown });
        possible.push(...corners);
        if (index === 0) likely.push(...corners);
      }
    }
    const place = { ...boxAround(likely), pageNumber };
    yield { text: match[1] ?? '', place, cover: { ...boxAround(possible), pageNumber } };
  }
}

function isShown({ place }: TextTag): boolean {
  return Object.values(place).every(Number.isFinite) && place.width > 0 && place.height > 0;
}

function boxAround(points: readonly Point[]): Omit<TextTag['place'], 'pageNumber'> {
  const xs = points.map(([x = 0]) => x);
  const ys = points.map(([, y = 0]) => y);
  const topLeftX = Math.min(...xs);
  const topLeftY = Math.min(...ys);
  return { topLeftX, topLeftY, width: Math.max(...xs) - topLeftX, height: Math.max(...ys) - topLeftY };
}

function endOf(piece: Piece | undefined): number {
  return piece === undefined ? 0 : piece.start + piece.text.length;
}

/** Corners of a part of a piece, as shown. pdf.js tells the width of the piece, and not of its letters. */
function cornersOf(
  piece: Piece,
  from: number,
  { to, index, toShown }: { readonly to: number; readonly index: number; readonly toShown: ToPagePoint },
): readonly Point[] {
  const { text, width, transform } = piece;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = transform;
  const along = Math.hypot(a, b) || 1;
  const up = Math.hypot(c, d) || 1;
  const offsets = offsetsOf(piece, index);
  const total = offsets.at(-1) ?? 0;
  const offset = (at: number) => ((offsets[Math.max(0, Math.min(at, text.length))] ?? 0) / total) * width;
  return [offset(from), offset(to)].flatMap((x) =>
    [-DESCENT * up, ASCENT * up].map((y) =>
      toShown(e + (a / along) * x + (c / up) * y, f + (b / along) * x + (d / up) * y),
    ),
  );
}

function offsetsOf({ text, widths, offsets }: Piece, index: number): Offsets {
  const known = offsets[index];
  if (known !== undefined) return known;
  const made = new Float64Array(text.length + 1);
  let width = 0;
  for (let at = 0; at < text.length; at += 1) {
    width += widths[index]?.[text.charCodeAt(at) - 0x20] ?? OTHER_WIDTH;
    made[at + 1] = width;
  }
  offsets[index] = made;
  return made;
}
