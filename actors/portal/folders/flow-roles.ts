/** A saved flow used for new documents: people take the roles of its actions. Source: docs/decisions/0123-documents-from-saved-flows.md. */
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { FlowActionInput, ParticipantInput } from '../api/documents.ts';
import { folded } from '../document-records/document-index.ts';

export interface RoleInput {
  /** Title of the actions, in any case. */
  readonly role: string;
  readonly user: ParticipantInput;
}

/**
 * Gives each action the person of its role, and actions of an ordered flow without a step their position.
 * Refusals: `InvalidFlowAction` for a role that is named twice or that no action has, and for actions of rules.
 */
export function withRoles(
  actions: readonly FlowActionInput[],
  participants: readonly RoleInput[],
  isOrdered: boolean,
): readonly FlowActionInput[] {
  const users = new Map(participants.map(({ role, user }) => [folded(role.trim()), user]));
  if (users.size < participants.length) throw invalid('A role is named twice.');
  const used = new Set<string>();
  const next = actions.map((action, index): FlowActionInput => {
    const role = folded(action.title?.trim() ?? '');
    const user = users.get(role);
    const step = isOrdered ? (action.step ?? index) : action.step;
    if (user === undefined) return { ...action, step };
    if (action.type === 'SignRule' || action.type === 'ApproverRule')
      throw invalid('The persons of a rule stand in the saved flow.');
    used.add(role);
    return { ...action, step, user };
  });
  if (used.size < users.size) throw invalid('No flow action has the title of one of the roles.');
  return next;
}

function invalid(message: string): PortalRefusal {
  return new PortalRefusal('InvalidFlowAction', message);
}
