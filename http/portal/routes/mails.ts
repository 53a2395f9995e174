/**
 * Delivery of e-mails: those of an own document, and with an administration key all of them. No application receives
 * their texts: links and codes in them authorize signatures.
 *
 * Source: docs/decisions/0019-mails-and-webhooks.md; additional.
 */

import { z } from 'zod';
import type { MailView, PortalDocuments, PortalMails } from '../../../actors/portal/api.ts';
import { id, members } from '../../../contracts/fields.ts';
import { pageOf, paging, queryWord } from '../../../contracts/portal/lists.ts';
import { UNKNOWN_DOCUMENT } from '../../../contracts/portal/refusals.ts';
import { isoTime, isoTimeOrNull } from '../../../contracts/times.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { MAIL_STATUSES } from '../input/enumerations.ts';
import { documentId, idParams } from '../input/ids.ts';
import { DONE, portalRoute } from '../route.ts';
import { pageBody, timestamp } from '../shapes/shared-shapes.ts';

const failureShape = z.strictObject({ code: z.string(), message: z.string() });

const mailShape = z
  .strictObject({
    id: z.string(),
    organizationId: id,
    about: z.string(),
    to: z.string(),
    documentId: id.nullable(),
    status: z.enum(MAIL_STATUSES),
    tries: z.int(),
    creationDate: timestamp,
    endDate: timestamp.nullable(),
    nextTryDate: timestamp.nullable(),
    reply: z.string().nullable().describe('What the relay said when it took the mail.'),
    lastError: failureShape.nullable(),
  })
  .meta({ id: 'Mail' });

const mailDetailShape = mailShape
  .extend({ failures: z.array(failureShape.extend({ date: timestamp })) })
  .meta({ id: 'MailDetail' });

export function mailRoutes(mails: PortalMails, documents: Pick<PortalDocuments, 'get'>): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'GET',
      path: '/api/documents/{id}/mails',
      group: 'Documents',
      summary: 'Lists the e-mails about a document with their delivery status, oldest first.',
      description:
        'Contains the recipient, the kind, the number of attempts and the reply of the mail server. Texts, links and codes are not returned. E-mails are kept for 30 days after they were sent or failed.',
      scope: 'Read',
      folderKeys: true,
      params: idParams,
      responses: { 200: z.array(mailShape) },
      refusals: UNKNOWN_DOCUMENT,
      async handle({ tenant, params }) {
        const document = await documents.get(tenant, documentId(params.id));
        return json(200, (await mails.ofDocument(tenant, document.id)).map(applicationsBody));
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/admin/mails',
      group: 'Administration',
      summary: 'Lists the e-mails of all organizations, newest first.',
      description: 'For keys of the role Administrator. Texts, links and codes are not returned.',
      scope: 'Read',
      auth: 'administrator',
      query: members({
        status: queryWord(MAIL_STATUSES),
        limit: paging.limit,
        offset: paging.offset,
      }),
      responses: { 200: pageOf(mailShape) },
      refusals: [],
      async handle({ query: { status, limit, offset } }) {
        return json(200, pageBody(await mails.newest({ status, limit, offset }), mailBody));
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/admin/mails/{id}',
      group: 'Administration',
      summary: 'Returns an e-mail with its delivery status and its last failed attempts.',
      description:
        'For keys of the role Administrator. A failed attempt has the reply of the mail server, or the error of the connection. `MailNotFound`: the id is unknown, or the e-mail is no longer kept.',
      scope: 'Read',
      auth: 'administrator',
      params: idParams,
      responses: { 200: mailDetailShape },
      refusals: ['MailNotFound'],
      async handle({ params }) {
        const mail = await mails.get(params.id);
        const failures = mail.failures.map(({ at, code, message }) => ({ date: isoTime(at), code, message }));
        return json(200, { ...mailBody(mail), failures });
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/admin/mails/{id}/retry',
      group: 'Administration',
      summary: 'Sends an e-mail now that waits for its next attempt, or failed.',
      description:
        'For keys of the role Administrator. A failed e-mail is queued again. `MailAlreadySent`: the mail server has accepted it.',
      scope: 'Administer',
      auth: 'administrator',
      params: idParams,
      responses: { 200: 'empty' },
      refusals: ['MailNotFound', 'MailAlreadySent'],
      async handle({ params }) {
        await mails.sendNow(params.id);
        return DONE;
      },
    }),
  ];
}

/** Failures of the server, not of a mailbox: their messages contain addresses and paths of the operator. */
const OURS: ReadonlySet<string> = new Set(['mail.unreachable', 'mail.timeout', 'mail.folder']);

function applicationsBody(mail: MailView): z.infer<typeof mailShape> {
  const body = mailBody(mail);
  if (body.lastError === null || !OURS.has(body.lastError.code)) return body;
  const message = 'The e-mail could not be handed over. The operator of this service can see why.';
  return { ...body, lastError: { code: body.lastError.code, message } };
}

function mailBody(mail: MailView): z.infer<typeof mailShape> {
  return {
    id: mail.id,
    organizationId: mail.organizationId,
    about: mail.about,
    to: mail.to,
    documentId: mail.documentId,
    status: mail.status,
    tries: mail.tries,
    creationDate: isoTime(mail.createdAt),
    endDate: isoTimeOrNull(mail.endedAt),
    nextTryDate: isoTimeOrNull(mail.nextTryAt),
    reply: mail.reply,
    lastError: mail.lastError,
  };
}
