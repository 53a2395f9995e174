/** People of a flow who are still to act. */
import type { FlowActionView } from '../../../../contracts/portal/flow.ts';

export function hasActed({ signatureDate, hasRefused }: FlowActionView['signRuleUsers'][number]): boolean {
  return signatureDate !== null || hasRefused;
}

/** True when it is the turn of a person who has an e-mail address. */
export function canBeReminded({ status, user, signRuleUsers }: FlowActionView): boolean {
  const people = user === null ? signRuleUsers.filter((one) => !hasActed(one)) : [user];
  return status === 'Pending' && people.some(({ email }) => email !== null);
}
