/** A few mails in memory. */

import type { MailboxEntry, OperatorMails } from '../../../actors/portal/api.ts';
import type { Mail } from '../../../contracts/portal/mails.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';

export const MAIL_TEXT =
  'Subject: Hello\r\n\r\nOlá\r\nhttps://portal.example.test/document/key/sign?ticket=only-for-ana\r\n';

export const MAIL_HTML = '<!doctype html><title>Hello</title><p>Olá</p>';

/** Three mails, newest first; the text of the newest is available. */
export function memoryMails(keepsTexts = true): OperatorMails {
  const base = {
    organizationId: 'org',
    about: 'pending',
    documentId: null,
    tries: 1,
    endDate: null,
    reply: null,
    nextTryDate: null,
  };
  const lastError = { code: 'mail.folder', message: 'ENOSPC: no space left' };
  const all: readonly Mail[] = [
    { ...base, id: 'c', to: 'c@example.test', status: 'Sent', creationDate: 3, endDate: 4, lastError: null },
    { ...base, id: 'b', to: 'b@example.test', status: 'Waiting', creationDate: 2, nextTryDate: 9, lastError },
    { ...base, id: 'a', to: 'a@example.test', status: 'Sent', creationDate: 1, lastError: null },
  ];
  const get: OperatorMails['get'] = async (id) => {
    const mail = all.find((one) => one.id === id);
    if (mail === undefined) throw new PortalRefusal('MailNotFound');
    return { ...mail, failures: mail.lastError === null ? [] : [{ date: 2, ...mail.lastError }] };
  };
  return {
    async textState({ id, status }) {
      if (!keepsTexts || status !== 'Sent') return 'none';
      return id === 'c' ? 'stored' : 'removed';
    },
    get,
    async sendNow(id) {
      if ((await get(id)).status === 'Sent') throw new PortalRefusal('MailAlreadySent');
    },
    sendFailedAgain: async (since) => ({ count: since > 0 ? 1 : 2, complete: true }),
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
