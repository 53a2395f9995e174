/**
 * Delivery of e-mails: those of an own document, and with an administration key all of them. No application receives
 * their texts: links and codes in them authorize signatures.
 *
 * Source: docs/decisions/0019-mails-and-webhooks.md; additional.
 */

import { z } from 'zod';
import { MAIL_STATUSES } from '../deliveries.ts';
import { entity, id, members, moment, shown, time } from '../fields.ts';
import type { Value } from '../operation.ts';
import { creationDate, failureCode, failureMessage } from './entities.ts';
import { documentParams, idIn } from './ids.ts';
import { pageOf, paging, queryWord } from './lists.ts';
import { operation } from './operation.ts';
import { UNKNOWN_DOCUMENT } from './refusals.ts';

const failure = z.strictObject({
  code: failureCode,
  message: failureMessage,
});

const mail = entity('Mail', {
  id: shown(z.string(), 'Identifier, unique within the instance.', '3f2504e0-4f89-41d3-9a0c-0305e82c3301'),
  organizationId: id.describe('Organization whose document this is about.'),
  about: shown(
    z.string(),
    'Kind of the e-mail: `pending`, `reminder`, `concluded`, `code` and so on.',
    'pending',
  ),
  to: shown(z.string(), 'Address of the recipient.', 'ana@example.com'),
  documentId: id.nullable().describe('The document this is about.'),
  status: z.enum(MAIL_STATUSES).describe('Current state.'),
  tries: shown(z.int(), 'Number of attempts to send the e-mail.', 1),
  creationDate,
  endDate: time.nullable().describe('Time at which the e-mail was sent or failed. Null: it is waiting.'),
  nextTryDate: time.nullable().describe('Time of the next attempt. Null: none is planned.'),
  reply: shown(
    z.string().nullable(),
    'What the relay said when it took the mail.',
    '250 2.0.0 Ok: queued as 4VdL2k3Z',
  ),
  lastError: failure
    .nullable()
    .describe('Error of the last attempt. Null: there was none, or the e-mail was sent.'),
});
/** Outcome of one e-mail to one person. Known for 30 days. */
export type Mail = Value<typeof mail>;

const mailDetail = mail
  .extend({
    failures: z
      .array(failure.extend({ date: time.describe('Time of the event, UTC.') }))
      .describe('Last failed attempts, oldest first.'),
  })
  .meta({ id: 'MailDetail' });
export type MailDetail = Value<typeof mailDetail>;

const mailParams = z.object({ id: idIn('Id of the mail.') });

export const documentMails = operation('GET /api/documents/{id}/mails', {
  group: 'Documents',
  summary: 'Lists the e-mails about a document with their delivery status, oldest first.',
  description:
    'Contains the recipient, the kind, the number of attempts and the reply of the mail server. Texts, links and codes are not returned. E-mails are kept for 30 days after they were sent or failed.',
  scope: 'Read',
  folderKeys: true,
  params: documentParams,
  reply: z.array(mail),
  refusals: UNKNOWN_DOCUMENT,
});

export const listMails = operation('GET /api/admin/mails', {
  group: 'Administration',
  summary: 'Lists the e-mails of all organizations, newest first.',
  description: 'For keys of the role Administrator. Texts, links and codes are not returned.',
  scope: 'Read',
  auth: 'administrator',
  query: members({
    status: queryWord(MAIL_STATUSES).describe('Only entries in this state. Absent: in any.'),
    limit: paging.limit,
    offset: paging.offset,
  }),
  reply: pageOf(mail).meta({ id: 'MailPage' }),
});

export const getMail = operation('GET /api/admin/mails/{id}', {
  group: 'Administration',
  summary: 'Returns an e-mail with its delivery status and its last failed attempts.',
  description:
    'For keys of the role Administrator. A failed attempt has the reply of the mail server, or the error of the connection. `MailNotFound`: the id is unknown, or the e-mail is no longer kept.',
  scope: 'Read',
  auth: 'administrator',
  params: mailParams,
  reply: mailDetail,
  refusals: ['MailNotFound'],
});

export const retryMail = operation('POST /api/admin/mails/{id}/retry', {
  group: 'Administration',
  summary: 'Sends an e-mail now that waits for its next attempt, or failed.',
  description:
    'For keys of the role Administrator. A failed e-mail is queued again. `MailAlreadySent`: the mail server has accepted it.',
  scope: 'Administer',
  auth: 'administrator',
  params: mailParams,
  reply: 'empty',
  refusals: ['MailNotFound', 'MailAlreadySent'],
});

export const retryFailedMails = operation('POST /api/admin/mails/retry', {
  group: 'Administration',
  summary: 'Sends all e-mails again that failed since a time.',
  description:
    'For keys of the role Administrator. Sends the e-mails that failed at `since` or later; absent: all that are kept. Codes and links to sign in are not sent again. At most 10,000 in one request, oldest first.',
  scope: 'Administer',
  auth: 'administrator',
  body: members({
    since: shown(
      moment,
      'Time of the first failure, included, ISO 8601; in UTC without a zone.',
      '2026-05-26T00:00:00Z',
    ),
  }).meta({ id: 'FailedMailsRetry' }),
  reply: entity('RetriedMails', {
    count: shown(z.int(), 'How many e-mails are sent again.', 12),
    complete: shown(z.boolean(), 'False: there are more. Ask again.', true),
  }),
  examples: { request: { since: '2026-05-26T00:00:00Z' } },
  refusals: [],
});
