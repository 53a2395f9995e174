/**
 * How a document begins.
 *
 * Source: portal-gaps §§8-11, 14, 15, 19.
 */

import type { DocumentContext, DocumentInput } from './document-context.ts';
import { announcing, type Decision, telling } from './document-decision.ts';
import { freshAction, inOrder, released } from './document-flow.ts';
import { summaryOf, turnNotices, withEvent } from './document-news.ts';
import type { DocumentEvent } from './portal-words.ts';

export function created(input: DocumentInput): Decision {
  const { at, actions: plans, quietStart, siblings, ...given } = input;
  const { actions, pending } = released(inOrder(plans.map((plan) => freshAction(plan, at))), at);
  const bare: DocumentContext = {
    ...given,
    creationDate: at,
    updateDate: at,
    version: 1,
    current: given.file.blob,
    signatures: null,
    actions,
    made: [],
    accepted: [],
    applying: null,
    reservations: [],
    rejected: null,
    processingError: null,
    statusUpdatedBy: null,
    statusUpdateReason: null,
    sequence: 0,
    concludedAt: null,
    statusBefore: null,
  };
  const told = siblings === null ? undefined : withEvent(bare, createdEvent(bare, siblings));
  const context = told?.document ?? bare;
  const isQuiet = quietStart || context.disableNotifications;
  return {
    context,
    effects: [
      ...(told === undefined ? [] : announcing(told.event)),
      ...telling(isQuiet ? [] : turnNotices(context, pending, 'pending')),
    ],
    ...(context.expirationDate !== null && {
      arm: [{ name: 'expiry', delay: Math.max(0, context.expirationDate - at) }],
    }),
  };
}

function createdEvent(
  document: DocumentContext,
  siblings: NonNullable<DocumentInput['siblings']>,
): Pick<DocumentEvent, 'type' | 'documents'> {
  const documents = [summaryOf(document), ...siblings];
  return { type: 'DocumentsCreated', ...(siblings.length > 0 && { documents }) };
}
