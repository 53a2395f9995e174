/**
 * `/api/mails`: the e-mails of the portal, for operators. Their texts contain links and codes that authorize
 * signatures, so only operators may read them and no cache stores them.
 *
 * Source: docs/configuration.md, `Portal:Smtp:*`. Not in docs/batch-values.md §0; additive.
 */

import { z } from 'zod';
import type { MailboxEntry, MailTextState, OperatorMails } from '../../actors/portal/api.ts';
import { MAIL_STATUSES, type Mail } from '../../contracts/portal/mails.ts';
import { isoTimeOrNull } from '../../contracts/times.ts';
import { PortalRefusal } from '../../machines/portal/portal-refusals.ts';
import { Refusal } from '../../machines/refusals.ts';
import { html } from '../../web/html.ts';
import { json, page, type ReplyHeaders } from '../core/reply.ts';
import { type AnyRoute, route } from '../core/router.ts';
import { AT, JOB_ID, OTHER_ID } from './description/example-values.ts';
import { type SharedAnswers, sharedVersion } from './inspection/shared-answers.ts';
import { mailQuery, noParams } from './queries.ts';
import { withQueryLimit } from './query-limits.ts';
import { isoTime, timestamp } from './shapes.ts';

const failure = { code: z.string(), message: z.string() };

const mailShape = z
  .strictObject({
    id: z.string(),
    organizationId: z.string(),
    about: z.string(),
    to: z.string(),
    documentId: z.string().nullable(),
    status: z.enum(MAIL_STATUSES),
    tries: z.int(),
    createdAt: timestamp,
    endedAt: timestamp.nullable(),
    nextTryAt: timestamp.nullable(),
    reply: z.string().nullable().describe('What was said when the mail was taken.'),
    lastError: z.strictObject(failure).nullable(),
    hasText: z.boolean().describe('Whether it was written to a folder, where it can be read.'),
    textRemoved: z.boolean().describe('Whether it was, and its days in the folder are over.'),
  })
  .meta({ id: 'Mail' });

const mailboxShape = mailShape
  .extend({ subject: z.string().nullable().describe('Null when no file holds the mail.') })
  .meta({ id: 'MailInMailbox' });

const mailListShape = z
  .strictObject({ items: z.array(mailboxShape), page: z.int(), pageSize: z.int(), totalCount: z.int() })
  .meta({ id: 'MailList' });

const mailDetailShape = mailShape
  .extend({ failures: z.array(z.strictObject({ at: timestamp, ...failure })) })
  .meta({ id: 'MailWithTries' });

/** The page loads nothing and runs nothing; mails have their styles in their elements. */
const MAIL_PAGE_HEADERS: ReplyHeaders = [
  [
    'Content-Security-Policy',
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  ],
];

const mailParams = z.object({ id: z.string() });

const limitedQuery = withQueryLimit('mail.not-found');

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

export function mailRoutes(mails: OperatorMails, shared: SharedAnswers): readonly AnyRoute[] {
  const body = async (mail: Mail) => mailBody(mail, await mails.textState(mail));
  const entry = async (mail: MailboxEntry) => ({ ...(await body(mail)), subject: mail.subject });
  const contentOf = async (id: string) => {
    const content = await existingMail(mails.content(id));
    if (content !== undefined) return content;
    const message = 'No file holds this e-mail. Files are removed after Portal:MailFolderKeepDays.';
    throw new Refusal('mail.text-unavailable', message);
  };
  return [
    route({
      ...limitedQuery,
      path: '/api/mails',
      group: 'System',
      summary: 'Lists the e-mails of the portal, newest first.',
      description:
        'Of all organizations, newest first. Kept for 30 days. Absent when the portal is not served. `pageSize` above 200 is lowered to 200.',
      params: noParams,
      query: mailQuery.extend({ version: sharedVersion }),
      responses: { 200: mailListShape },
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
      handle: ({ query: { status, search, page, pageSize, version } }) =>
        shared.answer(version, ['mails', { status, search }, page, pageSize], async () => {
          const wanted = { status, search, limit: pageSize, offset: page - 1 };
          const { items, totalCount } = await mails.mailbox(wanted);
          return { items: await Promise.all(items.map(entry)), page, pageSize, totalCount };
        }),
    }),
    route({
      ...limitedQuery,
      path: '/api/mails/{id}',
      group: 'System',
      summary: 'Tells what became of an e-mail, with its last tries.',
      description: 'With its last tries, oldest first.',
      params: mailParams,
      responses: { 200: mailDetailShape },
      examples: { responses: { 200: { ...MAIL, failures: [{ at: AT, ...MAIL.lastError }] } } },
      refusals: ['mail.not-found'],
      async handle({ params }) {
        const mail = await existingMail(mails.get(params.id));
        const failures = mail.failures.map(({ date, ...failure }) => ({ at: isoTime(date), ...failure }));
        return json(200, { ...(await body(mail)), failures });
      },
    }),
    route({
      ...limitedQuery,
      path: '/api/mails/{id}/text',
      group: 'System',
      summary: 'Shows an e-mail as it was written: its headers and its text.',
      description:
        'Only while mails are written to a folder, that is, without a relay. It contains links and codes that authorize signatures.',
      params: mailParams,
      responses: { 200: 'text' },
      refusals: ['mail.not-found', 'mail.text-unavailable'],
      async handle({ params }) {
        const { text } = await contentOf(params.id);
        // Not an asset, because browsers may store those.
        return { kind: 'json', status: 200, body: text, text, contentType: 'text/plain; charset=utf-8' };
      },
    }),
    route({
      ...limitedQuery,
      path: '/api/mails/{id}/html',
      group: 'System',
      summary: 'Shows an e-mail as its recipient sees it.',
      description:
        'The page as written, under a policy that loads nothing and runs nothing. Available for mails that were written to a folder, until `Portal:MailFolderKeepDays` have passed.',
      params: mailParams,
      responses: { 200: 'page' },
      refusals: ['mail.not-found', 'mail.text-unavailable'],
      async handle({ params }) {
        const { html: written, text } = await contentOf(params.id);
        return page(200, written ?? html`<!doctype html><pre>${text}</pre>`.text, MAIL_PAGE_HEADERS);
      },
    }),
    route({
      ...limitedQuery,
      method: 'POST',
      path: '/api/mails/{id}/resend',
      group: 'System',
      summary: 'Sends an e-mail that waits or failed now.',
      description:
        'Its tries begin anew. `mail.already-sent` for an e-mail that was taken by the relay or written to the folder. The history of the e-mail names the operator.',
      rate: 'actions',
      params: mailParams,
      responses: { 202: z.strictObject({ id: z.string() }) },
      examples: { responses: { 202: { id: OTHER_ID } } },
      refusals: ['mail.not-found', 'mail.already-sent'],
      async handle({ params: { id }, identity }) {
        await existingMail(mails.sendNow(id, identity?.operator ?? 'operator'));
        return json(202, { id });
      },
    }),
  ];
}

/** The portal has its own codes for an unknown id and for a mail that was sent. */
async function existingMail<Found>(found: Promise<Found>): Promise<Found> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof PortalRefusal && error.code === 'MailNotFound')
      throw new Refusal('mail.not-found', error.message);
    if (error instanceof PortalRefusal && error.code === 'MailAlreadySent')
      throw new Refusal('mail.already-sent', error.message);
    throw error;
  }
}

function mailBody(mail: Mail, text: MailTextState): z.infer<typeof mailShape> {
  return {
    id: mail.id,
    organizationId: mail.organizationId,
    about: mail.about,
    to: mail.to,
    documentId: mail.documentId,
    status: mail.status,
    tries: mail.tries,
    createdAt: isoTime(mail.creationDate),
    endedAt: isoTimeOrNull(mail.endDate),
    nextTryAt: isoTimeOrNull(mail.nextTryDate),
    reply: mail.reply,
    lastError: mail.lastError,
    hasText: text === 'kept',
    textRemoved: text === 'removed',
  };
}
