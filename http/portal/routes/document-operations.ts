/** `/api/documents/operations`: cancels, deletes or reminds every document that a filter finds. */
import type { DocumentOperations } from '../../../actors/portal/api.ts';
import {
  cancelDocumentOperation,
  getDocumentOperation,
  listDocumentOperations,
  operateDocuments,
} from '../../../contracts/portal/document-lists.ts';
import type { AnyRoute } from '../../core/router.ts';
import { handle } from '../handle.ts';
import { pageReply } from '../input/query-fields.ts';

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
