/** Order of shown texts: content order equals reading order only when each text begins after the previous one. */
import type { ShownText } from './painted-marks.ts';

/** Fraction of the font size: texts whose base lines are closer are on one line. */
const SAME_LINE = 0.3;

/** True when all texts have one direction and each begins after the previous one or on a lower line. */
export function inReadingOrder(texts: readonly ShownText[]): boolean {
  const [first] = texts;
  if (first === undefined) return true;
  const length = Math.hypot(...first.direction);
  if (!(length > 0)) return false;
  const [dx, dy] = first.direction.map((part) => part / length) as [number, number];
  let last: { readonly along: number; readonly down: number } | undefined;
  for (const { at, direction, size } of texts) {
    const turned = Math.abs(direction[0] * dy - direction[1] * dx) > 0.01 * Math.hypot(...direction);
    const backwards = direction[0] * dx + direction[1] * dy <= 0;
    if (turned || backwards) return false;
    const position = { along: at[0] * dx + at[1] * dy, down: at[0] * dy - at[1] * dx };
    if (last !== undefined) {
      const step = position.down - last.down;
      if (step < -SAME_LINE * size) return false;
      if (step <= SAME_LINE * size && position.along < last.along) return false;
    }
    last = position;
  }
  return true;
}
