/** What a report says when a file asks for more work than is done for one. */
import { OutOfWork } from '../work.ts';
import type { Finding } from './facts.ts';

/** Leaves open what was not looked at: INDETERMINATE. */
export const TOO_MUCH_WORK: Finding = {
  status: 'failed',
  type: 'file.work',
  message: new OutOfWork().message,
  subIndication: 'GENERIC',
};

/** What `look` finds, or `otherwise` when the work ran out. @throws what `look` throws but OutOfWork */
export function withinWork<T>(look: () => T, otherwise: () => T): T {
  try {
    return look();
  } catch (error) {
    if (!(error instanceof OutOfWork)) throw error;
    return otherwise();
  }
}
