/** Judgement of the appearance of a filled field. */
export type AppearanceJudgement =
  | { readonly status: 'faithful' }
  /** `reason` completes `gave the field X an appearance that …`. */
  | { readonly status: 'forbidden' | 'undecided'; readonly reason: string };

export const FAITHFUL: AppearanceJudgement = { status: 'faithful' };
export const forbids = (reason: string): AppearanceJudgement => ({ status: 'forbidden', reason });
export const leavesOpen = (reason: string): AppearanceJudgement => ({ status: 'undecided', reason });
