/**
 * `/api/mails`: the e-mails of the portal, for operators. What a mail says holds links and codes that let people sign, so
 * nobody else may have it, and nobody keeps it on the way.
 *
 * Source: running.md, `Portal:Smtp:*`: "shown on the operator pages". Not in the Batch Signing Service API; additive.
 */
import { z } from 'zod';
import type { MailTextState, MailView, OperatorMails } from '../../actors/portal/api.ts';
import { MAIL_STATES } from '../../machines/mail.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import { Refusal } from '../../machines/refusals.ts';
import { json } from '../reply.ts';
import { type AnyRoute, route } from '../router.ts';
import { looking } from './looking.ts';
import { mailQuery, noParams } from './queries.ts';
import { isoTime, timestamp } from './shapes.ts';

const failure = { code: z.string(), message: z.string() };

const mailShape = z
  .strictObject({
    id: z.string(),
    organizationId: z.string(),
    about: z.string(),
    to: z.string(),
    documentId: z.string().nullable(),
    status: z.enum(MAIL_STATES),
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

const mailListShape = z
  .strictObject({ items: z.array(mailShape), page: z.int(), pageSize: z.int(), totalCount: z.int() })
  .meta({ id: 'MailList' });

const mailDetailShape = mailShape
  .extend({ failures: z.array(z.strictObject({ at: timestamp, ...failure })) })
  .meta({ id: 'MailWithTries' });

const mailParams = z.object({ id: z.string() });

const LOOK = looking('mail.not-found');

export function mailRoutes(mails: OperatorMails): readonly AnyRoute[] {
  const body = async (mail: MailView) => mailBody(mail, await mails.textState(mail));
  return [
    route({
      ...LOOK,
      path: '/api/mails',
      summary: 'Lists the e-mails of the portal, newest first.',
      params: noParams,
      query: mailQuery,
      responses: { 200: mailListShape },
      refusals: ['validation.filter-invalid'],
      async handle({ query: { status, page, pageSize } }) {
        const { items, totalCount } = await mails.newest({ status, limit: pageSize, offset: page - 1 });
        return json(200, { items: await Promise.all(items.map(body)), page, pageSize, totalCount });
      },
    }),
    route({
      ...LOOK,
      path: '/api/mails/{id}',
      summary: 'Tells what became of an e-mail, with its last tries.',
      params: mailParams,
      responses: { 200: mailDetailShape },
      refusals: ['mail.not-found'],
      async handle({ params }) {
        const mail = await known(mails.get(params.id));
        const failures = mail.failures.map(({ at, code, message }) => ({ at: isoTime(at), code, message }));
        return json(200, { ...(await body(mail)), failures });
      },
    }),
    route({
      ...LOOK,
      path: '/api/mails/{id}/text',
      summary: 'Shows an e-mail as it was written: its headers and its text.',
      params: mailParams,
      responses: { 200: 'text' },
      refusals: ['mail.not-found', 'mail.text-unavailable'],
      async handle({ params }) {
        const text = await known(mails.text(params.id));
        if (text === undefined) {
          const message = 'No file holds this e-mail. Files are removed after Portal:MailFolderKeepDays.';
          throw new Refusal('mail.text-unavailable', message);
        }
        // No asset: browsers may keep those.
        return { kind: 'json', status: 200, body: text, text, contentType: 'text/plain; charset=utf-8' };
      },
    }),
  ];
}

/** The portal has a code of its own for an id that it does not know. */
async function known<Found>(found: Promise<Found>): Promise<Found> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof PortalRefusal && error.code === 'MailNotFound')
      throw new Refusal('mail.not-found', error.message);
    throw error;
  }
}

function mailBody(mail: MailView, text: MailTextState): z.infer<typeof mailShape> {
  return {
    id: mail.id,
    organizationId: mail.organizationId,
    about: mail.about,
    to: mail.to,
    documentId: mail.documentId,
    status: mail.status,
    tries: mail.tries,
    createdAt: isoTime(mail.createdAt),
    endedAt: mail.endedAt === null ? null : isoTime(mail.endedAt),
    nextTryAt: mail.nextTryAt === null ? null : isoTime(mail.nextTryAt),
    reply: mail.reply,
    lastError: mail.lastError,
    hasText: text === 'kept',
    textRemoved: text === 'removed',
  };
}
