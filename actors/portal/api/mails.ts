/** What became of each e-mail. No client of such portals asks for it; operators do. */
import type { DocumentId, Millis, OrganizationId } from '../../../machines/ids.ts';
import type { Tenant } from './callers.ts';
import type { Page } from './documents.ts';

/** What became of one e-mail to one person. Known for 30 days. */
export interface MailView {
  readonly id: string;
  readonly organizationId: OrganizationId;
  /** What it is about: that of its notice, or `pending-list`. */
  readonly about: string;
  readonly to: string;
  readonly documentId: DocumentId | null;
  readonly status: 'Queued' | 'Waiting' | 'Sent' | 'Failed';
  readonly tries: number;
  readonly createdAt: Millis;
  readonly endedAt: Millis | null;
  /** The relay's answer when it took the mail. */
  readonly reply: string | null;
  readonly lastError: { readonly code: string; readonly message: string } | null;
  readonly nextTryAt: Millis | null;
}

export interface PortalMails {
  /** Oldest first; empty for documents of other organizations. */
  ofDocument(tenant: Tenant, id: DocumentId): Promise<readonly MailView[]>;
  /** Of all organizations, newest first, for operators. `offset`: pages from 0. */
  newest(query: {
    readonly status?: MailView['status'] | undefined;
    readonly limit: number;
    readonly offset: number;
  }): Promise<Page<MailView>>;
  /** With its last tries, oldest first. Texts, links and codes are not kept. Refusals: `MailNotFound`. */
  get(id: string): Promise<
    MailView & {
      readonly failures: readonly { readonly at: Millis; readonly code: string; readonly message: string }[];
    }
  >;
  /** Sends a mail that waits or failed now. Refusals: `MailNotFound`, `MailAlreadySent`. */
  sendNow(id: string): Promise<void>;
}

/** `none`: it was not written to a folder; `removed`: it was, and is there no more. */
export type MailTextState = 'none' | 'kept' | 'removed';

/** For those who operate the program, and no application: what they read holds links and codes that let people sign. */
export interface OperatorMails extends Pick<PortalMails, 'newest' | 'get'> {
  /** Whether it can be read; always `none` with a relay. */
  textState(mail: MailView): Promise<MailTextState>;
  /** Headers and text as they were written; undefined when it is not there, or not any more. Refusals: `MailNotFound`. */
  text(id: string): Promise<string | undefined>;
}
