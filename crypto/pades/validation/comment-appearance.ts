/**
 * Judges what a comment draws over a page that was signed. Its shapes cannot be told from shapes that imitate or hide
 * content, so that each drawn comment gives a warning; an opaque box over content is no comment.
 */
import { asReference, type ByteSlice } from '../../pdf/index.ts';
import { boxOf } from '../painting/geometry.ts';
import { UnreadableContent } from '../painting/painted-marks.ts';
import { streamsOf } from './appearance.ts';
import { coveredOn } from './covered-content.ts';
import { paintedBy } from './filled-appearance.ts';
import type { PermittedChanges } from './permitted-changes.ts';
import type { SurveyedPage } from './survey.ts';

/** `absent`: it has no appearance of its own. */
export type CommentAppearance = 'absent' | 'drawn' | 'hides';

/** @throws PdfSyntaxError; WorkBudgetExceeded */
export function commentAppearance(
  pair: PermittedChanges,
  state: 'before' | 'after',
  slice: ByteSlice,
  page: SurveyedPage,
): CommentAppearance {
  const { pdf } = pair[state];
  const dict = pdf.dict(slice);
  const streams = (dict && streamsOf(pdf, dict.get('AP'))) ?? [];
  const rectangle = boxOf(pdf, dict?.get('Rect'));
  if (streams.length === 0) return 'absent';
  if (rectangle === undefined) return 'drawn';
  const own = asReference(slice)?.number ?? -1;
  const spend = (steps: number): void => pair.before.spend(steps);
  for (const number of new Set(streams)) {
    try {
      const marks = paintedBy(pair, state, number, rectangle)?.marks ?? [];
      const boxes = marks.filter(({ hides }) => hides).map(({ box }) => box);
      if (boxes.length > 0 && coveredOn(pair.before.pdf, page, own, boxes, spend) === 'content')
        return 'hides';
    } catch (error) {
      if (!(error instanceof UnreadableContent)) throw error;
    }
  }
  return 'drawn';
}
