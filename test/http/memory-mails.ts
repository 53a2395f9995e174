/** A few mails to look at. */
import type { MailView, OperatorMails } from '../../actors/portal/api.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';

export const MAIL_TEXT =
  'Subject: Hello\r\n\r\nOlá\r\nhttps://portal.example.test/document/key/sign?ticket=only-for-ana\r\n';

/** Three mails, newest first; what the newest says is still there. */
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
    async newest({ status, limit, offset }) {
      const found = all.filter((mail) => status === undefined || mail.status === status);
      return { items: found.slice(offset * limit, (offset + 1) * limit), totalCount: found.length };
    },
    async text(id) {
      await get(id);
      return id === 'c' ? MAIL_TEXT : undefined;
    },
  };
}
