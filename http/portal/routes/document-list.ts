/** The list of documents, and the same list as a CSV file. */
import type { DocumentExports, DocumentOperations, DocumentService } from '../../../actors/portal/api.ts';
import {
  cancelDocumentOperation,
  exportDocuments,
  getDocumentOperation,
  listDocumentOperations,
  listDocuments,
  operateDocuments,
} from '../../../contracts/portal/document-lists.ts';
import type { DocumentListItem } from '../../../contracts/portal/documents.ts';
import { isoTime } from '../../../contracts/times.ts';
import { csvReply } from '../../core/csv-reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { handle } from '../handle.ts';
import { pageReply, positionIn } from '../input/query-fields.ts';

/** `/api/documents/operations`: cancels, deletes or reminds every document that a filter finds. */
export function documentOperationRoutes(operations: DocumentOperations): readonly AnyRoute[] {
  return [
    handle(operateDocuments, async ({ tenant, body }) =>
      body.dryRun === true
        ? { matchedCount: await operations.count(tenant, body) }
        : operations.start(tenant, body),
    ),
    handle(listDocumentOperations, async ({ tenant, query }) =>
      pageReply(await operations.list(tenant, query)),
    ),
    handle(getDocumentOperation, ({ tenant, params }) => operations.get(tenant, params.id)),
    handle(cancelDocumentOperation, ({ tenant, params }) => operations.cancel(tenant, params.id)),
  ];
}

export function documentListRoutes(
  documents: DocumentService,
  exports: DocumentExports,
): readonly AnyRoute[] {
  return [
    handle(listDocuments, async ({ tenant, query: { filter, limit, offset, cursor } }) => {
      const position = positionIn(cursor, filter);
      return pageReply(await documents.list(tenant, { ...filter, limit, offset, position }), filter);
    }),
    handle(exportDocuments, ({ tenant, query }) =>
      csvReply('documents.csv', exports.pages(tenant, query), { columns: COLUMNS, cellsOf: documentCells }),
    ),
  ];
}

const COLUMNS = [
  'id',
  'externalId',
  'name',
  'status',
  'type',
  'folder',
  'tags',
  'creationDate',
  'updateDate',
] as const;

function documentCells(item: DocumentListItem): readonly string[] {
  const { id, externalId, name, status, type, folder, tags, creationDate, updateDate } = item;
  const labels = tags.map(({ label, value }) => (label === null ? value : `${label}|${value}`)).join(', ');
  return [
    id,
    externalId ?? '',
    name,
    status,
    type ?? '',
    folder?.name ?? '',
    labels,
    isoTime(creationDate),
    isoTime(updateDate),
  ];
}
