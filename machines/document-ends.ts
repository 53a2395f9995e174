/**
 * What concerns a document as a whole: its ends, its versions, its place.
 *
 * Source: portal-gaps §§8-11, 14, 15, 19.
 */

import type { DocumentContext, DocumentState } from './document-context.ts';
import { announcing, type Decide, type Decision, telling } from './document-decision.ts';
import { released, restarted } from './document-flow.ts';
import { activeNotices, observerNotices, onceEach, turnNotices, withEvent } from './document-news.ts';
import type { DocumentEvent } from './portal-words.ts';

/** Accepted work that is under way is waited for this long before the document may expire, milliseconds. */
const EXPIRY_PAUSE = 1_000;
/** The same for work that has failed and is tried again later. */
const TROUBLED_PAUSE = 60_000;

export const refuse: Decide<'REFUSE'> = (document, { at, by, reason }) => {
  const changed = { ...document, updateDate: at, statusUpdatedBy: by, statusUpdateReason: reason };
  const { document: context, event } = withEvent(changed, {
    type: 'DocumentRefused',
    by: { flowActionId: null, userId: by.id, name: by.name, identifier: null, emailAddress: null },
    reason,
  });
  return { ...stopped(context, event, 'refused', by.name, reason), to: 'Refused' };
};

export const cancel: Decide<'CANCEL'> = (document, { at, by, reason }) => {
  const changed = {
    ...document,
    updateDate: at,
    reservations: [],
    statusUpdatedBy: by,
    statusUpdateReason: reason,
  };
  const { document: context, event } = withEvent(changed, {
    type: 'DocumentCanceled',
    canceledBy: by,
    reason,
  });
  return { ...stopped(context, event, 'canceled', by.name, reason), to: 'Canceled', disarm: ['expiry'] };
};

function stopped(
  context: DocumentContext,
  event: DocumentEvent,
  about: 'refused' | 'canceled',
  byName: string,
  reason: string,
): Decision {
  const letter = { about, reason, byName };
  const notices = context.disableNotifications
    ? []
    : onceEach([...activeNotices(context, letter), ...observerNotices(context, letter)]);
  const how = about === 'refused' ? 'Refused' : 'Canceled';
  return { context, effects: [...announcing(event), ...telling(notices)], note: `${how} by ${byName}.` };
}

export const expire: Decide<'EXPIRE'> = (document, { at }) => {
  // What was promised in time is kept.
  if (document.accepted.length > 0) {
    const delay = document.processingError === null ? EXPIRY_PAUSE : TROUBLED_PAUSE;
    return { context: document, effects: [], arm: [{ name: 'expiry', delay }] };
  }
  const { document: context, event } = withEvent(
    { ...document, updateDate: at, reservations: [] },
    {
      type: 'DocumentExpired',
      ...(document.expirationDate !== null && { expirationDate: document.expirationDate }),
    },
  );
  return { context, to: 'Expired', effects: announcing(event), note: 'Expired.' };
};

/** What is left can still be named, and nothing of its files is kept. */
export const remove =
  (from: Exclude<DocumentState, 'Deleted'>): Decide<'DELETE'> =>
  (document, { at, action }) => {
    const changed: DocumentContext = {
      ...document,
      updateDate: at,
      statusBefore: from,
      accepted: [],
      applying: null,
      reservations: [],
      processingError: null,
    };
    const { document: context, event } = withEvent(changed, { type: 'DocumentDeleted', action });
    return {
      context,
      to: 'Deleted',
      effects: [...announcing(event), { do: 'forgetFiles' }],
      note: 'Deleted.',
      disarm: ['expiry', 'again', 'reservation'],
    };
  };

export const newVersion: Decide<'NEW_VERSION'> = (document, message) => {
  const { at, name, file, format, parts, quietStart, tellParticipants, marks, additionalInfo } = message;
  const { actions, pending } = released(restarted(document.actions, marks, at), at);
  const context: DocumentContext = {
    ...document,
    ...{ name, file, format, parts, actions },
    ...(additionalInfo !== undefined && { additionalInfo }),
    current: file.blob,
    signatures: null,
    version: document.version + 1,
    updateDate: at,
    made: [],
    accepted: [],
    applying: null,
    reservations: [],
    rejected: null,
    processingError: null,
    statusUpdatedBy: null,
    statusUpdateReason: null,
  };
  const letter = { about: 'new-version' } as const;
  const notices = document.disableNotifications
    ? []
    : [
        ...onceEach([
          // To those who were active before, about the document as it is now.
          ...(tellParticipants ? activeNotices({ ...context, actions: document.actions }, letter) : []),
          ...observerNotices(context, letter),
        ]),
        ...(quietStart ? [] : turnNotices(context, pending, 'pending')),
      ];
  return {
    context,
    to: 'Pending',
    effects: telling(notices),
    note: `Version ${context.version}; the flow restarts.`,
    disarm: ['again', 'reservation'],
  };
};

export const setNotifiedEmails: Decide<'SET_NOTIFIED_EMAILS'> = (document, { at, emails }) => ({
  context: { ...document, notifiedEmails: emails, updateDate: at },
  effects: [],
});

export const move: Decide<'MOVE'> = (document, { at, folderId }) => ({
  context: { ...document, folderId, updateDate: at },
  effects: [],
});

export const remind: Decide<'REMIND'> = (document, { flowActionId }) => {
  const action = document.actions.find(({ id }) => id === flowActionId);
  if (action === undefined || action.status !== 'Pending') return undefined;
  const notices = turnNotices(document, [action], 'reminder');
  return notices.length === 0
    ? undefined
    : { context: document, effects: telling(notices), note: 'A reminder was sent.' };
};
