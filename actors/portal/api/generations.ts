/** Many documents made of a template and a table (docs/portal-values.md §20). */
import type { NewFile } from '../../../contracts/portal/flow.ts';
import type { Page } from '../../../contracts/portal/lists.ts';
import type { DocumentTemplate } from '../../../machines/portal/portal-types.ts';
import type { Tenant } from './callers.ts';
import type { CreateDocuments } from './documents.ts';

/** §20. Texts may hold `{{column}}`, which is replaced by the cell of the row. */
export interface GenerateDocuments
  extends Pick<
    CreateDocuments,
    'flowActions' | 'observers' | 'folderId' | 'newFolderName' | 'type' | 'expirationDate' | 'notifiedEmails'
  > {
  /** A table: CSV or JSON. */
  readonly dataFile: Omit<NewFile, 'displayName'>;
  /** A text; plain text becomes a PDF. */
  readonly templateFile: Omit<NewFile, 'displayName'>;
}
export interface GenerationView {
  readonly id: string;
  readonly status:
    | 'Pending'
    | 'Init'
    | 'WaitingSignatures'
    | 'Completed'
    | 'Error'
    | 'Canceling'
    | 'Canceled';
  readonly type: string | null;
  /** The application that requested it. */
  readonly agentId: string;
  readonly folderId: string | null;
  readonly refusedRows: number;
  /** Null = a text. */
  readonly template: DocumentTemplate | null;
  /** Documents there are to be, are made, and are concluded. */
  readonly total: number;
  readonly initialized: number;
  readonly completed: number;
  readonly error: { readonly code: string; readonly message: string } | null;
}
/** Result of a row. */
export interface GenerationRow {
  /** From 1. */
  readonly row: number;
  readonly status: 'Pending' | 'Made' | 'Refused';
  readonly documentIds: readonly string[];
  /** Of a refused row. */
  readonly error: { readonly code: string; readonly message: string } | null;
}
export interface PortalGenerations {
  /** Every row is checked before it resolves; the documents come later. @param seed as of `DocumentService.create` */
  create(tenant: Tenant, request: GenerateDocuments, seed?: string): Promise<GenerationView>;
  /** Refusals: `DocumentGenerationNotFound`. */
  get(tenant: Tenant, id: string): Promise<GenerationView>;
  /** Refusals: `DocumentGenerationNotFound`. */
  rows(
    tenant: Tenant,
    id: string,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<Page<GenerationRow>>;
  /** The documents that exist stay. Refusals: `DocumentGenerationNotFound`, `DocumentOperationEnded`. */
  cancel(tenant: Tenant, id: string): Promise<GenerationView>;
}
