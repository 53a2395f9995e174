/** One mail per address that lists what waits for it in an organization. Source: docs/portal-values.md §11. */
import type { ActorStore } from '@sealwright/runtime';
import type { Language } from '../../../contracts/portal/words.ts';
import { isSigning, requestedUsers } from '../../../machines/portal/documents/document-flow.ts';
import { recipientOf, summaryOf } from '../../../machines/portal/documents/document-notifications.ts';
import type { PendingList } from '../../../machines/portal/mail.ts';
import type { Tenant } from '../api/callers.ts';
import { pendingOf } from '../document-records/document-list.ts';
import type { DocumentDirectory } from '../document-records/document-reader.ts';
import type { Mails } from '../mails/mails.ts';
import { reachesFolder } from '../shared/folder-access.ts';
import { addressKey } from '../shared/mail-address.ts';
import { planEmail } from './document-plans.ts';

/** Documents of one mail; ours. */
const MAX_LISTED = 100;

export class PendingReminders {
  constructor(
    private readonly store: Pick<ActorStore, 'rows'>,
    private readonly directory: DocumentDirectory,
    private readonly mails: Pick<Mails, 'create'>,
  ) {}

  /** Addresses that have nothing pending are skipped; resolves with the number of others. Refusals: `InvalidFlowAction`. */
  async notify(tenant: Tenant, emails: readonly string[]): Promise<number> {
    const addresses = new Map(emails.map(planEmail).map((email) => [addressKey(email), email]));
    let notified = 0;
    for (const email of addresses.values()) {
      const list = await this.#listFor(tenant, email);
      if (list.documents.length === 0) continue;
      await this.mails.create(tenant.organization.id, list);
      notified += 1;
    }
    return notified;
  }

  async #listFor(tenant: Tenant, email: string): Promise<PendingList> {
    const { store, directory } = this;
    const { id: organization } = tenant.organization;
    const documents: PendingList['documents'][number][] = [];
    let name: string | null = null;
    let language: Language | undefined;
    for (const id of await pendingOf(store, organization, email, MAX_LISTED)) {
      const document = await directory.byId(id);
      if (document?.state !== 'Pending' || !reachesFolder(tenant, document.context.folderId)) continue;
      for (const action of document.context.actions) {
        if (action.status !== 'Pending') continue;
        const user = requestedUsers(action).find(
          (one) => one.email !== null && addressKey(one.email) === addressKey(email),
        );
        if (user === undefined) continue;
        name ??= user.name;
        language ??= user.language;
        documents.push({
          document: summaryOf(document.context),
          flowActionId: action.id,
          userId: user.id,
          role: isSigning(action) ? 'sign' : 'approve',
        });
      }
    }
    return {
      about: 'pending-list',
      to: recipientOf({ name, language, email }),
      documents,
    };
  }
}
