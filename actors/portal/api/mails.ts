/** Delivery status of e-mails, for operators. */
import type { Page } from '../../../contracts/portal/lists.ts';
import type { DocumentId, Millis, OrganizationId } from '../../../machines/ids.ts';
import type { Tenant } from './callers.ts';

/** Outcome of one e-mail to one person. Known for 30 days. */
export interface MailView {
  readonly id: string;
  readonly organizationId: OrganizationId;
  /** Kind of the mail: that of its notice, `pending-list` or `sign-in`. */
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

/** Outcome of a test mail. */
export interface TestMailResult {
  readonly isAccepted: boolean;
  /** Code of the failure; null = it was accepted. */
  readonly code: string | null;
  /** The relay's answer, or the error that prevented one. */
  readonly answer: string;
}

export interface PortalMails {
  /** Sends a test mail now. */
  sendTest(
    organization: OrganizationId,
    to: { readonly name: string; readonly email: string },
  ): Promise<TestMailResult>;
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
  /**
   * Sends a mail that waits or failed now. Refusals: `MailNotFound`, `MailAlreadySent`.
   * @param operator named in its history; absent for callers of the portal
   */
  sendNow(id: string, operator?: string): Promise<void>;
}

/** `none`: it was not written to a folder; `removed`: it was written, and its file was removed. */
export type MailTextState = 'none' | 'kept' | 'removed';

/** A mail in the development mailbox. */
export interface MailboxEntry extends MailView {
  /** Null when its file is not there: with a relay, before it is sent, and after its removal. */
  readonly subject: string | null;
}

/** Content of a mail in a folder. */
export interface MailContentView {
  readonly subject: string;
  /** Headers and plain text. */
  readonly text: string;
  /** The page of the same words; undefined in a mail without one. */
  readonly html: string | undefined;
}

/** For operators only: the mails hold links and codes that allow signing. */
export interface OperatorMails extends Pick<PortalMails, 'get' | 'sendNow'> {
  /**
   * Newest first. `search`: text in recipient, kind or subject; looks at the newest 500. `offset`: pages from 0.
   */
  mailbox(query: {
    readonly status?: MailView['status'] | undefined;
    readonly search?: string | undefined;
    readonly limit: number;
    readonly offset: number;
  }): Promise<Page<MailboxEntry>>;
  /** True if it can be read; always `none` with a relay. */
  textState(mail: MailView): Promise<MailTextState>;
  /** Content of the mail; undefined if it has none or it was removed. Refusals: `MailNotFound`. */
  content(id: string): Promise<MailContentView | undefined>;
}
