/** Operations on every document that a filter finds (docs/decisions/0127-operations-on-documents.md). */
import type { Page } from '../../../contracts/portal/lists.ts';
import type { Millis } from '../../../machines/ids.ts';
import type { DocumentAction, DocumentOperationState } from '../../../machines/portal/document-operation.ts';
import type { Tenant } from './callers.ts';
import type { DocumentFilter } from './documents.ts';

export interface DocumentOperationRequest {
  readonly action: DocumentAction;
  readonly filter: DocumentFilter;
  /** Required for `Cancel`. */
  readonly reason: string | null;
}

export interface DocumentOperationView {
  readonly id: string;
  readonly action: DocumentAction;
  readonly status: DocumentOperationState;
  readonly reason: string | null;
  readonly matched: number;
  readonly done: number;
  /** Documents that did not accept the action, by code. */
  readonly skipped: { readonly [code: string]: number };
  readonly createdAt: Millis;
  readonly updatedAt: Millis;
  readonly endedAt: Millis | null;
}

export interface DocumentOperations {
  /** Number of documents that the operation would act on. Refusals: `BadRequest` to delete every document. */
  count(tenant: Tenant, request: DocumentOperationRequest): Promise<number>;
  /** Refusals: `BadRequest` without a reason to cancel or to delete every document, `TooManyRequests`. */
  start(tenant: Tenant, request: DocumentOperationRequest): Promise<DocumentOperationView>;
  /** Newest first. */
  list(
    tenant: Tenant,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<Page<DocumentOperationView>>;
  /** Refusals: `DocumentOperationNotFound`. */
  get(tenant: Tenant, id: string): Promise<DocumentOperationView>;
  /** Ends it after the batch in progress. Refusals: `DocumentOperationNotFound`, `DocumentOperationEnded`. */
  cancel(tenant: Tenant, id: string): Promise<DocumentOperationView>;
}
