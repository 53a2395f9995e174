/** Checks that the appearance of a check box or radio button is a mark and no writing (ISO 32000-2, 12.7.5.2). */
import type { Box } from '../painting/geometry.ts';
import { type Glyph, type Mark, THIN } from '../painting/painted-marks.ts';
import { type AppearanceJudgement, FAITHFUL, forbids, leavesOpen } from './appearance-judgement.ts';
import { readText } from './shown-value.ts';

/** Characters that mark a choice. */
const MARKS = /^[xX✓✔✗✘✕✖☑☒●◉■◆★•×√]$/u;
/** Characters of an empty choice. */
const EMPTY = /^[☐□○◯]$/u;
/** Codes of ZapfDingbats for these: checks, crosses, disc, square, diamond, star. */
const DINGBATS = new Set(Buffer.from('345678lnuHqom', 'latin1'));
/** Largest difference between width and height of a circle, as a part of them. */
const ROUND = 0.1;

/** @param state name of the state that the widget shows by this appearance; undefined for any other */
export function judgeButton(
  marks: readonly Mark[],
  rectangle: Box,
  isSigned: boolean,
  state: string | undefined,
): AppearanceJudgement {
  const glyphs = marks.flatMap(({ text }) =>
    (text?.glyphs ?? [])
      .filter((glyph) => glyph.text?.trim() !== '')
      .map((glyph) => ({ glyph, fontName: text?.fontName ?? '' })),
  );
  const [first, ...more] = glyphs;
  if (more.length > 0) return forbids('shows a text');
  const isMark = first !== undefined && isMarkGlyph(first.glyph, first.fontName);
  const isEmpty = first !== undefined && EMPTY.test(first.glyph.text ?? '');
  // A font that was signed may have glyphs of its own for the mark.
  const isOwn = isSigned && first !== undefined && first.glyph.text === undefined;
  if (first !== undefined && !isMark && !isEmpty && !isOwn) return forbids('shows a text');
  if (isSigned) return FAITHFUL;
  const shapes = marks.filter(({ kind, isRectilinear }) => kind !== 'text' && !isRectilinear);
  if (shapes.some((shape) => shape.isCurved && !isCircle(shape.box, rectangle)))
    return forbids('draws more than a mark');
  if (shapes.some(({ isCurved }) => !isCurved)) return leavesOpen('draws lines that could be characters');
  if (state === undefined) return FAITHFUL;
  if (state === 'Off') return isMark ? forbids('shows a mark without a value') : FAITHFUL;
  if (isEmpty || (first === undefined && !marks.some(isInner(rectangle))))
    return forbids('shows no mark for its value');
  const read = readText(marks, undefined, true, () => undefined);
  if ('text' in read) return FAITHFUL;
  return read.isDecided ? forbids(read.fault) : leavesOpen(read.fault);
}

function isMarkGlyph({ text, code }: Glyph, fontName: string): boolean {
  return text === undefined ? /ZapfDingbats|ZaDb/i.test(fontName) && DINGBATS.has(code) : MARKS.test(text);
}

/** True for a circle around the middle of the field. */
function isCircle({ left, bottom, right, top }: Box, field: Box): boolean {
  const width = right - left;
  const height = top - bottom;
  const size = Math.max(width, height);
  const middle =
    Math.hypot(left + right - field.left - field.right, bottom + top - field.bottom - field.top) / 2;
  return Math.abs(width - height) <= ROUND * size && middle <= 2 * ROUND * size;
}

/** True for a shape inside of the frame, with an area. */
const isInner =
  ({ left, right }: Box) =>
  ({ kind, box }: Mark): boolean =>
    kind === 'fill' && box.right - box.left > THIN && box.right - box.left < 0.9 * (right - left);
