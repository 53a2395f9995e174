/** Finding for a file that exceeds its work budget. */

import type { Finding } from '../core/finding.ts';
import { WorkBudgetExceeded } from '../core/work-budget.ts';

/** Leaves the unexamined parts INDETERMINATE. */
export const WORK_BUDGET_EXCEEDED: Finding = {
  status: 'failed',
  type: 'file.work',
  message: new WorkBudgetExceeded().message,
  subIndication: 'GENERIC',
};

/** Returns the result of `look`, or of `otherwise` when the budget is exceeded. @throws other errors of `look` */
export function withinWorkBudget<T>(look: () => T, otherwise: () => T): T {
  try {
    return look();
  } catch (error) {
    if (!(error instanceof WorkBudgetExceeded)) throw error;
    return otherwise();
  }
}
