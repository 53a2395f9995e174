/**
 * Ends, versions and folder of a document.
 *
 * Source: docs/portal-values.md §§8-11, 14, 15, 19.
 *
 * Reminders on a schedule, and warnings before a document expires. One stored deadline (`reminders`) is set for
 * whichever is due next.
 *
 * Source: docs/decisions/0121-scheduled-reminders.md.
 */

import { documentStatusesIn } from '../../../contracts/portal/words.ts';
import { isoDayEndingAt } from '../../../contracts/times.ts';
import type { Millis } from '../../ids.ts';
import type { DocumentEvent, FlowAction, MailRequest } from '../portal-types.ts';
import type { DocumentContext, DocumentMessage, DocumentState } from './document-context.ts';
import { announceEffect, type Decision, type DecisionFunction, notifyEffect } from './document-decision.ts';
import { actionsReleased, withRestartedFlow } from './document-flow.ts';
import {
  activeMails,
  deduplicated,
  observerMails,
  turnMails,
  withEvent,
  withMailed,
} from './document-notifications.ts';
import { takesTaggedContent, withTaggedContent } from './tagged-content.ts';

const DAY = 86_400_000;

/** Returns the time of the next reminder or warning of a pending document; null = none follows. */
export function nextReminderAt(document: DocumentContext): Millis | null {
  const times = [...document.actions.map((action) => reminderAt(document, action)), warningAt(document)];
  const due = times.filter((time) => time !== null);
  return due.length === 0 ? null : Math.min(...due);
}

/** Sets or removes the deadline after a decision, where it has changed or was the message itself. */
export function withReminderDeadline(
  before: DocumentContext,
  decision: Decision,
  message: DocumentMessage,
): Decision {
  if (decision.context.reminders === undefined) return decision;
  if (decision.disarm?.includes('reminders')) return decision;
  const ends = decision.to !== undefined && decision.to !== 'Pending';
  const next = ends ? null : nextReminderAt(decision.context);
  const isSame = decision.to === undefined && next === nextReminderAt(before);
  if (isSame && message.type !== 'REMINDERS_DUE') return decision;
  const { arm = [], disarm = [] } = decision;
  if (next === null) return { ...decision, disarm: [...disarm, 'reminders'] };
  return { ...decision, arm: [...arm, { name: 'reminders', delay: Math.max(0, next - message.at) }] };
}

/** Reminders of an action since it became pending. */
function remindersOf({ reminded }: DocumentContext, { id, pendingDate }: FlowAction) {
  const sent = reminded?.[id];
  return sent === undefined || sent.at < (pendingDate ?? 0) ? { count: 0, at: pendingDate ?? 0 } : sent;
}

function reminderAt(document: DocumentContext, action: FlowAction): Millis | null {
  const { reminders, remindersFrom = 0, disableNotifications } = document;
  if (reminders === undefined || reminders.everyDays === null || disableNotifications) return null;
  if (action.status !== 'Pending') return null;
  const { count, at } = remindersOf(document, action);
  return count >= reminders.maximum ? null : Math.max(at, remindersFrom) + reminders.everyDays * DAY;
}

function warningAt({
  reminders,
  expirationDate,
  remindersFrom,
  creationDate,
}: DocumentContext): Millis | null {
  if (reminders === undefined || expirationDate === null) return null;
  const times = reminders.daysBeforeExpiry.map((days) => expirationDate - days * DAY);
  const left = times.filter((time) => time > (remindersFrom ?? creationDate));
  return left.length === 0 ? null : Math.min(...left);
}

/** Counts reminders. @param by 0 for reminders outside of the schedule, which only move the next one */
function withReminders(
  document: DocumentContext,
  actions: readonly FlowAction[],
  at: Millis,
  by: 0 | 1,
): DocumentContext {
  if (document.reminders === undefined) return document;
  const counted = actions.map((action) => {
    const { count } = remindersOf(document, action);
    return [action.id, { count: count + by, at }] as const;
  });
  return { ...document, reminded: { ...document.reminded, ...Object.fromEntries(counted) } };
}

/** Mails to the persons of these actions whose signature is not accepted yet. */
function mailsTo(
  document: DocumentContext,
  actions: readonly FlowAction[],
  about: 'reminder' | 'expiring',
): readonly MailRequest[] {
  const signed = new Set(document.accepted.map(({ flowActionId, userId }) => `${flowActionId} ${userId}`));
  return turnMails(document, actions, about).filter(
    ({ flowActionId, userId }) => !signed.has(`${flowActionId} ${userId}`),
  );
}

/** A warning, or else the reminders that are due. */
export const remindersDue: DecisionFunction<'REMINDERS_DUE'> = (document, { at }) => {
  // After an outage both deadlines may be over; nobody can sign any more.
  if (document.expirationDate !== null && document.expirationDate <= at)
    return { context: { ...document, remindersFrom: at }, effects: [] };
  const warning = warningAt(document);
  if (warning !== null && warning <= at) return warned(document, at);
  const actions = document.actions.filter((action) => (reminderAt(document, action) ?? at + 1) <= at);
  const counted = withReminders(document, actions, at, 1);
  const mails = mailsTo(document, actions, 'reminder');
  if (mails.length === 0) return { context: counted, effects: [] };
  return {
    ...reminded(counted, mails, at),
    note: 'A reminder was sent on schedule.',
    doneBy: SERVICE,
  };
};

/** Sends these mails, and one event for each of their actions. */
function reminded(
  document: DocumentContext,
  mails: readonly MailRequest[],
  at: Millis,
): Pick<Decision, 'context' | 'effects'> {
  let context = withMailed(document, mails);
  const events: DocumentEvent[] = [];
  for (const id of new Set(mails.map(({ flowActionId }) => flowActionId))) {
    const recorded = withEvent(context, {
      type: 'DocumentReminded',
      by: { flowActionId: id, userId: '', name: null, identifier: null, emailAddress: null },
    });
    context = recorded.document;
    events.push({ ...recorded.event, at });
  }
  return { context, effects: [...announceEffect(...events), ...notifyEffect(mails)] };
}

/** One warning for all thresholds passed; it also counts as the last reminder. */
function warned(document: DocumentContext, at: Millis): Decision {
  const { expirationDate, disableNotifications, actions } = document;
  if (expirationDate === null) return { context: document, effects: [] };
  const { document: context, event } = withEvent(
    { ...document, remindersFrom: at },
    { type: 'DocumentExpiring', expirationDate },
  );
  const pending = actions.filter(({ status }) => status === 'Pending');
  const mails = disableNotifications ? [] : mailsTo(context, pending, 'expiring');
  const doneBy = { ...SERVICE, action: 'expiring' };
  return {
    context: withMailed(context, mails),
    effects: [
      ...announceEffect({ ...event, at }),
      ...notifyEffect(mails.map((mail) => ({ ...mail, expirationDate }))),
    ],
    note: `The document expires on ${isoDayEndingAt(expirationDate)}.`,
    doneBy,
  };
}

export const setReminders: DecisionFunction<'SET_REMINDERS'> = (document, { at, schedule }) => ({
  context: { ...document, reminders: schedule, remindersFrom: at, updateDate: at },
  effects: [],
  note: 'The reminders were changed.',
});

/** Keeps the schedule for a new version: nothing is due in `Refused`. */
export const setRefusedReminders: DecisionFunction<'SET_REMINDERS'> = (document, message) => {
  const decision = setReminders(document, message);
  return decision && { ...decision, disarm: ['reminders'] };
};

/** Time that expiry waits for accepted work in progress, milliseconds. */
const EXPIRY_RETRY_MS = 1_000;
/** Time that expiry waits for accepted work that has failed and is retried, milliseconds. */
const FAILED_EXPIRY_RETRY_MS = 60_000;

export const refuse: DecisionFunction<'REFUSE'> = (document, { at, by, reason }) => {
  const changed = { ...document, updateDate: at, statusUpdatedBy: by, statusUpdateReason: reason };
  const { document: context, event } = withEvent(changed, {
    type: 'DocumentRefused',
    by: { flowActionId: null, userId: by.id, name: by.name, identifier: null, emailAddress: null },
    reason,
  });
  return { ...endedDecision(context, event, { about: 'refused', byName: by.name, reason }), to: 'Refused' };
};

export const cancel: DecisionFunction<'CANCEL'> = (
  document,
  { at, by, reason, isQuiet = document.disableNotifications, untouched },
) => {
  const { actions, accepted, made } = document;
  const isPending = actions.find(({ id }) => id === untouched)?.status === 'Pending';
  if (untouched !== undefined && !(isPending && accepted.length === 0 && made.length === 0)) return undefined;
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
  return {
    ...endedDecision(context, event, { about: 'canceled', byName: by.name, reason, isQuiet }),
    to: 'Canceled',
    disarm: ['expiry'],
  };
};

function endedDecision(
  context: DocumentContext,
  event: DocumentEvent,
  {
    about,
    byName,
    reason,
    isQuiet = context.disableNotifications,
  }: {
    readonly about: 'refused' | 'canceled';
    readonly byName: string;
    readonly reason: string;
    readonly isQuiet?: boolean | undefined;
  },
): Decision {
  const mailKind = { about, reason, byName };
  const mails = isQuiet
    ? []
    : deduplicated([...activeMails(context, mailKind), ...observerMails(context, mailKind)]);
  const how = about === 'refused' ? 'Refused' : 'Canceled';
  const doneBy = { by: byName, userId: null, ipAddress: null, userAgent: null };
  return {
    context,
    effects: [...announceEffect(event), ...notifyEffect(mails)],
    note: `${how} by ${byName}.`,
    doneBy,
  };
}

export const expire: DecisionFunction<'EXPIRE'> = (document, { at }) => {
  // A signature accepted in time is completed.
  if (document.accepted.length > 0) {
    const delay = document.processingError === null ? EXPIRY_RETRY_MS : FAILED_EXPIRY_RETRY_MS;
    return { context: document, effects: [], arm: [{ name: 'expiry', delay }] };
  }
  const { document: context, event } = withEvent(
    { ...document, updateDate: at, reservations: [] },
    {
      type: 'DocumentExpired',
      ...(document.expirationDate !== null && { expirationDate: document.expirationDate }),
    },
  );
  return { context, to: 'Expired', effects: announceEffect(event), note: 'Expired.', doneBy: SERVICE };
};

/** The service itself. */
const SERVICE = { by: null, userId: null, ipAddress: null, userAgent: null };

/** Ends of which no participant signs; a new version of a refused document starts its flow anew. */
const ENDS: ReadonlySet<DocumentState | undefined> = new Set(documentStatusesIn('concluded', 'ended'));

/** Adds the effect that ends the uploads of participants to a decision that ends the document. */
export function withUploadsEnded(decision: Decision): Decision {
  const { to, context, effects } = decision;
  const asksForFiles = context.actions.some(({ fields }) =>
    fields?.some(({ type }) => type === 'Attachment'),
  );
  if (!ENDS.has(to) || !asksForFiles) return decision;
  return { ...decision, effects: [...effects, { type: 'forgetParticipantUploads', params: undefined }] };
}

/** Keeps the metadata and removes the references to files. */
export const remove =
  (from: Exclude<DocumentState, 'Deleted'>): DecisionFunction<'DELETE'> =>
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
      effects: [...announceEffect(event), { type: 'forgetFiles', params: undefined }],
      note: 'Deleted.',
      disarm: ['expiry', 'again'],
    };
  };

export const newVersion: DecisionFunction<'NEW_VERSION'> = (document, message) => {
  const { at, name, file, format, parts, quietStart, tellParticipants, marks, additionalInfo } = message;
  const { tagged } = message;
  if (tagged !== undefined && !takesTaggedContent(document.actions, tagged)) return undefined;
  const restarted = withRestartedFlow(document.actions, marks, at);
  const placed = tagged === undefined ? restarted : withTaggedContent(restarted, tagged);
  const { actions, pending } = actionsReleased(placed, at);
  const covers = tagged?.covers ?? [];
  const context: DocumentContext = {
    ...document,
    // The context is merged into that of before, so what is over is said. Tags were in the text of the version before.
    ...((covers.length > 0 || document.covers !== undefined) && { covers }),
    name,
    file,
    format,
    parts,
    actions,
    ...((quietStart || document.startedQuietly !== undefined) && { startedQuietly: quietStart }),
    ...(document.mailedUsers !== undefined && { mailedUsers: [] }),
    ...(additionalInfo !== undefined && { additionalInfo }),
    current: file.blob,
    attachments: [
      ...document.attachments.filter(
        ({ signatures, fieldId }) => signatures === undefined && fieldId === undefined,
      ),
      ...(message.signedOriginals ?? []),
    ],
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
  const mailKind = { about: 'new-version' } as const;
  const mails = document.disableNotifications
    ? []
    : [
        ...deduplicated([
          // Sent to the participants who were active before, unless the caller silences the start of the flow.
          ...(tellParticipants && !quietStart
            ? activeMails({ ...context, actions: document.actions }, mailKind)
            : []),
          ...observerMails(context, mailKind),
        ]),
        ...(quietStart ? [] : turnMails(context, pending, 'pending')),
      ];
  return {
    context,
    to: 'Pending',
    effects: notifyEffect(mails),
    note: `Version ${context.version}; the flow restarts.`,
    disarm: ['again'],
  };
};

export const setNotifiedEmails: DecisionFunction<'SET_NOTIFIED_EMAILS'> = (document, { at, emails }) => ({
  context: { ...document, notifiedEmails: emails, updateDate: at },
  effects: [],
});

export const move: DecisionFunction<'MOVE'> = (document, { at, folderId }) => ({
  context: { ...document, folderId, updateDate: at },
  effects: [],
});

export const remind: DecisionFunction<'REMIND'> = (document, { at, flowActionId }) => {
  const actions = document.actions.filter(
    ({ id, status }) => status === 'Pending' && (flowActionId === null || id === flowActionId),
  );
  const mails = turnMails(document, actions, 'reminder');
  if (mails.length === 0) return undefined;
  return { ...reminded(withReminders(document, actions, at, 0), mails, at), note: 'A reminder was sent.' };
};
