/**
 * Changes to the flow of a document while it runs.
 *
 * Source: docs/portal-values.md §§8-11, 14, 15, 19.
 */

import { MAX_OBSERVERS } from '../../../contracts/portal/words.ts';
import type { FlowActionId, Millis } from '../../ids.ts';
import type { FlowAction, MailRequest } from '../portal-types.ts';
import type { DocumentContext, FlowChange } from './document-context.ts';
import { type DecisionFunction, notifyEffect } from './document-decision.ts';
import { actionsReleased, isDone, readdressed, withFlowEdits } from './document-flow.ts';
import { deduplicated, observerMails, turnMails, withMailed } from './document-notifications.ts';
import { skippedNote } from './participant-actions.ts';

/** Actions with an accepted or started signature. */
export function actionsBeingSigned(
  { accepted, reservations }: DocumentContext,
  at: Millis,
): ReadonlySet<FlowActionId> {
  const active = reservations.filter(({ expiresAt }) => expiresAt > at);
  return new Set([...accepted, ...active].map(({ flowActionId }) => flowActionId));
}

/** True if an edit gives anybody fields. */
export function bringsFields({ added, edited }: Pick<FlowChange, 'added' | 'edited'>): boolean {
  return (
    added.some(({ fields = [] }) => fields.length > 0) || edited.some(({ fields }) => fields !== undefined)
  );
}

/**
 * True while fields can be made: every signature so far is electronic, so that the file is built again with the fields at
 * the next one.
 */
export function takesFields({ made, accepted, reservations }: DocumentContext, at: Millis): boolean {
  const isCertificate = ({ kind }: { readonly kind: string }) => kind === 'certificate';
  return (
    !made.some(isCertificate) &&
    !accepted.some(isCertificate) &&
    !reservations.some(({ expiresAt }) => expiresAt > at)
  );
}

export const editFlow: DecisionFunction<'EDIT_FLOW'> = (document, { at, change }) => {
  if (bringsFields(change) && !takesFields(document, at)) return undefined;
  const plain = withFlowEdits(document.actions, change, actionsBeingSigned(document, at), at);
  const observers = withObserverEdits(document.observers, change);
  if (typeof plain === 'string' || typeof observers === 'string') return undefined;
  const { actions, pending, skipped } = actionsReleased(plain, at, document.made);
  // Nobody would be left to act.
  if (isDone(actions)) return undefined;
  const context: DocumentContext = {
    ...document,
    actions,
    observers,
    updateDate: at,
    ...(document.startedQuietly === true && { startedQuietly: keepsFirst(document.actions, actions) }),
  };
  // Participants who become pending and were not asked before at this address.
  const notified = new Set(turnMails(document, document.actions.filter(isPending), 'pending').map(addressOf));
  const fresh = turnMails(context, [...actions.filter(isPending)], 'pending').filter(
    (mail) => pending.some(({ id }) => id === mail.flowActionId) || !notified.has(addressOf(mail)),
  );
  const mails = document.disableNotifications
    ? []
    : [
        ...fresh,
        ...deduplicated([
          ...observerMails(context, { about: 'observing' }, newObservers(document, context)),
          ...observerMails(context, { about: 'flow-edited' }),
        ]),
      ];
  return {
    context: withMailed(context, mails),
    effects: notifyEffect(mails),
    note: 'The flow was edited.',
    skipped: skipped.map(skippedNote),
  };
};

/** True while an action of the first step is left in it. */
function keepsFirst(before: readonly FlowAction[], after: readonly FlowAction[]): boolean {
  const [first] = before;
  const isFirst = ({ step }: FlowAction) => step === first?.step;
  const ids = new Set(before.filter(isFirst).map(({ id }) => id));
  return after.some((action) => isFirst(action) && ids.has(action.id));
}

function isPending({ status }: FlowAction): boolean {
  return status === 'Pending';
}

function addressOf({ flowActionId, to }: MailRequest): string {
  return `${flowActionId} ${to.email.toLowerCase()}`;
}

/** Observers whose address had no link before. */
function newObservers(
  { observers: earlier }: DocumentContext,
  { observers }: DocumentContext,
): DocumentContext['observers'] {
  const known = new Set(earlier.map(({ user }) => user.id));
  return observers.filter(({ user }) => !known.has(user.id));
}

/** Returns the observers after an edit; `invalid` = one that it names is unknown, `excess` = too many. */
export function withObserverEdits(
  observers: DocumentContext['observers'],
  change: Pick<FlowChange, 'addedObservers' | 'editedObservers' | 'deletedObservers'>,
): DocumentContext['observers'] | 'invalid' | 'excess' {
  const known = new Set(observers.map(({ id }) => id));
  const named = [...change.editedObservers.map(({ id }) => id), ...change.deletedObservers];
  if (named.some((id) => !known.has(id))) return 'invalid';
  const kept = observers.filter(({ id }) => !change.deletedObservers.includes(id));
  const changed = kept.map((observer) => {
    const edit = change.editedObservers.find(({ id }) => id === observer.id);
    return edit === undefined
      ? observer
      : { ...observer, user: readdressed(observer.user, edit.email, edit.newUserId) };
  });
  const next = [...changed, ...change.addedObservers];
  return next.length > MAX_OBSERVERS ? 'excess' : next;
}
