/** Drafts: requests for documents that are kept, changed and sent later. Source: docs/decisions/0122-drafts.md. */

import type { Principal } from '../../../contracts/portal/entities.ts';
import type { Page, RecordQuery } from '../../../contracts/portal/lists.ts';
import type { Millis } from '../../../machines/ids.ts';
import type { Tenant } from './callers.ts';
import type { CreateDocuments, MadeDocument } from './documents.ts';

export const DRAFT_STATUSES = ['Saved', 'Sending', 'Sent'] as const;

export interface DraftItem {
  readonly id: string;
  readonly name: string;
  /** `Sending`: a call that sends it has not ended, or was cut off; it can be sent again. */
  readonly status: (typeof DRAFT_STATUSES)[number];
  readonly creationDate: Millis;
  readonly updateDate: Millis;
  readonly createdBy: Principal;
}

export interface DraftBody {
  readonly name: string;
  /** The creation request as it was sent. */
  readonly document: unknown;
  /** Ids of the uploads in it. */
  readonly uploadIds: readonly string[];
}

export interface DraftView extends DraftItem {
  readonly document: unknown;
  /** Empty until it is sent. */
  readonly documents: readonly MadeDocument[];
}

export interface DocumentDrafts {
  /** Drafts that are not sent. */
  list(tenant: Tenant, query: RecordQuery): Promise<Page<DraftItem>>;
  create(
    tenant: Tenant,
    body: DraftBody,
    options?: {
      /** True: a draft of a link to the editor, removed after 24 hours if nobody saves it. @default false */
      readonly isOfLink?: boolean;
      /** As in `DocumentService.create`. */
      readonly seed?: string | undefined;
    },
  ): Promise<DraftItem>;
  /** Keeps a draft of a link to the editor as if it was saved. */
  keep(tenant: Tenant, id: string): Promise<void>;
  get(tenant: Tenant, id: string): Promise<DraftView>;
  replace(tenant: Tenant, id: string, body: DraftBody): Promise<void>;
  remove(tenant: Tenant, id: string): Promise<void>;
  /** Paths with a ticket from which the files of a draft can be read, by upload id. */
  locations(tenant: Tenant, id: string): Promise<{ readonly [uploadId: string]: string }>;
  /**
   * Creates the documents; a repeated call answers the same. Refusals: those of creation; the draft is kept.
   * @param read reads the kept request
   */
  send(
    tenant: Tenant,
    id: string,
    read: (document: unknown) => CreateDocuments,
  ): Promise<readonly MadeDocument[]>;
}
