/** Whose turn it is on a document, as those who ask name people. Source: portal-gaps §9. */
import type { DocumentContext, DocumentState, Turn } from '../../machines/document-context.ts';
import { askedUsers, usersOf } from '../../machines/document-flow.ts';
import type { FlowActionId } from '../../machines/ids.ts';
import type { FlowAction, Participant } from '../../machines/portal-words.ts';
import type { SigningPageView } from './api.ts';

/** The first pending action of a participant. Both identifier and e-mail given = both must match. */
export function pendingTurn(
  { actions, accepted }: Pick<DocumentContext, 'actions' | 'accepted'>,
  who: {
    readonly identifier?: string | undefined;
    readonly emailAddress?: string | undefined;
    readonly flowActionId?: FlowActionId | undefined;
  },
): Turn | undefined {
  const isWho = ({ identifier, email }: Participant) =>
    (!who.identifier || identifier?.toLowerCase() === who.identifier.toLowerCase()) &&
    (!who.emailAddress || email?.toLowerCase() === who.emailAddress.trim().toLowerCase());
  if (!who.identifier && !who.emailAddress) return undefined;
  for (const action of actions) {
    if (action.status !== 'Pending') continue;
    if (who.flowActionId !== undefined && action.id !== who.flowActionId) continue;
    const user = askedUsers(action).find(
      (one) => isWho(one) && !isPromised(accepted, { flowActionId: action.id, userId: one.id }),
    );
    if (user !== undefined) return { flowActionId: action.id, userId: user.id };
  }
  return undefined;
}

/** True while a signature of theirs was accepted and is not in the file yet. */
export function isPromised(accepted: DocumentContext['accepted'], turn: Turn): boolean {
  return accepted.some(
    ({ flowActionId, userId }) => flowActionId === turn.flowActionId && userId === turn.userId,
  );
}

/** The action and the person, whatever has become of them. */
export function namedTurn(
  { actions }: Pick<DocumentContext, 'actions'>,
  { flowActionId, userId }: Turn,
): { readonly action: FlowAction; readonly user: Participant } | undefined {
  const action = actions.find(({ id }) => id === flowActionId);
  const user = action && usersOf(action).find(({ id }) => id === userId);
  return action && user && { action, user };
}

/** What the signing page shows of a document to one participant. */
export function pageState(
  { state, context }: { readonly state: DocumentState; readonly context: DocumentContext },
  turn: Turn,
): SigningPageView['state'] {
  const named = namedTurn(context, turn);
  if (state === 'Deleted') return 'deleted';
  if (named === undefined) return 'unknown';
  const { action, user } = named;
  const isDone =
    action.status === 'Completed' ||
    (action.status === 'Pending' && !askedUsers(action).some(({ id }) => id === user.id));
  if (state === 'Concluded') return 'concluded';
  if (isPromised(context.accepted, turn)) return 'processing';
  if (isDone && (state === 'Pending' || state === 'FlowConcluded')) return 'done';
  switch (state) {
    case 'Refused':
      return 'refused';
    case 'Canceled':
      return 'canceled';
    case 'Expired':
      return 'expired';
    case 'FlowConcluded':
      return 'done';
    case 'Pending':
      return action.status === 'Pending' ? 'ready' : 'waiting-for-turn';
  }
}
