/** Where a signature is drawn. Source: portal-gaps §§6, 10. */
import type { FlowAction, Mark } from '../../machines/portal-words.ts';
import type { MarkInput } from './api.ts';
import { planMarks } from './document-plans.ts';

/** Where somebody says the signature goes, else where the action has it. */
export function marksOf(
  { action }: { readonly action: Pick<FlowAction, 'marks'> },
  positions: readonly MarkInput[],
  initials: readonly MarkInput[] = [],
): readonly Mark[] {
  const everywhere = [{ uploadId: '', pagesBefore: 0, pages: undefined }];
  const here = (marks: readonly MarkInput[]) => marks.map(({ uploadId: _, ...mark }) => mark);
  const given = planMarks(here(positions), everywhere);
  const initialed = planMarks(
    here(initials).map((mark) => ({ ...mark, type: 'SignatureInitials' as const })),
    everywhere,
  );
  const placed = given.length > 0 ? given : action.marks.filter(({ type }) => type !== 'SignatureInitials');
  const others =
    initialed.length > 0 ? initialed : action.marks.filter(({ type }) => type === 'SignatureInitials');
  return [...placed, ...others];
}
