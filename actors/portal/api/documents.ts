/** Requests about documents beyond what clients send (docs/portal-values.md §§5 and 12). */

import type { NewField } from '../../../contracts/portal/flow.ts';
import type { ListPosition } from '../../../contracts/portal/lists.ts';
import type { CreatedDocument, NewDocuments } from '../../../contracts/portal/new-documents.ts';
import type { LIST_STATUSES, PARTICIPANT_QUERY_TYPES, QUERY_TYPES } from '../../../contracts/portal/words.ts';
import type { DocumentId, Millis } from '../../../machines/ids.ts';

export interface CreateDocuments extends NewDocuments {
  /** Values of the sender, by name, for fields that only tags name; with `textTags`. */
  readonly tagValues?: Readonly<Record<string, NewField['value']>>;
}

/** A document that a request made. */
export interface MadeDocument extends CreatedDocument {
  readonly documentId: DocumentId;
}

/** §12; a missing member is no restriction. */
export interface DocumentQuery {
  readonly status?: (typeof LIST_STATUSES)[number] | undefined;
  readonly folderId?: string | undefined;
  readonly withoutFolder?: boolean | undefined;
  /** Folders of a key that is restricted to them; absent = all documents. */
  readonly folders?: readonly string[] | undefined;
  readonly q?: string | undefined;
  readonly queryType?: (typeof QUERY_TYPES)[number] | undefined;
  readonly participantQ?: string | undefined;
  readonly participantQueryType?: (typeof PARTICIPANT_QUERY_TYPES)[number] | undefined;
  readonly pendingSignature?: boolean | undefined;
  readonly filterByDocumentType?: boolean | undefined;
  readonly documentType?: string | undefined;
  readonly tags?: readonly { readonly label: string | null; readonly value: string }[] | undefined;
  readonly deleted?: boolean | undefined;
  /** The whole id, compared exactly. */
  readonly externalId?: string | undefined;
  /** Creation, inclusive. */
  readonly createdFrom?: Millis | undefined;
  /** Creation, inclusive. */
  readonly createdTo?: Millis | undefined;
  /** A page by position instead of number; `offset` is not used. @default pages by number */
  readonly position?: 'start' | ListPosition | undefined;
  /** 1 to 100. */
  readonly limit: number;
  /** Pages from 0. */
  readonly offset: number;
  readonly newestFirst: boolean;
}

/** Selects documents; pages and order do not apply. */
export type DocumentFilter = Omit<DocumentQuery, 'limit' | 'offset' | 'newestFirst' | 'position'>;
