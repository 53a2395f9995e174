/**
 * Legal holds and deletions by rules of retention: what may happen to a document, and when. Pure.
 *
 * Source: docs/decisions/0610-retention-and-holds.md.
 */
import { RETENTION_STATUSES } from '../../../contracts/portal/words.ts';
import type { Millis } from '../../ids.ts';
import type { DocumentContext, DocumentMessage, DocumentState } from './document-context.ts';
import type { Decision, DecisionFunction } from './document-decision.ts';

/** Every message to a document; false = it would remove the document or its files, and a hold refuses it. */
export const PASSES_HOLD: { readonly [type in DocumentMessage['type']]: boolean } = {
  DELETE: false,
  NEW_VERSION: false,
  ERASE: false,
  PLAN_DELETION: true,
  HOLD: true,
  MOVE: true,
  RECORD: true,
  SET_NOTIFIED_EMAILS: true,
  SIGN: true,
  APPROVE: true,
  REFUSE_TURN: true,
  PASS_ON: true,
  RESERVE: true,
  BEGUN: true,
  GIVE_UP: true,
  RESERVATION_OVER: true,
  COMPLETE: true,
  SIGNATURE_ADDED: true,
  SIGNATURE_FAILED: true,
  CONCLUDED: true,
  CONCLUSION_FAILED: true,
  TRY_AGAIN: true,
  RETRY: true,
  REFUSE: true,
  CANCEL: true,
  EXPIRE: true,
  EDIT_FLOW: true,
  REMIND: true,
  SET_REMINDERS: true,
  REMINDERS_DUE: true,
};

/** True when a hold of the document refuses the message. */
export function isHeldBack({ hold }: Pick<DocumentContext, 'hold'>, type: DocumentMessage['type']): boolean {
  return hold != null && !PASSES_HOLD[type];
}

/** True for a status in which rules of retention delete. */
export function isFinal(state: string): state is (typeof RETENTION_STATUSES)[number] {
  return RETENTION_STATUSES.some((one) => one === state);
}

/** Time at which a final status was reached; a later one for documents of earlier versions. */
export function endOf(state: string, { concludedAt, endedAt, updateDate }: DocumentContext): Millis {
  return (state === 'Concluded' ? concludedAt : endedAt) ?? updateDate;
}

export const hold: DecisionFunction<'HOLD'> = (document, { at, by, reason }) => {
  if (reason === null && document.hold == null) return undefined;
  return {
    context: { ...document, hold: reason === null ? null : { reason, by, at } },
    effects: [],
    // Participants read the history in the evidence, and are not told why.
    note: reason === null ? 'The legal hold was ended.' : 'Put under legal hold.',
  };
};

export const planDeletion: DecisionFunction<'PLAN_DELETION'> = (document, { plan }) => {
  const { deletion = null, hold: held, accepted } = document;
  if (plan === null ? deletion === null : deletion !== null || held != null || accepted.length > 0)
    return undefined;
  return {
    context: { ...document, deletion: plan },
    effects: [],
    note: plan === null ? 'It is not deleted as planned.' : `Will be deleted: ${ruleText(plan.rule)}.`,
  };
};

/** True when a rule may delete the document now. */
export function isDue(document: DocumentContext, state: string, at: Millis): boolean {
  const { deletion, accepted } = document;
  return isFinal(state) && deletion != null && deletion.at <= at && accepted.length === 0;
}

/** The rule in the history, in English like all of it. */
export function ruleText({
  folderId,
  status,
  days,
}: NonNullable<DocumentContext['deletion']>['rule']): string {
  const place = folderId === null ? 'all folders' : `folder ${folderId}`;
  return `rule of retention, ${days} days after ${status ?? 'any final status'}, ${place}`;
}

/** Adds when a final status was reached, and drops what was planned for the status before. */
export function withEnd(decision: Decision, before: DocumentContext): Decision {
  const { to, context } = decision;
  if (to === undefined || to === 'Deleted') return decision;
  const ends = to !== 'Concluded' && isFinal(to as DocumentState);
  return {
    ...decision,
    context: {
      ...context,
      ...((ends || before.endedAt != null) && { endedAt: ends ? context.updateDate : null }),
      ...(before.deletion != null && { deletion: null }),
    },
  };
}
