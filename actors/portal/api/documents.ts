/** Requests about documents beyond what clients send (docs/portal-values.md §5). */

import type { NewField } from '../../../contracts/portal/flow.ts';
import type { CreatedDocument, NewDocuments } from '../../../contracts/portal/new-documents.ts';
import type { DocumentId } from '../../../machines/ids.ts';

export interface CreateDocuments extends NewDocuments {
  /** Values of the sender, by name, for fields that only tags name; with `textTags`. */
  readonly tagValues?: Readonly<Record<string, NewField['value']>>;
}

/** A document that a request made. */
export interface DocumentOfRequest extends CreatedDocument {
  readonly documentId: DocumentId;
}
