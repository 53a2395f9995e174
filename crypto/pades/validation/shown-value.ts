/**
 * Reads the text that marks show as a person would: in the order of its places on the page, and only what can be seen.
 * A text that is tiny, of the colour of its background, covered, clipped or set as a superscript is not read.
 */
import { visualGlyphs } from '../../pdf/fonts/shaping.ts';
import { usualWidth } from '../painting/font-text.ts';
import { areaOf, type Box, commonArea, contains } from '../painting/geometry.ts';
import type { Glyph, Mark } from '../painting/painted-marks.ts';

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
 */
export function readText(
  marks: readonly Mark[],
  below: readonly Mark[] | undefined,
  turned: boolean,
): ReadText {
  const placed: Placed[] = [];
  for (const [index, mark] of marks.entries()) {
    const { text } = mark;
    if (text === undefined || text.glyphs.every((glyph) => glyph.text?.trim() === '')) continue;
    const fault = faultOf(mark, marks.slice(index + 1), marks.slice(0, index), below ?? []);
    if (fault !== undefined) return fault;
    const [dx, dy] = text.direction;
    if (!turned && dx < 0 && Math.abs(dy) < -dx) return hidden('turns its text upside down');
    for (const glyph of text.glyphs) placed.push({ glyph, size: text.size });
  }
  return inOrder(placed, marks.find(({ text }) => text !== undefined)?.text?.direction ?? [1, 0]);
}

/** @param own marks of the appearance that are painted before */
function faultOf(
  mark: Mark,
  later: readonly Mark[],
  own: readonly Mark[],
  below: readonly Mark[],
): ReadText | undefined {
  const earlier = [...below, ...own];
  const { text, blend, clip, lightness, alpha, isConditional } = mark;
  const glyphs = (text?.glyphs ?? []).filter((glyph) => glyph.text?.trim() !== '');
  const size = text?.size ?? 0;
  if (isConditional) return hidden('shows its text in a layer or a shape, where it may not be seen', false);
  if (blend !== 'Normal' && blend !== 'Compatible') return hidden('blends its text with what is below');
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
    const isSqueezed = extent < MIN_USUAL_WIDTH * usualWidth(character ?? ' ') * size;
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
    if (below.some((one) => liesOn(one, middle, lightness)))
      return hidden('places its text on a letter of the page', false);
    const contrast = contrastAt(middle, lightness, earlier);
    if (contrast === undefined) return hidden('shows a text in a colour that is not compared', false);
    if (contrast * alpha < MIN_CONTRAST) return hidden('shows a text that cannot be seen on its background');
  }
  return undefined;
}

/** Returns the difference in lightness to what was painted there before; undefined when a colour cannot be told. */
function contrastAt(point: Box, lightness: number | undefined, earlier: readonly Mark[]): number | undefined {
  let paper: number | undefined = 1;
  for (const mark of earlier) {
    // A picture below a field is a scanned page, white between its lines.
    if (mark.kind === 'image' && contains(mark.box, point, 0)) paper = 1;
    if (mark.kind !== 'fill' || mark.alpha === 0 || !coversPoint(mark, point)) continue;
    const rest: number | undefined = mark.alpha < 1 ? paper : 0;
    paper =
      mark.lightness === undefined || rest === undefined
        ? undefined
        : mark.alpha * mark.lightness + (1 - mark.alpha) * rest;
  }
  return paper === undefined || lightness === undefined ? undefined : Math.abs(paper - lightness);
}

/** True when a point lies within a letter of the page whose colour is nearly the same. */
function liesOn({ kind, box, alpha, lightness, text }: Mark, point: Box, own: number | undefined): boolean {
  if (kind !== 'text' || alpha < 0.3 || !contains(box, point, 0)) return false;
  if (own !== undefined && lightness !== undefined && Math.abs(own - lightness) > MIN_CONTRAST) return false;
  return (text?.glyphs ?? []).some((glyph) => glyph.text?.trim() !== '' && contains(glyph.box, point, 0));
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
  if (boxes.length > MAX_BOXES) return false;
  const within = (x: number): number => Math.min(Math.max(x, glyph.left), glyph.right);
  const edges = [...new Set(boxes.flatMap(({ left, right }) => [within(left), within(right)]))].sort(
    (one, other) => one - other,
  );
  const upwards = boxes.toSorted((one, other) => one.bottom - other.bottom);
  let area = 0;
  for (const [index, right] of edges.entries()) {
    const left = edges[index - 1] ?? right;
    let covered = glyph.bottom;
    for (const box of upwards) {
      const top = Math.min(box.top, glyph.top);
      if (box.left > left || box.right < right || top <= covered) continue;
      area += (right - left) * (top - Math.max(box.bottom, covered));
      covered = top;
    }
  }
  return area > 0.5 * areaOf(glyph);
}

function middleOf({ left, bottom, right, top }: Box): Box {
  const [x, y] = [(left + right) / 2, (bottom + top) / 2];
  return { left: x, right: x, bottom: y, top: y };
}

/** Puts glyphs into one text when each follows the one before, on its line or below it. */
function inOrder(placed: readonly Placed[], direction: readonly [number, number]): ReadText {
  const length = Math.hypot(...direction);
  if (placed.length > 0 && !(length > 0)) return hidden('shows a text at no place');
  const [dx, dy] = [direction[0] / length, direction[1] / length];
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
  const glyphs = marks.flatMap(({ text }) => text?.glyphs ?? []);
  const sorted = glyphs.toSorted((one, other) => one.at[0] - other.at[0]);
  const isLine = glyphs.every(({ at }) => Math.abs(at[1] - (glyphs[0]?.at[1] ?? 0)) < 2);
  if (!isLine) return undefined;
  const plain = (text: string): string => text.normalize('NFKC').replace(/[\s\p{Cf}\p{M}]+/gu, '');
  const wanted = visualGlyphs(value)
    .map((one) => ('text' in one ? one.text : String.fromCodePoint(one.codePoint)))
    .join('');
  return plain(sorted.map(({ text }) => text ?? '').join('')) === plain(wanted) || undefined;
}

/** True when digits that belong together in the value are together in the shown text, and no others. */
export function keepsNumbers(shown: string, value: string): boolean {
  const [one, other] = [chars(shown), chars(value)];
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
