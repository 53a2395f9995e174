/** E-mails of the portal, for operators. */
import { z } from 'zod';
import { MAIL_STATUSES } from '../deliveries.ts';
import { shown, time } from '../fields.ts';
import { AT, JOB_ID, OTHER_ID } from './examples.ts';
import { operation } from './operation.ts';
import { oneOf, pageOf, paging, sharedVersion, single } from './requests.ts';

const failure = {
  code: shown(
    z.string(),
    'Error in one word, for programs. It is never renamed. Null: no error.',
    'job.not-found',
  ),
  message: shown(z.string(), 'What happened, for people. The text may change.', 'Verified and published.'),
};

const mail = z
  .strictObject({
    id: shown(z.string(), 'Identifier.', '0d9a7c3e-5b1f-4a6d-8c2e-1f3b5d7a9c0e'),
    organizationId: shown(
      z.string(),
      'Organization of the portal that sends the mail.',
      '0d9a7c3e-5b1f-4a6d-8c2e-1f3b5d7a9c0e',
    ),
    about: shown(z.string(), 'What the mail says: `pending`, `reminder`, `concluded` and so on.', 'pending'),
    to: shown(z.string(), 'Address of the recipient.', 'ana@example.com'),
    documentId: shown(
      z.string().nullable(),
      'Document that the mail is about. Null: none.',
      '0d9a7c3e-5b1f-4a6d-8c2e-1f3b5d7a9c0e',
    ),
    status: z.enum(MAIL_STATUSES).describe('State of it.'),
    tries: shown(z.int(), 'How often sending was tried.', 1),
    createdAt: time.describe('Time at which it was made, UTC.'),
    endedAt: time.nullable().describe('Time of the end. Null: not ended.'),
    nextTryAt: time.nullable().describe('Time of the next try. Null: none is planned.'),
    reply: shown(
      z.string().nullable(),
      'What was said when the mail was taken.',
      '250 2.0.0 Ok: queued as 4VdL2k3Z',
    ),
    lastError: z.strictObject(failure).nullable().describe('Last failure. Null: none.'),
    hasText: shown(z.boolean(), 'Whether it was written to a folder, where it can be read.', true),
    textRemoved: z.boolean().describe('Whether it was, and its days in the folder are over.'),
  })
  .meta({ id: 'Mail' });

const mailInMailbox = mail
  .extend({
    subject: shown(z.string().nullable(), 'Null when no file holds the mail.', 'Please sign: Contract'),
  })
  .meta({ id: 'MailInMailbox' });

const mailWithTries = mail
  .extend({
    failures: z
      .array(z.strictObject({ at: time.describe('Time of it, UTC.'), ...failure }))
      .describe('Last failed tries, oldest first.'),
  })
  .meta({ id: 'MailWithTries' });

export const resent = z
  .strictObject({
    id: shown(z.string(), 'Identifier.', '0d9a7c3e-5b1f-4a6d-8c2e-1f3b5d7a9c0e'),
  })
  .meta({ id: 'Resent' });

const mailParams = z.object({ id: shown(z.string(), 'Id of the mail.', OTHER_ID) });

const MAIL = {
  id: OTHER_ID,
  organizationId: JOB_ID,
  about: 'pending',
  to: 'ana@example.com',
  documentId: JOB_ID,
  status: 'Waiting',
  tries: 1,
  createdAt: AT,
  endedAt: null,
  nextTryAt: '2026-05-26T15:43:11.123Z',
  reply: null,
  lastError: { code: 'mail.folder', message: 'ENOSPC: no space left on device' },
  hasText: false,
  textRemoved: false,
};

export const listMails = operation({
  method: 'GET',
  unknown: 'mail.not-found',
  path: '/api/mails',
  group: 'System',
  summary: 'Lists the e-mails of the portal, newest first.',
  description:
    'Of all organizations, newest first. Kept for 30 days. Absent when the portal is not served. `pageSize` above 200 is lowered to 200.',
  query: z.object({
    status: oneOf(MAIL_STATUSES),
    search: shown(
      single.max(200).optional(),
      'Text in recipient, kind or subject, of the newest 500 e-mails.',
      'ana@example.org',
    ),
    ...paging,
    version: sharedVersion,
  }),
  reply: pageOf(mailInMailbox).meta({ id: 'MailList' }),
  examples: {
    responses: {
      200: {
        items: [{ ...MAIL, subject: 'Please sign: Contract' }],
        page: 1,
        pageSize: 50,
        totalCount: 1,
      },
    },
  },
  refusals: ['validation.filter-invalid'],
});

export const readMail = operation({
  method: 'GET',
  unknown: 'mail.not-found',
  path: '/api/mails/{id}',
  group: 'System',
  summary: 'Tells what became of an e-mail, with its last tries.',
  description: 'With its last tries, oldest first.',
  params: mailParams,
  reply: mailWithTries,
  examples: { responses: { 200: { ...MAIL, failures: [{ at: AT, ...MAIL.lastError }] } } },
  refusals: ['mail.not-found'],
});

export const readMailText = operation({
  method: 'GET',
  unknown: 'mail.not-found',
  path: '/api/mails/{id}/text',
  group: 'System',
  summary: 'Shows an e-mail as it was written: its headers and its text.',
  description:
    'Only while mails are written to a folder, that is, without a relay. It contains links and codes that authorize signatures.',
  params: mailParams,
  reply: 'text',
  refusals: ['mail.not-found', 'mail.text-unavailable'],
});

export const readMailPage = operation({
  method: 'GET',
  unknown: 'mail.not-found',
  path: '/api/mails/{id}/html',
  group: 'System',
  summary: 'Shows an e-mail as its recipient sees it.',
  description:
    'The page as written, under a policy that loads nothing and runs nothing. Available for mails that were written to a folder, until `Portal:MailFolderKeepDays` have passed.',
  params: mailParams,
  reply: 'page',
  refusals: ['mail.not-found', 'mail.text-unavailable'],
});

export const resendMail = operation({
  method: 'POST',
  unknown: 'mail.not-found',
  path: '/api/mails/{id}/resend',
  group: 'System',
  summary: 'Sends an e-mail that waits or failed now.',
  description:
    'Its tries begin anew. `mail.already-sent` for an e-mail that was taken by the relay or written to the folder. The history of the e-mail names the operator.',
  rate: 'actions',
  params: mailParams,
  status: 202,
  reply: resent,
  examples: { responses: { 202: { id: OTHER_ID } } },
  refusals: ['mail.not-found', 'mail.already-sent'],
});
