/**
 * Audit trail: records what happened to a document beside its changes. Each record is a line of the journal, and so part of
 * the tamper-evident history.
 *
 * Repeated openings, views and downloads by one principal from one address are one line a day. A document has at most
 * `MAX_LINES` lines of this kind, and at most `MAX_LINES_EACH` of one principal and action; further ones are not recorded.
 *
 * Source: docs/decisions/0092-audit-trail.md.
 */

import type { EventType } from '../../../contracts/portal/webhooks/webhooks.ts';
import { DAY_MS } from '../../../contracts/times.ts';
import type { Millis } from '../../ids.ts';
import type { DocumentContext, TrailAction } from './document-context.ts';
import { announceEffect, type DecisionFunction, type DocumentMessageOf } from './document-decision.ts';
import { withEvent } from './document-notifications.ts';

/** Lines of one document. */
const MAX_LINES = 2_000;
/** Lines of one action by one principal. */
const MAX_LINES_EACH = 100;

/** Actions that a principal repeats without meaning anything new. */
const MERGED: ReadonlySet<TrailAction> = new Set(['opened', 'viewed', 'downloaded']);

const SENTENCES: { readonly [Action in TrailAction]: (name: string) => string } = {
  opened: (name) => `${name} opened the document.`,
  viewed: (name) => `${name} viewed the document to its end.`,
  downloaded: (name) => `${name} downloaded a file of the document.`,
  'code-sent': (name) => `A code was sent to ${name}.`,
  'code-wrong': (name) => `${name} entered a wrong code.`,
  'authenticator-reset': (name) => `${name} removed the authenticator of a participant.`,
  'mail-delivered': (name) => `The mail server took an e-mail to ${name}.`,
  'mail-refused': (name) => `An e-mail to ${name} could not be delivered.`,
  'message-refused': (name) => `A code could not be sent to the telephone of ${name}.`,
};

const EVENTS: { readonly [Action in TrailAction]?: EventType } = {
  opened: 'DocumentOpened',
  viewed: 'DocumentViewed',
  'mail-refused': 'MailFailed',
  'message-refused': 'MailFailed',
};

type RecordMessage = Omit<DocumentMessageOf<'RECORD'>, 'at' | 'type'>;

/** Returns true when a record would write a line. */
export function isRecorded(
  { trail }: Pick<DocumentContext, 'trail'>,
  { action, principal }: Pick<RecordMessage, 'action' | 'principal'>,
  at: Millis,
): boolean {
  if (trail === undefined) return true;
  const last = trail.by[keyOf(action, principal)];
  // A link holder fills a trail with wrong codes; who takes a participant's app away is said all the same.
  const isFull = trail.lines >= MAX_LINES && action !== 'authenticator-reset';
  if (isFull || (last?.lines ?? 0) >= MAX_LINES_EACH) return false;
  const isRepeated = last?.day === dayOf(at) && last.ipAddress === principal.ipAddress;
  return !(MERGED.has(action) && isRepeated);
}

export const record: DecisionFunction<'RECORD'> = (document, message) => {
  const { at, action, principal, detail, flowActionId, emailAddress } = message;
  if (!isRecorded(document, message, at)) return undefined;
  const { lines, by } = document.trail ?? { lines: 0, by: {} };
  const key = keyOf(action, principal);
  const mine = { lines: (by[key]?.lines ?? 0) + 1, day: dayOf(at), ipAddress: principal.ipAddress };
  const changed: DocumentContext = { ...document, trail: { lines: lines + 1, by: { ...by, [key]: mine } } };
  const name = principal.by ?? 'A participant';
  const note = {
    note: SENTENCES[action](name),
    doneBy: { ...principal, action, ...(detail !== null && { detail }) },
  };
  const type = EVENTS[action];
  if (type === undefined) return { context: changed, effects: [], ...note };
  const recorded = withEvent(changed, {
    type,
    by: {
      flowActionId,
      userId: principal.userId ?? '',
      name: principal.by,
      identifier: null,
      emailAddress,
    },
    ...(detail !== null && { reason: detail }),
  });
  return { context: recorded.document, effects: announceEffect({ ...recorded.event, at }), ...note };
};

function keyOf(action: TrailAction, { userId, by }: RecordMessage['principal']): string {
  return `${action} ${userId ?? by ?? ''}`;
}

function dayOf(at: Millis): number {
  return Math.floor(at / DAY_MS);
}
