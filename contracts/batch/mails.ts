/** E-mails of the portal, for operators. */
import { z } from 'zod';
import { MAIL_STATUSES } from '../deliveries.ts';
import { entity, shown, time } from '../fields.ts';
import { AT, JOB_ID, OTHER_ID } from './examples.ts';
import { operationsOf } from './operation.ts';
import { moment, oneOf, pageOf, paging, sharedVersion, single } from './requests.ts';

const failure = {
  code: shown(
    z.string(),
    'Error in one word, for programs. It is never renamed. Null: no error.',
    'job.not-found',
  ),
  message: shown(z.string(), 'What happened, for people. The text may change.', 'Verified and published.'),
};

const mail = entity('Mail', {
  id: shown(z.string(), 'Identifier.', JOB_ID),
  organizationId: shown(z.string(), 'Organization of the portal that sends the mail.', JOB_ID),
  about: shown(z.string(), 'What the mail says: `pending`, `reminder`, `concluded` and so on.', 'pending'),
  to: shown(z.string(), 'Address of the recipient.', 'ana@example.com'),
  documentId: shown(z.string().nullable(), 'Document that the mail is about. Null: none.', JOB_ID),
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
});

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

export const resent = entity('Resent', {
  id: shown(z.string(), 'Identifier.', JOB_ID),
});

const mailParams = z.object({ id: shown(z.string().toLowerCase(), 'Id of the mail.', OTHER_ID) });

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

const operation = operationsOf({ group: 'System', unknown: 'mail.not-found' });

export const listMails = operation('GET /api/mails', {
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
    reply: {
      items: [{ ...MAIL, subject: 'Please sign: Contract' }],
      page: 1,
      pageSize: 50,
      totalCount: 1,
    },
  },
  refusals: ['validation.filter-invalid'],
});

export const readMail = operation('GET /api/mails/{id}', {
  summary: 'Tells what became of an e-mail, with its last tries.',
  description: 'With its last tries, oldest first.',
  params: mailParams,
  reply: mailWithTries,
  examples: { reply: { ...MAIL, failures: [{ at: AT, ...MAIL.lastError }] } },
  refusals: ['mail.not-found'],
});

export const readMailText = operation('GET /api/mails/{id}/text', {
  summary: 'Shows an e-mail as it was written: its headers and its text.',
  description:
    'Only while mails are written to a folder, that is, without a relay. It contains links and codes that authorize signatures.',
  params: mailParams,
  reply: 'text',
  refusals: ['mail.not-found', 'mail.text-unavailable'],
});

export const readMailPage = operation('GET /api/mails/{id}/html', {
  summary: 'Shows an e-mail as its recipient sees it.',
  description:
    'The page as written, under a policy that loads nothing and runs nothing. Available for mails that were written to a folder, for 30 days.',
  params: mailParams,
  reply: 'page',
  refusals: ['mail.not-found', 'mail.text-unavailable'],
});

export const resendMail = operation('POST /api/mails/{id}/resend', {
  summary: 'Sends an e-mail that waits or failed now.',
  description:
    'Its tries begin anew. `mail.already-sent` for an e-mail that was taken by the relay or written to the folder. The history of the e-mail names the operator.',
  rate: 'actions',
  params: mailParams,
  status: 202,
  reply: resent,
  examples: { reply: { id: OTHER_ID } },
  refusals: ['mail.not-found', 'mail.already-sent'],
});

export const resendFailedMails = operation('POST /api/mails/resend', {
  summary: 'Sends all e-mails again that failed since a time.',
  description:
    'Those that failed at `since` or later; left out: all that are kept. Codes and links to sign in are not sent again. At most 10,000 in one request, oldest first; `complete` is false when there are more, and the next request goes on with those that are left.',
  rate: 'actions',
  body: entity('MailsResendRequest', {
    since: shown(moment.nullish(), 'First failure, included, ISO 8601. Absent: all.', '2026-05-26T00:00:00Z'),
  }),
  status: 202,
  reply: entity('MailsResent', {
    count: shown(z.int().min(0), 'E-mails that are sent again.', 12),
    complete: shown(z.boolean(), 'False: there are more. Ask again.', true),
  }),
  examples: { request: { since: '2026-05-26T00:00:00Z' }, reply: { count: 12, complete: true } },
  refusals: ['validation.body-invalid', 'service.busy'],
});
