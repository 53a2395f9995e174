/** Delivery of e-mails. */
import type { DocumentService, Mails, PendingReminders } from '../../../actors/portal/api.ts';
import {
  documentMails,
  getMail,
  listMails,
  type Mail,
  retryFailedMails,
  retryMail,
} from '../../../contracts/portal/mails.ts';
import { notifyPending, remindParticipant, scheduleReminders } from '../../../contracts/portal/reminders.ts';
import type { EmptyReply } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { handle } from '../handle.ts';
import { documentId, flowActionId } from '../input/ids.ts';
import { pageReply } from '../input/query-fields.ts';
import { DONE } from '../route.ts';

/** Reminders by e-mail. */
export function notificationRoutes(
  documents: DocumentService,
  pending: PendingReminders,
): readonly AnyRoute[] {
  return [
    handle(remindParticipant, async ({ tenant, body }) => {
      const { documentId: document, flowActionId: action } = body;
      return notified(await documents.remind(tenant, documentId(document), flowActionId(action)));
    }),
    handle(scheduleReminders, ({ tenant, params, body }) =>
      documents.setReminders(tenant, documentId(params.id), body),
    ),
    handle(notifyPending, async ({ tenant, body }) => notified(await pending.notify(tenant, body.emails))),
  ];
}

function notified(count: number): EmptyReply {
  return { ...DONE, headers: [['X-Notified-Count', String(count)]] };
}

export function mailRoutes(mails: Mails, documents: Pick<DocumentService, 'get'>): readonly AnyRoute[] {
  return [
    handle(documentMails, async ({ tenant, params }) => {
      const document = await documents.get(tenant, documentId(params.id));
      return (await mails.ofDocument(tenant, document.id)).map(forApplications);
    }),
    handle(listMails, async ({ query }) => pageReply(await mails.newest(query))),
    handle(getMail, ({ params }) => mails.get(params.id)),
    handle(retryMail, ({ params }) => mails.sendNow(params.id)),
    handle(retryFailedMails, ({ body }) => mails.sendFailedAgain(body.since ?? 0)),
  ];
}

/** Failures of the server, not of a mailbox: their messages contain addresses and paths of the operator. */
const OURS: ReadonlySet<string> = new Set([
  'mail.unreachable',
  'mail.timeout',
  'mail.folder',
  'mail.relay-refused',
]);

function forApplications(mail: Mail): Mail {
  if (mail.lastError === null || !OURS.has(mail.lastError.code)) return mail;
  const message = 'The e-mail could not be handed over. The operator of this service can see why.';
  return { ...mail, lastError: { code: mail.lastError.code, message } };
}
