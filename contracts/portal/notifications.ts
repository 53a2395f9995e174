/** Reminders by e-mail. Source: docs/portal-values.md §0, §11. */
import { list, members, shown, text, uuid } from '../fields.ts';
import { ANA, EXAMPLE_IDS } from './examples.ts';
import { documentParams } from './ids.ts';
import { operationsOf } from './operation.ts';
import { UNKNOWN_DOCUMENT } from './refusals.ts';
import { newReminders } from './reminders.ts';

const MAX_ADDRESSES = 500;

const operation = operationsOf({ group: 'Notifications' });

export const remindParticipant = operation('POST /api/notifications/flow-action-reminder', {
  summary: 'Reminds a participant whose action is pending.',
  description:
    'Sends the e-mail of the pending action again. For an action that is not pending, or without an address, the reply is 200 and no e-mail is sent, so that a caller need not ask for the status first; `X-Notified-Count` is 0 then. `FlowActionNotFound`: the document has no such action.',
  scope: 'Create',
  folderKeys: true,
  body: members({
    documentId: shown(uuid, 'The document this is about.', EXAMPLE_IDS.document),
    flowActionId: shown(
      uuid,
      'Action of the participant. Absent: the first pending action of this person.',
      EXAMPLE_IDS.flowAction,
    ),
  }).meta({ id: 'ParticipantReminder' }),
  reply: 'empty',
  answerHeaders: ['X-Notified-Count'],
  examples: { request: { documentId: EXAMPLE_IDS.document, flowActionId: EXAMPLE_IDS.flowAction } },
  refusals: [...UNKNOWN_DOCUMENT, 'FlowActionNotFound'],
});

export const scheduleReminders = operation('PUT /api/documents/{id}/reminders', {
  summary: 'Replaces the schedule of reminders and of warnings before expiry.',
  description:
    'Replaces the schedule of the creation request or of the organization. The next reminder is counted from now. A document with `disableNotifications` sends none. `InvalidDocumentStatus`: the document is neither Pending nor Refused.',
  scope: 'Create',
  folderKeys: true,
  params: documentParams,
  body: newReminders,
  reply: 'empty',
  examples: { request: { everyDays: 3, maximum: 5, daysBeforeExpiry: [7, 1] } },
  refusals: [...UNKNOWN_DOCUMENT, 'InvalidDocumentStatus'],
});

export const notifyPending = operation('POST /api/users/notify-pending', {
  summary: 'Sends each address an e-mail that lists its pending documents.',
  description:
    'An address gets one e-mail with the documents of the organization that are pending for it, or none if there are none; `X-Notified-Count` says how many got one. At most 500 addresses (`LimitExceeded`). An address that is not valid is refused with `InvalidFlowAction`.',
  scope: 'Create',
  body: members({
    emails: shown(
      list(text, {
        most: MAX_ADDRESSES,
        refusal: {
          code: 'LimitExceeded',
          message: `One call names at most ${MAX_ADDRESSES} addresses.`,
        },
      }),
      'E-mail addresses.',
      [ANA.email],
    ),
  }).meta({ id: 'PendingNotification' }),
  reply: 'empty',
  answerHeaders: ['X-Notified-Count'],
  examples: { request: { emails: [ANA.email] } },
  refusals: ['InvalidFlowAction', 'LimitExceeded'],
});
