/** Sessions of the document editor in other applications (docs/decisions/0119-editor-in-other-applications.md). */

import type { Millis, UploadId } from '../../../machines/ids.ts';
import type { PageBranding } from '../../../machines/portal/branding.ts';
import type { Tenant } from './callers.ts';
import type { CreateDocuments, MadeDocument } from './documents.ts';
import type { DraftBody, DraftItem } from './drafts.ts';

export interface EditorSessionRequest {
  /** The draft to edit; undefined: a new one of the files. */
  readonly draftId: string | undefined;
  readonly draft: DraftBody;
  readonly returnUrl: string | null;
}

export interface EditorSessionLink {
  readonly draftId: string;
  /** A page that cannot be framed. */
  readonly url: string;
  /** A page for a frame. */
  readonly embedUrl: string;
  /** End of the time in which the link can be used. */
  readonly expiresAt: Millis;
}

/** Content of a link that the page needs before the session is opened. */
export interface EditorSessionPage {
  readonly id: string;
  readonly draftId: string;
  /** Origins that may frame the page; empty = any. */
  readonly embedOrigins: readonly string[];
  /** Look of the organization's pages; absent = ours. */
  readonly branding?: PageBranding | undefined;
}

export interface EditorSessionView {
  readonly draftId: string;
  readonly status: DraftItem['status'];
  readonly document: unknown;
  /** Paths of the draft's files, by upload id. */
  readonly locations: { readonly [uploadId: string]: string };
  readonly documents: readonly MadeDocument[];
  readonly returnUrl: string | null;
  readonly expiresAt: Millis;
}

/** The methods that take a tenant need one of `session`. */
export interface EditorSessions {
  /** Refusals: `DocumentDraftNotFound`, `UploadNotFound`, `LimitExceeded`, `InvalidDocumentStatus` for a sent draft. */
  create(tenant: Tenant, request: EditorSessionRequest): Promise<EditorSessionLink>;
  /** Reads a link without using it; undefined when the session is over, or the link is not one of ours. */
  page(ticket: string): Promise<EditorSessionPage | undefined>;
  /** Uses the link. Refusals: `InvalidTicket`. */
  open(ticket: string): Promise<{ readonly token: string; readonly view: EditorSessionView }>;
  /** The caller of a session's token; undefined = 401. */
  session(token: string): Promise<Tenant | undefined>;
  view(tenant: Tenant): Promise<EditorSessionView>;
  /**
   * Replaces what the editor edits of the draft's request, and keeps the rest. Refusals: those of drafts.
   * @param uploadIdsOf reads the ids of the files and attachments of a request
   */
  save(
    tenant: Tenant,
    draft: Pick<DraftBody, 'name' | 'document'>,
    uploadIdsOf: (document: unknown) => readonly string[],
  ): Promise<void>;
  /** Refusals: `LimitExceeded`. */
  checkUpload(tenant: Tenant): Promise<void>;
  /** Lets the session use an upload. Refusals: `LimitExceeded`. */
  uploaded(tenant: Tenant, id: UploadId): Promise<void>;
  /** As `DocumentDrafts.send`. */
  send(tenant: Tenant, read: (document: unknown) => CreateDocuments): Promise<readonly MadeDocument[]>;
  close(tenant: Tenant): Promise<void>;
}
