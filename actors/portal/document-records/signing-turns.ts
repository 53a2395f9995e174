/** Finds the pending action of a person on a document. Source: docs/portal-values.md §9. */

import type { FlowActionId } from '../../../machines/ids.ts';
import type {
  DocumentContext,
  DocumentState,
  Turn,
} from '../../../machines/portal/documents/document-context.ts';
import { requestedUsers, usersOf } from '../../../machines/portal/documents/document-flow.ts';
import type { FlowAction, Participant } from '../../../machines/portal/portal-types.ts';
import type { SigningPageView } from '../api/signing.ts';
import { addressKey } from '../shared/mail-address.ts';

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
    (!who.emailAddress || (email !== null && addressKey(email) === addressKey(who.emailAddress.trim())));
  if (!who.identifier && !who.emailAddress) return undefined;
  for (const action of actions) {
    if (action.status !== 'Pending') continue;
    if (who.flowActionId !== undefined && action.id !== who.flowActionId) continue;
    const user = requestedUsers(action).find(
      (one) => isWho(one) && !isPromised(accepted, { flowActionId: action.id, userId: one.id }),
    );
    if (user !== undefined) return { flowActionId: action.id, userId: user.id };
  }
  return undefined;
}

/** True if a person is asked by mail: the sender has not silenced the document or, for this person, its first step. */
export function isAskedByMail(
  { actions, disableNotifications, startedQuietly, mailedUsers = [] }: DocumentContext,
  { action, user }: NonNullable<ReturnType<typeof namedTurn>>,
): boolean {
  const isQuiet = startedQuietly === true && action.step === actions[0]?.step;
  return !disableNotifications && (!isQuiet || mailedUsers.includes(user.id));
}

/** True when a signature of the participant is among these: those that are accepted and not in the file yet, or made. */
export function isPromised(accepted: readonly Turn[], turn: Turn): boolean {
  return accepted.some(
    ({ flowActionId, userId }) => flowActionId === turn.flowActionId && userId === turn.userId,
  );
}

/** Returns the action and its participant in any state. */
export function namedTurn(
  { actions }: Pick<DocumentContext, 'actions'>,
  { flowActionId, userId }: Turn,
): { readonly action: FlowAction; readonly user: Participant } | undefined {
  const action = actions.find(({ id }) => id === flowActionId);
  const user = action && usersOf(action).find(({ id }) => id === userId);
  return action && user && { action, user };
}

/** Document view of the signing page for one participant. */
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
    (action.status === 'Pending' && !requestedUsers(action).some(({ id }) => id === user.id));
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
      if (action.status === 'Skipped') return 'removed';
      return action.status === 'Pending' ? 'ready' : 'waiting-for-turn';
  }
}

/** Number of people who are asked by an action and have an e-mail address. @param asked null: all pending actions */
export function peopleWithAddress(
  { actions }: Pick<DocumentContext, 'actions'>,
  asked: FlowActionId | null,
): number {
  const isAsked = ({ id, status }: FlowAction) => (asked === null ? status === 'Pending' : id === asked);
  const people = actions.filter(isAsked).flatMap(requestedUsers);
  return people.filter(({ email }) => email !== null).length;
}
