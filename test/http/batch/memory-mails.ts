/** A few mails in memory. */
import type { MailboxEntry, MailView, OperatorMails } from '../../../actors/portal/api.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';

export const MAIL_TEXT =
  'Subject: Hello\r\n\r\nOlá\r\nhttps://portal.example.test/document/key/sign?ticket=only-for-ana\r\n';

export const MAIL_HTML = '<!doctype html><title>Hello</title><p>Olá</p>';

/** Three mails, newest first; the text of the newest is available. */
export function memoryMails(keepsTexts = true): OperatorMails {
  const base = {
    organizationId: 'org' as MailView['organizationId'],
    about: 'pending',
    documentId: null,
    tries: 1,
    endedAt: null,
    reply: null,
    nextTryAt: null,
  };
  const lastError = { code: 'mail.folder', message: 'ENOSPC: no space left' };
  const all: readonly MailView[] = [
    { ...base, id: 'c', to: 'c@example.test', status: 'Sent', createdAt: 3, endedAt: 4, lastError: null },
    { ...base, id: 'b', to: 'b@example.test', status: 'Waiting', createdAt: 2, nextTryAt: 9, lastError },
    { ...base, id: 'a', to: 'a@example.test', status: 'Sent', createdAt: 1, lastError: null },
  ];
  const get: OperatorMails['get'] = async (id) => {
    const mail = all.find((one) => one.id === id);
    if (mail === undefined) throw new PortalRefusal('MailNotFound');
    return { ...mail, failures: mail.lastError === null ? [] : [{ at: 2, ...mail.lastError }] };
  };
  return {
    async textState({ id, status }) {
      if (!keepsTexts || status !== 'Sent') return 'none';
      return id === 'c' ? 'kept' : 'removed';
    },
    get,
    async sendNow(id) {
      if ((await get(id)).status === 'Sent') throw new PortalRefusal('MailAlreadySent');
    },
    async mailbox({ status, search = '', limit, offset }) {
      const found = all
        .map((mail): MailboxEntry => ({ ...mail, subject: mail.id === 'c' ? 'Hello' : null }))
        .filter((mail) => status === undefined || mail.status === status)
        .filter(({ to, subject }) => `${to} ${subject}`.includes(search));
      return { items: found.slice(offset * limit, (offset + 1) * limit), totalCount: found.length };
    },
    async content(id) {
      await get(id);
      return id === 'c' ? { subject: 'Hello', text: MAIL_TEXT, html: MAIL_HTML } : undefined;
    },
  };
}
