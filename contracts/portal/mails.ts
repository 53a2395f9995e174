/**
 * Delivery of e-mails: those of an own document, and with an administration key all of them. No application receives
 * their texts: links and codes in them authorize signatures.
 *
 * Source: docs/decisions/0019-mails-and-webhooks.md; additional.
 */
import { z } from 'zod';
import { id, members, time } from '../fields.ts';
import type { Value } from '../operation.ts';
import { documentParams, idIn } from './ids.ts';
import { pageOf, paging, queryWord } from './lists.ts';
import { operation } from './operation.ts';
import { UNKNOWN_DOCUMENT } from './refusals.ts';

export const MAIL_STATUSES = ['Queued', 'Waiting', 'Sent', 'Failed'] as const;
export type MailStatus = (typeof MAIL_STATUSES)[number];

const failure = z.strictObject({
  code: z.string().meta({
    description: 'Error code, for programs. It is never renamed.',
    exampleValue: 'InvalidDocumentStatus',
  }),
  message: z.string().meta({
    description: 'What happened, for people. The text may change.',
    exampleValue: 'The document is already concluded.',
  }),
});

const mail = z
  .strictObject({
    id: z.string().meta({
      description: 'Identifier, unique within the instance.',
      exampleValue: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    }),
    organizationId: id.meta({ description: 'Organization whose document this is about.' }),
    about: z.string().meta({
      description: 'Kind of the e-mail: `pending`, `reminder`, `concluded`, `code` and so on.',
      exampleValue: 'pending',
    }),
    to: z.string().meta({ description: 'Address of the recipient.', exampleValue: 'ana@example.com' }),
    documentId: id.nullable().meta({ description: 'The document this is about.' }),
    status: z.enum(MAIL_STATUSES).meta({ description: 'Current state.' }),
    tries: z.int().meta({ description: 'Number of attempts to send the e-mail.', exampleValue: 1 }),
    creationDate: time.meta({ description: 'Time of the creation, UTC.' }),
    endDate: time
      .nullable()
      .meta({ description: 'Time at which the e-mail was sent or failed. Null: it is waiting.' }),
    nextTryDate: time.nullable().meta({ description: 'Time of the next attempt. Null: none is planned.' }),
    reply: z.string().nullable().meta({
      description: 'What the relay said when it took the mail.',
      exampleValue: '250 2.0.0 Ok: queued as 4VdL2k3Z',
    }),
    lastError: failure
      .nullable()
      .meta({ description: 'Error of the last attempt. Null: there was none, or the e-mail was sent.' }),
  })
  .meta({ id: 'Mail' });
/** Outcome of one e-mail to one person. Known for 30 days. */
export type Mail = Value<typeof mail>;

const mailDetail = mail
  .extend({
    failures: z
      .array(failure.extend({ date: time.meta({ description: 'Time of the event, UTC.' }) }))
      .meta({ description: 'Last failed attempts, oldest first.' }),
  })
  .meta({ id: 'MailDetail' });
export type MailDetail = Value<typeof mailDetail>;

const mailParams = z.object({ id: idIn('Id of the mail.') });

export const documentMails = operation({
  method: 'GET',
  path: '/api/documents/{id}/mails',
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

export const listMails = operation({
  method: 'GET',
  path: '/api/admin/mails',
  group: 'Administration',
  summary: 'Lists the e-mails of all organizations, newest first.',
  description: 'For keys of the role Administrator. Texts, links and codes are not returned.',
  scope: 'Read',
  auth: 'administrator',
  query: members({
    status: queryWord(MAIL_STATUSES).meta({ description: 'Only entries in this state. Absent: in any.' }),
    limit: paging.limit,
    offset: paging.offset,
  }),
  reply: pageOf(mail).meta({ id: 'MailPage' }),
  refusals: [],
});

export const getMail = operation({
  method: 'GET',
  path: '/api/admin/mails/{id}',
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

export const retryMail = operation({
  method: 'POST',
  path: '/api/admin/mails/{id}/retry',
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
