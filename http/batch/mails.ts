/**
 * `/api/mails`: the e-mails of the portal, for operators. Their texts contain links and codes that authorize
 * signatures, so only operators may read them and no cache stores them.
 *
 * Source: docs/configuration.md, `Portal:Smtp:*`. Not in docs/batch-values.md §0; additive.
 */
import type { OperatorMails } from '../../actors/portal/api.ts';
import {
  listMails,
  readMail,
  readMailPage,
  readMailText,
  resendFailedMails,
  resendMail,
} from '../../contracts/batch/mails.ts';
import type { Mail } from '../../contracts/portal/mails.ts';
import { html } from '../../contracts/texts/html.ts';
import { PortalRefusal } from '../../machines/portal/portal-refusals.ts';
import { Refusal } from '../../machines/refusals.ts';
import { page, type ReplyHeaders } from '../core/reply.ts';
import type { AnyRoute } from '../core/router.ts';
import { handle } from './handle.ts';
import { operatorOf } from './operator.ts';
import type { SharedAnswers } from './shared-answers.ts';

/** The page loads nothing and runs nothing; mails have their styles in their elements. */
const MAIL_PAGE_HEADERS: ReplyHeaders = [
  [
    'Content-Security-Policy',
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  ],
];

export function mailRoutes(mails: OperatorMails, shared: SharedAnswers): readonly AnyRoute[] {
  const shown = async <Given extends Mail>(mail: Given) => {
    const text = await mails.textState(mail);
    const { creationDate: createdAt, endDate: endedAt, nextTryDate: nextTryAt, ...more } = mail;
    return {
      ...more,
      createdAt,
      endedAt,
      nextTryAt,
      hasText: text === 'stored',
      textRemoved: text === 'removed',
    };
  };
  const contentOf = async (id: string) => {
    const content = await existingMail(mails.content(id));
    if (content !== undefined) return content;
    const message = 'No file holds this e-mail. Files are removed after 30 days.';
    throw new Refusal('mail.text-unavailable', message);
  };
  return [
    handle(
      listMails,
      async ({ query: { status, search, page, pageSize } }) => {
        const wanted = { status, search, limit: pageSize, offset: page - 1 };
        const { items, totalCount } = await mails.mailbox(wanted);
        return { items: await Promise.all(items.map(shown)), page, pageSize, totalCount };
      },
      { shared },
    ),
    handle(readMail, async ({ params }) => {
      const mail = await existingMail(mails.get(params.id));
      const failures = mail.failures.map(({ date, ...failure }) => ({ at: date, ...failure }));
      return { ...(await shown(mail)), failures };
    }),
    handle(readMailText, async ({ params }) => {
      const { text } = await contentOf(params.id);
      // Not an asset, because browsers may store those.
      return { kind: 'json', status: 200, body: text, text, contentType: 'text/plain; charset=utf-8' };
    }),
    handle(readMailPage, async ({ params }) => {
      const { html: written, text } = await contentOf(params.id);
      return page(200, written ?? html`<!doctype html><pre>${text}</pre>`.text, MAIL_PAGE_HEADERS);
    }),
    handle(resendMail, async ({ params: { id }, identity }) => {
      await existingMail(mails.sendNow(id, operatorOf(identity)));
      return { id };
    }),
    handle(resendFailedMails, ({ body: { since }, identity }) =>
      mails.sendFailedAgain(since ?? 0, operatorOf(identity)),
    ),
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
