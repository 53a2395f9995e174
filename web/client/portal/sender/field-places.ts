/** Geometry of fields on a page: PDF points from the top left corner of the page as displayed. Pure. */
import type { PageSize } from '../initials.ts';
import { type MarkPlace, withinPage } from '../mark-boxes.ts';

/** Distance between new fields. */
const GAP = 8;
/** Distance within which a dragged field jumps to a line of another. */
const NEAR = 4;

type Place = Omit<MarkPlace, 'pageNumber'>;

/** Lines through edges and middles that two fields share. */
export interface Guides {
  readonly x: readonly number[];
  readonly y: readonly number[];
}

/**
 * The corner of the first free place from the middle of the page downwards, then from its top, that no field covers.
 * @param others fields of the page
 */
export function freePlace(
  page: PageSize,
  { width, height }: Pick<Place, 'width' | 'height'>,
  others: readonly Place[],
): Pick<Place, 'topLeftX' | 'topLeftY'> {
  const x = (page.width - width) / 2;
  const step = height + GAP;
  const isFree = (y: number) =>
    !others.some(
      (one) =>
        one.topLeftX < x + width &&
        x < one.topLeftX + one.width &&
        one.topLeftY < y + height &&
        y < one.topLeftY + one.height,
    );
  const middle = (page.height - height) / 2;
  const rows = (from: number, to: number) =>
    Array.from({ length: Math.max(0, Math.ceil((to - from) / step)) }, (_, index) => from + index * step);
  const y = [...rows(middle, page.height - step), ...rows(step, middle)].find(isFree) ?? middle;
  return { topLeftX: x, topLeftY: y };
}

/** Moves a place to the lines of others that are near, and returns the lines that it then shares with them. */
export function alignTo(
  place: MarkPlace,
  others: readonly Place[],
  page: PageSize,
  near = NEAR,
): { readonly x: number; readonly y: number; readonly guides: Guides } {
  const x = nearest(
    place.topLeftX,
    place.width,
    others.map((one) => [one.topLeftX, one.width] as const),
    near,
  );
  const y = nearest(
    place.topLeftY,
    place.height,
    others.map((one) => [one.topLeftY, one.height] as const),
    near,
  );
  const moved = withinPage({ ...place, topLeftX: x.start, topLeftY: y.start }, page);
  return { x: moved.topLeftX, y: moved.topLeftY, guides: { x: x.lines, y: y.lines } };
}

/** Start, middle and end of a length. */
function linesOf(start: number, length: number): readonly number[] {
  return [start, start + length / 2, start + length];
}

function nearest(
  start: number,
  length: number,
  others: readonly (readonly [start: number, length: number])[],
  near: number,
): { readonly start: number; readonly lines: readonly number[] } {
  const targets = others.flatMap(([from, size]) => linesOf(from, size));
  const own = linesOf(start, length);
  const shifts = targets.flatMap((target) => own.map((line) => target - line));
  const shift = shifts.reduce((best, one) => (Math.abs(one) < Math.abs(best) ? one : best), Infinity);
  const moved = Math.abs(shift) <= near ? start + shift : start;
  const lines = new Set(
    targets.filter((target) => linesOf(moved, length).some((line) => Math.abs(line - target) < 0.1)),
  );
  return { start: moved, lines: [...lines] };
}
