/** Position of a signature's appearance. Source: docs/portal-values.md §§6, 10. */
import type { NewMark } from '../../../contracts/portal/flow.ts';
import { withoutOrigin } from '../../../machines/portal/document/tagged-content.ts';
import type { FlowAction, Mark } from '../../../machines/portal/portal-types.ts';
import { planMarks } from '../documents/mark-plans.ts';

/** The position chosen by the participant, else that of the action. */
export function marksOf(
  { action }: { readonly action: Pick<FlowAction, 'marks'> },
  positions: readonly NewMark[],
  initials: readonly NewMark[] = [],
): readonly Mark[] {
  const everywhere = [{ uploadId: '', pagesBefore: 0, pages: undefined, lastPage: null }];
  const withoutUploadId = (marks: readonly NewMark[]) => marks.map(({ uploadId: _, ...mark }) => mark);
  const given = planMarks(withoutUploadId(positions), everywhere);
  const initialed = planMarks(
    withoutUploadId(initials).map((mark) => ({ ...mark, type: 'SignatureInitials' as const })),
    everywhere,
  );
  const marks = action.marks.map(withoutOrigin);
  const placed = given.length > 0 ? given : marks.filter(({ type }) => type !== 'SignatureInitials');
  const others = initialed.length > 0 ? initialed : marks.filter(({ type }) => type === 'SignatureInitials');
  return [...placed, ...others];
}
