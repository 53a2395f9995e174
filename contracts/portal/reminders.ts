/** Reminders, at once and on schedule. Source: docs/portal-values.md §0, §11; docs/decisions/0121-scheduled-reminders.md. */

import { z } from 'zod';
import { list, members, shown, text, uuid, wholeFrom } from '../fields.ts';
import type { Value } from '../operation.ts';
import { ANA, EXAMPLE_IDS } from './examples.ts';
import { documentParams } from './ids.ts';
import { operationsOf } from './operation.ts';
import { UNKNOWN_DOCUMENT } from './refusals.ts';

const MAX_ADDRESSES = 500;
const MAX_DAYS = 365;
const DEFAULT_REMINDERS = 5;

const operation = operationsOf({ group: 'Notifications' });

/** Reminders in a request. */
export const newReminders = members({
  everyDays: shown(
    wholeFrom(1, MAX_DAYS).nullish(),
    'Days after which a pending participant is reminded; null = never.',
    3,
  ),
  maximum: shown(
    wholeFrom(1, 100).nullish(),
    `Most reminders for one flow action; ${DEFAULT_REMINDERS} when left out.`,
    DEFAULT_REMINDERS,
  ),
  daysBeforeExpiry: shown(
    list(wholeFrom(1, MAX_DAYS), { most: 10 }).nullish(),
    'Days before the expiration date on which pending participants are warned. At most ten.',
    [7, 1],
  ),
})
  .transform(
    ({ everyDays, maximum, daysBeforeExpiry }): ReminderSchedule => ({
      everyDays: everyDays ?? null,
      maximum: maximum ?? DEFAULT_REMINDERS,
      daysBeforeExpiry: daysBeforeExpiry ?? [],
    }),
  )
  .meta({ id: 'NewReminders' });

export const reminders = z
  .strictObject({
    everyDays: shown(z.int().nullable(), 'Days between reminders of a pending participant; null = never.', 3),
    maximum: shown(z.int(), 'Most reminders for one flow action.', DEFAULT_REMINDERS),
    daysBeforeExpiry: shown(
      z.array(z.int()),
      'Days before the expiry at which pending participants are warned.',
      [7, 1],
    ),
  })
  .meta({ id: 'Reminders', description: 'Reminders and warnings that are sent on schedule.' });

/** As stored and as shown. The next reminder is counted from the request or the last reminder. */
export type ReminderSchedule = Value<typeof reminders>;

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
