/**
 * Ends, versions and folder of a document.
 *
 * Source: docs/portal-values.md §§8-11, 14, 15, 19.
 */

import { documentStatusesIn } from '../../../contracts/portal/words.ts';
import type { DocumentEvent } from '../portal-types.ts';
import type { DocumentContext, DocumentState } from './document-context.ts';
import {
  announceEffect,
  type Decision,
  type DecisionFunction,
  notifyEffect,
  SERVICE,
} from './document-decision.ts';
import { actionsReleased, withRestartedFlow } from './document-flow.ts';
import { activeMails, deduplicated, observerMails, turnMails, withEvent } from './document-notifications.ts';
import { isDue, ruleText } from './legal-hold.ts';
import { takesTaggedContent, withTaggedContent } from './tagged-content.ts';

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
  (document, { at, action, rule }) => {
    if (rule !== undefined && !isDue(document, from, at)) return undefined;
    const { deletion } = document;
    const changed: DocumentContext = {
      ...document,
      ...(deletion != null && { deletion: rule === undefined ? null : { ...deletion, rule } }),
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
      note: rule === undefined ? 'Deleted.' : `Deleted: ${ruleText(rule)}.`,
      ...(rule !== undefined && { doneBy: SERVICE }),
      disarm: ['expiry', 'again'],
    };
  };

export const newVersion: DecisionFunction<'NEW_VERSION'> = (document, message) => {
  const { at, name, file, format, parts, quietStart, tellParticipants, marks, additionalInfo } = message;
  const { tagged } = message;
  if (tagged !== undefined && !takesTaggedContent(document.actions, tagged)) return undefined;
  const restarted = withRestartedFlow(document.actions, marks, at);
  const placed = tagged === undefined ? restarted : withTaggedContent(restarted, tagged);
  const { actions, pending } = actionsReleased(placed, at, []);
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
