/**
 * Creates the initial context of a document.
 *
 * Source: docs/portal-values.md §§8-11, 14, 15, 19.
 */

import type { Millis } from '../../ids.ts';
import type { DocumentEvent } from '../portal-types.ts';
import type { DocumentContext, DocumentInput } from './document-context.ts';
import { announceEffect, type DeadlineName, type Decision, notifyEffect } from './document-decision.ts';
import { actionsReleased, initialAction, inOrder } from './document-flow.ts';
import { deduplicated, observerMails, summaryOf, turnMails, withEvent } from './document-notifications.ts';
import { nextReminderAt } from './document-reminders.ts';

export function createDocument(input: DocumentInput): Decision {
  const { at, actions: plans, quietStart, siblings, origin: _, draft, ...given } = input;
  const { id, organization, createdBy, order, key, name, file, format, parts, ...about } = given;
  const { isEnvelope, description, folderId, expirationDate, tags, type, signatureType, ...more } = about;
  const { observers, attachments, notifiedEmails, additionalInfo, disableNotifications, ...others } = more;
  const { actions, pending } = actionsReleased(inOrder(plans.map((plan) => initialAction(plan, at))), at);
  // Members one by one: V8 adds a member to an object that begins with a spread in more than a microsecond.
  const bare: DocumentContext = {
    id,
    organization,
    createdBy,
    order,
    key,
    name,
    file,
    format,
    parts,
    isEnvelope,
    description,
    folderId,
    expirationDate,
    tags,
    type,
    signatureType,
    observers,
    attachments,
    notifiedEmails,
    additionalInfo,
    disableNotifications,
    creationDate: at,
    updateDate: at,
    version: 1,
    current: file.blob,
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
    ...others,
  };
  const announced = siblings === null ? undefined : withEvent(bare, createdEvent(bare, siblings));
  const context = announced?.document ?? bare;
  const isQuiet = quietStart || context.disableNotifications;
  return {
    context,
    effects: [
      ...(announced === undefined ? [] : announceEffect(announced.event)),
      ...notifyEffect(
        isQuiet
          ? []
          : [
              ...turnMails(context, pending, 'pending'),
              ...deduplicated(observerMails(context, { about: 'observing' })),
            ],
      ),
      ...(draft === undefined ? [] : [{ do: 'confirmDraft', draft, createdAt: at, by: createdBy } as const]),
    ],
    arm: [
      ...deadline('expiry', context.expirationDate, at),
      ...deadline('reminders', nextReminderAt(context), at),
    ],
  };
}

function deadline(name: DeadlineName, due: Millis | null, at: Millis): NonNullable<Decision['arm']> {
  return due === null ? [] : [{ name, delay: Math.max(0, due - at) }];
}

function createdEvent(
  document: DocumentContext,
  siblings: NonNullable<DocumentInput['siblings']>,
): Pick<DocumentEvent, 'type' | 'documents'> {
  const documents = [summaryOf(document), ...siblings];
  return { type: 'DocumentsCreated', ...(siblings.length > 0 && { documents }) };
}
