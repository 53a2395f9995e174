/**
 * Large operations on documents. Each is an actor, and continues after a restart.
 *
 * View: `document-operations` [organization, createdAt, id] → null. Counters:
 * `document-operations/<organization>/<running or ended>`.
 *
 * Source: docs/decisions/0127-operations-on-documents.md.
 */

import { type ActorStore, type ActorView, accepted, type Calls, defineActor } from '@sealwright/runtime';
import type { WithoutTime } from '@sealwright/runtime/actions';
import type {
  DocumentFilter,
  DocumentOperationView,
  NewDocumentOperation,
} from '../../../contracts/portal/document-lists.ts';
import type { ListPosition, Page } from '../../../contracts/portal/lists.ts';
import type { DocumentOperationState } from '../../../contracts/portal/words.ts';
import { type DocumentId, type OrganizationId, parsePortalId } from '../../../machines/ids.ts';
import {
  DOCUMENT_OPERATION_FORGOTTEN,
  type DocumentBatch,
  type DocumentOperationContext,
  type DocumentOperationCounts,
  type DocumentOperationInput,
  type DocumentOperationMessage,
  documentOperationMachine,
  operateDocuments,
} from '../../../machines/portal/documents/document-operation.ts';
import type { FolderRight } from '../../../machines/portal/folder.ts';
import { badField, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { timeOfOrderNumber } from '../../shared/ids/order-numbers.ts';
import { countOf } from '../../shared/lists/stored-rows.ts';
import { principalOf, type Tenant } from '../api/callers.ts';
import type { DocumentColumns } from '../document-records/document-columns.ts';
import { type DocumentQuery, restricts } from '../document-records/document-filter.ts';
import { DOCUMENT } from '../document-records/document-index.ts';
import { listDocuments } from '../document-records/document-list.ts';
import {
  cannotCancel,
  type DocumentRequest,
  originOf,
  refusalOf,
  wrongStatus,
} from '../document-records/document-messages.ts';
import { deleteDocument } from '../retention/legal-holds.ts';
import { filterFor, reachesFolder } from '../shared/folder-access.ts';

/** Documents of a batch: their steps share commits, and other requests wait little. */
const BATCH_SIZE = 64;
/** Operations that are read to list those of a caller who knows some folders alone. */
const MAX_SEARCHED = 1_000;
/** Operations of one organization at once. */
const MAX_RUNNING = 2;

export const DOCUMENT_OPERATION = defineActor('document-operation', {
  machine: documentOperationMachine,
  effects: [operateDocuments],
  version: 1,
  rows: ({ id, context }) => [
    { view: 'document-operations', key: [context.organization.id, context.createdAt, id], value: null },
  ],
  counters: ({ state, context }): { readonly [name: string]: number } => ({
    [countName(context.organization.id, isRunning(state) ? 'running' : 'ended')]: 1,
  }),
  ends: ({ state }) => state === DOCUMENT_OPERATION_FORGOTTEN,
});

function countName(organization: OrganizationId, which: 'running' | 'ended'): string {
  return `document-operations/${organization}/${which}`;
}

function isRunning(state: string): boolean {
  return state === 'Running' || state === 'Canceling';
}

type Request = Pick<NewDocumentOperation, 'action' | 'filter'>;

export class DocumentOperations {
  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'ids'>,
    private readonly columns: DocumentColumns,
  ) {}

  /** Number of documents that the operation would act on. Refusals: `BadRequest` to delete every document. */
  async count(tenant: Tenant, request: Request): Promise<number> {
    const { store, clock } = this.runtime;
    const { id } = tenant.organization;
    const filter = await boundedFilter(store, tenant, request, clock.now());
    const query = { ...filter, limit: 1, offset: 0, newestFirst: false };
    return (await listDocuments(store, id, query, this.columns)).totalCount;
  }

  /** Refusals: `BadRequest` to delete every document, `TooManyRequests`. */
  async start(tenant: Tenant, request: NewDocumentOperation): Promise<DocumentOperationView> {
    const { actors, store, clock, ids } = this.runtime;
    const { id, name } = tenant.organization;
    const { action } = request;
    const reason = action === 'Cancel' ? (request.reason ?? '') : null;
    if ((await countOf(store, countName(id, 'running'))) >= MAX_RUNNING)
      throw new PortalRefusal('TooManyRequests', `${MAX_RUNNING} operations are running.`, {
        retryAfterSeconds: 60,
      });
    const at = clock.now();
    const filter = await boundedFilter(store, tenant, request, at);
    const { batch, matched } = await nextBatch(store, this.columns, {
      organization: id,
      filter,
      position: 'start',
    });
    const input = {
      organization: { id, name },
      createdBy: principalOf(tenant),
      action,
      reason,
      filter,
      matched,
      batch,
      at,
    };
    // JSON drops undefined members, which are not stored.
    const stored = JSON.parse(JSON.stringify(input)) as DocumentOperationInput;
    const actor = await accepted(
      actors.create(DOCUMENT_OPERATION, ids.uuid(), stored),
      () => new PortalRefusal('ServiceBusy'),
    );
    return viewOf(actor);
  }

  /** Newest first. */
  async list(
    tenant: Tenant,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<Page<DocumentOperationView>> {
    const { store, actors } = this.runtime;
    const { organization } = tenant;
    if (isLimited(tenant)) return this.#listWithin(tenant, { limit, offset });
    const counters = await store.counters(`document-operations/${organization.id}/`);
    const totalCount = Object.values(counters).reduce((sum, count) => sum + count, 0);
    const first = offset * limit;
    if (first >= totalCount) return { items: [], totalCount };
    const page = { prefix: [organization.id], reverse: true, offset: first, limit };
    const rows = await store.rows({ view: 'document-operations', ...page });
    const found = await Promise.all(
      rows.map(({ key }) => actors.read(DOCUMENT_OPERATION, String(key.at(-1)))),
    );
    return { items: found.flatMap((actor) => (actor === undefined ? [] : [viewOf(actor)])), totalCount };
  }

  /** For callers who know some folders alone: of the newest thousand operations, those that concern them. */
  async #listWithin(
    tenant: Tenant,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<Page<DocumentOperationView>> {
    const { store, actors } = this.runtime;
    const newest = { prefix: [tenant.organization.id], reverse: true, limit: MAX_SEARCHED };
    const rows = await store.rows({ view: 'document-operations', ...newest });
    const found = await Promise.all(
      rows.map(({ key }) => actors.read(DOCUMENT_OPERATION, String(key.at(-1)))),
    );
    const known = found.filter(
      (actor) => actor !== undefined && isWithin(tenant, actor.context.filter),
    ) as ActorView<DocumentOperationContext>[];
    return { items: known.slice(offset * limit, (offset + 1) * limit).map(viewOf), totalCount: known.length };
  }

  /** Refusals: `DocumentOperationNotFound`. */
  async get(tenant: Tenant, id: string): Promise<DocumentOperationView> {
    return viewOf(await this.#find(tenant, id));
  }

  /**
   * Ends it after the batch in progress. Refusals: `DocumentOperationNotFound`, `DocumentOperationEnded`; `Forbidden` for one
   * that somebody else has begun in folders that the caller does not manage.
   */
  async cancel(tenant: Tenant, id: string): Promise<DocumentOperationView> {
    const { id: documentId, context } = await this.#find(tenant, id);
    if (context.createdBy.id !== tenant.user?.id && !isWithin(tenant, context.filter, 'Manage'))
      throw new PortalRefusal('Forbidden', 'Who manages the folders of the operation can end it.');
    const canceled = await accepted(
      this.runtime.actors.send(DOCUMENT_OPERATION, documentId, { type: 'CANCEL' }),
      () => new PortalRefusal('DocumentOperationEnded'),
    );
    return viewOf(canceled);
  }

  async #find(tenant: Tenant, id: string): Promise<ActorView<DocumentOperationContext>> {
    // Its ids are shaped as those of documents.
    const documentId = parsePortalId('DocumentId', id);
    const actor = documentId && (await this.runtime.actors.read(DOCUMENT_OPERATION, documentId));
    if (actor?.context.organization.id !== tenant.organization.id || !isWithin(tenant, actor.context.filter))
      throw new PortalRefusal('DocumentOperationNotFound');
    return actor;
  }
}

/** True when the caller may not know each operation of the organization. */
function isLimited(tenant: Tenant): boolean {
  return tenant.folders !== undefined || filterFor(tenant).exceptFolders !== undefined;
}

/**
 * True when an operation concerns nothing but folders that the key reaches. A sender knows those that leave out at least the
 * folders that the caller does not know.
 */
function isWithin(tenant: Tenant, filter: DocumentOperationContext['filter'], least?: FolderRight): boolean {
  const { folders, folderId, exceptFolders } = filter as DocumentFilter;
  if (tenant.folders !== undefined) return folders?.every((id) => reachesFolder(tenant, id)) === true;
  if (typeof folderId === 'string') return reachesFolder(tenant, folderId, least);
  const known = new Set(exceptFolders);
  return filterFor(tenant, least).exceptFolders?.every((id) => known.has(id)) ?? true;
}

/** Statuses that accept the action, where the filter names none. */
const STATUS: { readonly [action in Request['action']]: DocumentFilter['status'] } = {
  Cancel: 'PendingOrRefused',
  Delete: undefined,
  Remind: 'Pending',
};

/** The filter of the documents that exist now. Refusals: `BadRequest` to delete every document. */
async function boundedFilter(
  store: ActorStore,
  tenant: Tenant,
  { action, filter }: Request,
  at: number,
): Promise<DocumentFilter> {
  if (action === 'Delete' && !restricts(filter))
    throw badField('Filter', 'must restrict the documents to delete');
  const organization = tenant.organization.id;
  const [newest] = await store.rows({ view: 'documents', prefix: [organization], reverse: true, limit: 1 });
  // After the clock was set back, documents may have creation times in the future.
  const last = Math.max(at, timeOfOrderNumber((newest?.key.at(-1) as number | undefined) ?? 0));
  return {
    ...filter,
    // With `Send` a sender acts on own documents alone, one at a time.
    ...filterFor(tenant, 'Manage'),
    status: filter.status ?? STATUS[action],
    createdTo: Math.min(filter.createdTo ?? last, last),
  };
}

async function nextBatch(
  store: ActorStore,
  columns: DocumentColumns,
  {
    organization,
    filter,
    position,
  }: {
    readonly organization: OrganizationId;
    readonly filter: DocumentFilter;
    readonly position: 'start' | ListPosition;
  },
): Promise<{ readonly batch: DocumentBatch; readonly matched: number }> {
  const query: DocumentQuery = { ...filter, limit: BATCH_SIZE, offset: 0, newestFirst: false, position };
  const { ids, totalCount, next } = await listDocuments(store, organization, query, columns);
  return { batch: { ids, after: next?.after ?? null }, matched: totalCount };
}

/** Acts on the documents of one batch, each message under an id: a repeated batch does nothing twice. */
export function operateDocumentsHandler(
  { actors, store }: Pick<ServiceRuntime, 'actors' | 'store'>,
  columns: DocumentColumns,
) {
  return operateDocuments.handledBy({
    async run({ ids, after, organizationId }, { actor }): Promise<WithoutTime<DocumentOperationMessage>> {
      const operation = await actors.read(DOCUMENT_OPERATION, actor.id);
      if (operation?.state !== 'Running') return { type: 'PROGRESS', done: 0, skipped: {}, next: null };
      const { context } = operation;
      const codes = await Promise.all(ids.map((id) => act(actors, actor.id, context, id)));
      const skipped: Record<string, number> = {};
      for (const code of codes) if (code !== undefined) skipped[code] = (skipped[code] ?? 0) + 1;
      const counts: DocumentOperationCounts = {
        done: codes.filter((code) => code === undefined).length,
        skipped,
      };
      if (after === null) return { type: 'PROGRESS', ...counts, next: null };
      const position = { after, totalCount: context.matched };
      const filter = context.filter as DocumentFilter;
      const { batch } = await nextBatch(store, columns, { organization: organizationId, filter, position });
      return { type: 'PROGRESS', ...counts, next: batch };
    },
  });
}

/** The code of a document that does not accept the action; undefined = done. */
async function act(
  actors: Pick<Calls, 'read' | 'send'>,
  operationId: string,
  operation: DocumentOperationContext,
  id: DocumentId,
): Promise<string | undefined> {
  const message = messageOf(operation);
  if (message.type === 'DELETE') return (await deleteDocument(actors, id, message, operationId))?.code;
  const outcome = await actors.send(DOCUMENT, id, message, { id: operationId });
  if (!outcome.accepted && outcome.reason !== 'duplicate')
    return refusalOf(outcome, operation.action === 'Cancel' ? cannotCancel : wrongStatus).code;
  return undefined;
}

function messageOf({ action, reason, createdBy }: DocumentOperationContext): DocumentRequest {
  const doneBy = { by: createdBy.name, userId: null, ...originOf(undefined) };
  switch (action) {
    case 'Cancel':
      return { type: 'CANCEL', by: createdBy, reason: reason ?? '', doneBy };
    case 'Delete':
      return { type: 'DELETE', action: 'DeletedByUserOrApplication', doneBy };
    case 'Remind':
      return { type: 'REMIND', flowActionId: null, doneBy };
  }
}

function viewOf({ id, state, context }: ActorView<DocumentOperationContext>): DocumentOperationView {
  const { action, reason, matched, done, skipped, createdAt, updatedAt, endedAt } = context;
  return {
    id,
    action,
    reason,
    status: state as DocumentOperationState,
    matchedCount: matched,
    doneCount: done,
    skippedCount: Object.values(skipped).reduce((sum, count) => sum + count, 0),
    skippedByCode: skipped,
    creationDate: createdAt,
    updateDate: updatedAt,
    endDate: endedAt,
  };
}
