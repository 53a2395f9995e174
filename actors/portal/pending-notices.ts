/** One mail per address that lists what waits for it in an organization. Source: portal-gaps §11. */
import { askedUsers, isSigning } from '../../machines/document-flow.ts';
import { summaryOf } from '../../machines/document-news.ts';
import type { PendingList } from '../../machines/mail.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import type { ActorStore } from '../../runtime/index.ts';
import type { Tenant } from './api.ts';
import type { DocumentDirectory } from './document-directory.ts';
import { pendingOf } from './document-list.ts';
import { planEmail } from './document-plans.ts';
import type { Mails } from './mails.ts';

/** Addresses of one call, and documents of one mail; ours. */
const MOST_ADDRESSES = 500;
const MOST_LISTED = 100;

export interface PendingNoticesParts {
  readonly store: Pick<ActorStore, 'rows'>;
  readonly directory: DocumentDirectory;
  readonly mails: Pick<Mails, 'post'>;
}

export class PendingNotices {
  readonly #parts: PendingNoticesParts;

  constructor(parts: PendingNoticesParts) {
    this.#parts = parts;
  }

  /** Addresses that have nothing pending are skipped. Refusals: `LimitExceeded`, `InvalidFlowAction`. */
  async notify({ organization }: Tenant, emails: readonly string[]): Promise<void> {
    if (emails.length > MOST_ADDRESSES)
      throw new PortalRefusal('LimitExceeded', `One call names at most ${MOST_ADDRESSES} addresses.`);
    const addresses = new Map(emails.map(planEmail).map((email) => [email.toLowerCase(), email]));
    for (const email of addresses.values()) {
      const list = await this.#listFor(organization.id, email);
      if (list.documents.length > 0) await this.#parts.mails.post(organization.id, list);
    }
  }

  async #listFor(organization: Tenant['organization']['id'], email: string): Promise<PendingList> {
    const { store, directory } = this.#parts;
    const documents: PendingList['documents'][number][] = [];
    let name: string | null = null;
    for (const id of await pendingOf(store, organization, email, MOST_LISTED)) {
      const document = await directory.byId(id);
      if (document?.state !== 'Pending') continue;
      for (const action of document.context.actions) {
        if (action.status !== 'Pending') continue;
        const user = askedUsers(action).find((one) => one.email?.toLowerCase() === email.toLowerCase());
        if (user === undefined) continue;
        name ??= user.name;
        documents.push({
          document: summaryOf(document.context),
          flowActionId: action.id,
          userId: user.id,
          role: isSigning(action) ? 'sign' : 'approve',
        });
      }
    }
    return { about: 'pending-list', to: { name, email }, documents };
  }
}
