/**
 * Reads the text that marks show as a person would: in the order of its places on the page, and only what can be seen.
 * A text that is tiny, of the colour of its background, covered, clipped or set as a superscript is not read.
 */
import { visualGlyphs } from '../../pdf/fonts/shaping.ts';
import { leadersIn } from '../painting/covered-content.ts';
import { NARROW_WIDTH, usualWidth } from '../painting/font-text.ts';
import { areaOf, areaWithin, around, type Box, commonArea, contains } from '../painting/geometry.ts';
import type { Glyph, Mark } from '../painting/painted-marks.ts';

/** Comparisons of a glyph with a mark in one step. */
const COMPARISONS_PER_STEP = 500;

/** One glyph with its mark and the order in which it is painted. */
interface Placed {
  readonly glyph: Glyph;
  readonly size: number;
}

export type ReadText =
  /** `text` has line breaks, and spaces for gaps between digits. */
  | { readonly text: string }
  /** `fault` completes `gave the field X an appearance that …`. */
  | { readonly fault: string; readonly isDecided: boolean; readonly isOrder?: boolean };

/** Least size of a text, in units of the page. */
const MIN_SIZE = 3;
/** Least width of a letter or digit, as a part of the font size. */
const MIN_WIDTH = 0.15;
const MIN_NARROW_WIDTH = 0.04;
/** The same, as a part of its usual width. */
const MIN_USUAL_WIDTH = 0.4;
/** Extent of a glyph with its outline beyond which its shape is lost, in font sizes. */
const THICK = 1.8;
/** Width of the outlines of filled glyphs beyond which these may run into each other, in font sizes. */
const BOLD = 0.06;
/** Least step to the next character, as a part of the usual advance. */
const LEAST_STEP = 0.3;
const NARROW = /[iljtfrI1!.,:;'`|()[\]{}\-\s]/;
/** Least difference in lightness between text and background. */
const MIN_CONTRAST = 0.2;
/** Part of a glyph that must be inside of its clipping path. */
const MIN_VISIBLE = 0.75;
/** Parts of the font size. */
const SAME_LINE = 0.3;
const BASE_LINE = 0.12;
const NEW_LINE = 0.75;
/** Largest ratio of two font sizes in one line. */
const SAME_SIZE = 1.25;
const GAP = 0.6;

const hidden = (fault: string, isDecided = true): ReadText => ({ fault, isDecided });
const DISORDER: ReadText = {
  fault: 'places its text in another order than it is read',
  isDecided: true,
  isOrder: true,
};

/**
 * @param marks of the appearance, in the order in which they are painted
 * @param below marks of the page below the field; undefined when they are not known
 * @param turned true when a text upside down is the usual one there
 * @param spend charges steps to the work budget
 */
export function readText(
  marks: readonly Mark[],
  below: readonly Mark[] | undefined,
  turned: boolean,
  spend: (steps: number) => void,
): ReadText {
  const placed: Placed[] = [];
  const letters = lettersAt(marks, below ?? []);
  const glyphs = marks.reduce((sum, { text }) => sum + (text?.glyphs.length ?? 0), 0);
  const others = (below ?? []).reduce(
    (sum, { kind, covers }) => sum + 1 + (kind === 'fill' ? covers.length : 0),
    0,
  );
  spend((glyphs * (marks.length + others + letters.length)) / COMPARISONS_PER_STEP);
  for (const [index, mark] of marks.entries()) {
    const { text } = mark;
    if (text === undefined || text.glyphs.every((glyph) => glyph.text?.trim() === '')) continue;
    const fault = faultOf(mark, marks.slice(index + 1), {
      own: marks.slice(0, index),
      below: below ?? [],
      letters,
    });
    if (fault !== undefined) return fault;
    const [dx, dy] = text.direction;
    if (!turned && dx < 0 && Math.abs(dy) < -dx) return hidden('turns its text upside down');
    for (const glyph of text.glyphs) placed.push({ glyph, size: text.size });
  }
  return inOrder(placed, marks.find(({ text }) => text !== undefined)?.text?.direction ?? [1, 0]);
}

/**
 */
function faultOf(
  mark: Mark,
  later: readonly Mark[],
  {
    own,
    below,
    letters,
  }: {
    /** Marks of the appearance that are painted before. */
    readonly own: readonly Mark[];
    readonly below: readonly Mark[];
    /** Of the page below the text. */
    readonly letters: readonly PageLetter[];
  },
): ReadText | undefined {
  const earlier = [...below, ...own];
  const { text, blend, clip, lightness, alpha, isConditional } = mark;
  const glyphs = (text?.glyphs ?? []).filter((glyph) => glyph.text?.trim() !== '');
  const size = text?.size ?? 0;
  if (isConditional) return hidden('shows its text in a layer or a shape, where it may not be seen', false);
  if (blend !== 'Normal' && blend !== 'Compatible')
    return hidden('blends its text with what is below', blend !== 'unknown');
  if (text?.isOutline === true) return hidden('shows its text by outlines alone', false);
  if ((text?.outline ?? 0) > BOLD * size && (text?.outline ?? 0) <= size)
    return hidden('draws its text with outlines that may run into each other', false);
  if (!(size >= MIN_SIZE)) return hidden('shows a text that is too small to be read');
  for (const { text: character, box } of glyphs) {
    const width = box.right - box.left;
    const height = box.top - box.bottom;
    if (Number.isNaN(width + height)) return hidden('shows a text at no place');
    const least = NARROW.test(character ?? '') ? MIN_NARROW_WIDTH : MIN_WIDTH;
    const [dx = 0, dy = 0] = text?.direction ?? [];
    const extent = Math.abs(dx) >= Math.abs(dy) ? width : height;
    const isSqueezed = extent < MIN_USUAL_WIDTH * usualWidth(character ?? ' ', NARROW_WIDTH) * size;
    if (isSqueezed || Math.min(width, height) < least * size)
      return hidden('shows a text that is too narrow to be read');
    if (height > THICK * size && width > THICK * size) return hidden('draws its text with thick outlines');
    if (clip !== undefined && commonArea(clip, box) < MIN_VISIBLE * areaOf(box))
      return hidden('places text outside of its rectangle, where it cannot be seen', false);
    const middle = middleOf(box);
    const crossing = (one: Mark): boolean =>
      one.kind !== 'text' && one.alpha > 0.3 && coversPoint(one, middle);
    const over = later.filter(crossing);
    if (over.some((one) => one.lightness !== lightness || hidesMost([one], box)))
      return hidden('paints over its text');
    if (over.length > 0 || hasLine(own, crossing, box)) return hidden('draws a line through its text', false);
    if (letters.some((one) => liesOn(one, middle, lightness)))
      return hidden('places its text on a letter of the page', false);
    const contrast = contrastAt(middle, lightness, earlier);
    if (contrast === undefined) return hidden('shows a text in a colour that is not compared', false);
    if (contrast * alpha < MIN_CONTRAST) return hidden('shows a text that cannot be seen on its background');
  }
  return undefined;
}

/** Returns the least contrast with and without the lines below: their extents are those of the largest ends and corners. */
function contrastAt(point: Box, lightness: number | undefined, earlier: readonly Mark[]): number | undefined {
  const one = contrastWith(point, lightness, earlier);
  const other = contrastWith(
    point,
    lightness,
    earlier.filter(({ kind }) => kind !== 'stroke'),
  );
  return one === undefined || other === undefined ? undefined : Math.min(one, other);
}

/** Returns the difference in lightness to what was painted there before; undefined when a colour cannot be told. */
function contrastWith(
  point: Box,
  lightness: number | undefined,
  earlier: readonly Mark[],
): number | undefined {
  let paper: number | undefined = 1;
  for (const mark of earlier) {
    // A picture below a field is a scanned page, white between its lines.
    if (mark.kind === 'image' && contains(mark.box, point, 0)) paper = 1;
    if (mark.kind === 'text' || mark.kind === 'image' || mark.alpha === 0 || !coversPoint(mark, point))
      continue;
    const rest: number | undefined = mark.alpha < 1 ? paper : 0;
    paper =
      mark.lightness === undefined || rest === undefined
        ? undefined
        : mark.alpha * mark.lightness + (1 - mark.alpha) * rest;
  }
  return paper === undefined || lightness === undefined ? undefined : Math.abs(paper - lightness);
}

type PageLetter = Pick<Mark, 'box' | 'lightness'>;

/** Returns the letters of the page at the places of a text, without those of lines to write on. */
function lettersAt(marks: readonly Mark[], below: readonly Mark[]): readonly PageLetter[] {
  const places = marks.filter(({ text }) => text !== undefined).map(({ box }) => box);
  const [first] = places;
  if (first === undefined) return [];
  const extent = places.reduce(around, first);
  const seen = below.filter(
    ({ kind, alpha, box }) => kind === 'text' && alpha >= 0.3 && commonArea(box, extent) > 0,
  );
  if (seen.length === 0) return [];
  const leaders = leadersIn(below);
  return seen.flatMap(({ text, clip, lightness }) =>
    (text?.glyphs ?? [])
      .filter((glyph) => !glyph.isBlank && !leaders.has(glyph))
      .filter(({ box }) => commonArea(clip ?? box, box) > 0 && commonArea(box, extent) > 0)
      .map(({ box }) => ({ box, lightness })),
  );
}

/** True when a point lies within a letter of the page whose colour is nearly the same. */
function liesOn({ box, lightness }: PageLetter, point: Box, own: number | undefined): boolean {
  if (own !== undefined && lightness !== undefined && Math.abs(own - lightness) > MIN_CONTRAST) return false;
  return contains(box, point, 0);
}

function coversPoint({ covers, clip }: Mark, point: Box): boolean {
  return (clip === undefined || contains(clip, point, 0)) && covers.some((box) => contains(box, point, 0));
}

/** Most colours of marks below one glyph, and most of their boxes on it; more are taken for lines. */
const MAX_COLOURS = 16;
const MAX_BOXES = 200;

/** True when a mark below a glyph is no background of it. A background may be made of thin boxes of one colour. */
function hasLine(own: readonly Mark[], crossing: (one: Mark) => boolean, glyph: Box): boolean {
  const judged = new Set<string>();
  return own.some((mark) => {
    const colour = `${mark.kind} ${mark.lightness}`;
    if (judged.has(colour) || !crossing(mark)) return false;
    judged.add(colour);
    const alike = own.filter((one) => one.kind === mark.kind && one.lightness === mark.lightness);
    return judged.size > MAX_COLOURS || !hidesMost(alike, glyph);
  });
}

/** True when marks lie over the larger part of a glyph, as a background does; what lies on another counts once. */
function hidesMost(marks: readonly Mark[], glyph: Box): boolean {
  const boxes = marks.flatMap(({ covers }) => covers).filter((box) => commonArea(box, glyph) > 0);
  return boxes.length <= MAX_BOXES && areaWithin(boxes, glyph) > 0.5 * areaOf(glyph);
}

function middleOf({ left, bottom, right, top }: Box): Box {
  const x = (left + right) / 2;
  const y = (bottom + top) / 2;
  return { left: x, right: x, bottom: y, top: y };
}

/** Puts glyphs into one text when each follows the one before, on its line or below it. */
function inOrder(placed: readonly Placed[], direction: readonly [number, number]): ReadText {
  const length = Math.hypot(...direction);
  if (placed.length > 0 && !(length > 0)) return hidden('shows a text at no place');
  const dx = direction[0] / length;
  const dy = direction[1] / length;
  const along = ([x, y]: readonly [number, number]): number => x * dx + y * dy;
  const down = ([x, y]: readonly [number, number]): number => x * dy - y * dx;
  let text = '';
  let last: Placed | undefined;
  let hasSpace = false;
  for (const one of placed) {
    const { glyph, size } = one;
    if (glyph.text?.trim() === '') {
      hasSpace = true;
      continue;
    }
    if (last !== undefined) {
      const step = down(glyph.at) - down(last.glyph.at);
      const limit = Math.min(size, last.size);
      if (Math.abs(step) <= SAME_LINE * limit) {
        const isUneven = Math.abs(step) > BASE_LINE * limit || Math.max(size, last.size) > SAME_SIZE * limit;
        if (isUneven) return hidden('sets a part of its text higher, lower or smaller than the rest');
        const advance = along(last.glyph.to) - along(last.glyph.at);
        const gap = along(glyph.at) - along(last.glyph.to);
        const least = LEAST_STEP * usualWidth(last.glyph.text ?? ' ') * limit;
        if (gap < -0.5 * Math.max(advance, 0.2 * limit) || along(glyph.at) - along(last.glyph.at) < least)
          return DISORDER;
        if (hasSpace || gap > GAP * limit) text += ' ';
      } else if (step < 0) return DISORDER;
      else if (step < NEW_LINE * limit)
        return hidden('sets a part of its text higher, lower or smaller than the rest');
      else text += '\n';
    }
    text += glyph.text ?? '\ufffd';
    hasSpace = false;
    last = one;
  }
  return { text };
}

/** Characters of scripts that run from right to left. */
const FROM_RIGHT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;

/** True when the marks show a value that runs from right to left, in one line; undefined when this is not compared. */
export function showsFromRight(marks: readonly Mark[], value: string): boolean | undefined {
  if (!FROM_RIGHT.test(value) || /[\r\n]/.test(value.trim())) return undefined;
  const sorted = marks
    .flatMap(({ text }) => (text?.glyphs ?? []).map((glyph) => ({ glyph, size: text?.size ?? 0 })))
    .toSorted((one, other) => one.glyph.at[0] - other.glyph.at[0]);
  const shown = rowOf(sorted);
  if (shown === undefined) return undefined;
  const wanted = visualGlyphs(value)
    .map((one) => ('text' in one ? one.text : String.fromCodePoint(one.codePoint)))
    .join('');
  return (bare(shown) === bare(wanted) && keepsNumbers(shown, wanted.replace(ATTACHED, ''))) || undefined;
}

/** Characters that are no letters of their own: those that control others, and marks above and below them. */
const ATTACHED = /[\p{Cf}\p{M}]+/gu;

const bare = (text: string): string => text.normalize('NFKC').replace(ATTACHED, '').replace(/\s+/g, '');

/**
 * Returns the letters of one line from left to right, with spaces for gaps; undefined when one is higher, lower, larger or
 * smaller than the first, or lies on the one before.
 */
function rowOf(sorted: readonly Placed[]): string | undefined {
  let text = '';
  let first: Placed | undefined;
  let last: Placed | undefined;
  for (const one of sorted) {
    const { glyph, size } = one;
    const letters = (glyph.text ?? '').replace(ATTACHED, '');
    if (letters.trim() !== '') {
      first ??= one;
      const isUneven = Math.max(size, first.size) > SAME_SIZE * Math.min(size, first.size);
      if (isUneven || Math.abs(glyph.at[1] - first.glyph.at[1]) > BASE_LINE * first.size) return undefined;
      if (last !== undefined) {
        const least = LEAST_STEP * usualWidth(last.glyph.text ?? ' ') * first.size;
        if (glyph.at[0] - last.glyph.at[0] < least) return undefined;
        if (glyph.at[0] - last.glyph.to[0] > GAP * first.size) text += ' ';
      }
      last = one;
    }
    text += letters;
  }
  return text;
}

/** True when digits that belong together in the value are together in the shown text, and no others. */
export function keepsNumbers(shown: string, value: string): boolean {
  const one = chars(shown);
  const other = chars(value);
  if (one.length !== other.length) return true;
  return one.every(({ character, isApart }, index) => {
    const previous = one[index - 1]?.character ?? '';
    if (!/\d/.test(character) || !/\d/.test(previous)) return true;
    return isApart === other[index]?.isApart;
  });
}

function chars(text: string): { readonly character: string; readonly isApart: boolean }[] {
  const found: { character: string; isApart: boolean }[] = [];
  let isApart = false;
  for (const character of text.normalize('NFKC')) {
    if (/[\s\p{Cc}\p{Zs}]/u.test(character)) isApart = true;
    else {
      found.push({ character, isApart });
      isApart = false;
    }
  }
  return found;
}
