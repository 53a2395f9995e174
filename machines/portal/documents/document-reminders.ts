/**
 * Reminders on a schedule, and warnings before a document expires. One stored deadline (`reminders`) is set for
 * whichever is due next.
 *
 * Source: docs/decisions/0121-scheduled-reminders.md.
 */
import { DAY_MS, isoDayEndingAt } from '../../../contracts/times.ts';
import type { Millis } from '../../ids.ts';
import type { DocumentEvent, FlowAction, MailRequest } from '../portal-types.ts';
import type { DocumentContext, DocumentMessage } from './document-context.ts';
import {
  announceEffect,
  type Decision,
  type DecisionFunction,
  notifyEffect,
  SERVICE,
} from './document-decision.ts';
import { turnMails, withEvent, withMailed } from './document-notifications.ts';

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
  return count >= reminders.maximum ? null : Math.max(at, remindersFrom) + reminders.everyDays * DAY_MS;
}

function warningAt({
  reminders,
  expirationDate,
  remindersFrom,
  creationDate,
}: DocumentContext): Millis | null {
  if (reminders === undefined || expirationDate === null) return null;
  const times = reminders.daysBeforeExpiry.map((days) => expirationDate - days * DAY_MS);
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
export const remind: DecisionFunction<'REMIND'> = (document, { at, flowActionId }) => {
  const actions = document.actions.filter(
    ({ id, status }) => status === 'Pending' && (flowActionId === null || id === flowActionId),
  );
  const mails = turnMails(document, actions, 'reminder');
  if (mails.length === 0) return undefined;
  return { ...reminded(withReminders(document, actions, at, 0), mails, at), note: 'A reminder was sent.' };
};
