/**
 * Changes to the flow of a document while it runs.
 *
 * Source: portal-gaps §§8-11, 14, 15, 19.
 */

import type { DocumentContext } from './document-context.ts';
import { type Decide, type Message, telling } from './document-decision.ts';
import { edited, released } from './document-flow.ts';
import { observerNotices, onceEach, turnNotices } from './document-news.ts';
import type { FlowActionId, Millis } from './ids.ts';
import type { FlowAction, Notice } from './portal-words.ts';

/** Actions that somebody's accepted or begun signature is about. */
export function busyActions(
  { accepted, reservations }: DocumentContext,
  at: Millis,
): ReadonlySet<FlowActionId> {
  const begun = reservations.filter(({ expiresAt }) => expiresAt > at);
  return new Set([...accepted, ...begun].map(({ flowActionId }) => flowActionId));
}

export const editFlow: Decide<'EDIT_FLOW'> = (document, { at, change }) => {
  const plain = edited(document.actions, change, busyActions(document, at), at);
  const observers = editedObservers(document, change);
  if (typeof plain === 'string' || observers === undefined) return undefined;
  const { actions, pending } = released(plain, at);
  const context: DocumentContext = { ...document, actions, observers, updateDate: at };
  // Who is asked now and was not, at this address, before.
  const asked = new Set(turnNotices(document, document.actions.filter(isPending), 'pending').map(addressOf));
  const fresh = turnNotices(context, [...actions.filter(isPending)], 'pending').filter(
    (notice) => pending.some(({ id }) => id === notice.flowActionId) || !asked.has(addressOf(notice)),
  );
  const notices = document.disableNotifications
    ? []
    : [...fresh, ...onceEach(observerNotices(context, { about: 'flow-edited' }))];
  return { context, effects: telling(notices), note: 'The flow was edited.' };
};

function isPending({ status }: FlowAction): boolean {
  return status === 'Pending';
}

function addressOf({ flowActionId, to }: Notice): string {
  return `${flowActionId} ${to.email.toLowerCase()}`;
}

function editedObservers(
  { observers }: DocumentContext,
  change: Message<'EDIT_FLOW'>['change'],
): DocumentContext['observers'] | undefined {
  const known = new Set(observers.map(({ id }) => id));
  const named = [...change.editedObservers.map(({ id }) => id), ...change.deletedObservers];
  if (named.some((id) => !known.has(id))) return undefined;
  const kept = observers.filter(({ id }) => !change.deletedObservers.includes(id));
  const changed = kept.map((observer) => {
    const edit = change.editedObservers.find(({ id }) => id === observer.id);
    return edit === undefined ? observer : { ...observer, user: { ...observer.user, email: edit.email } };
  });
  return [...changed, ...change.addedObservers];
}
