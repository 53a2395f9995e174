/**
 * `/api/documents/operations`: cancels, deletes or reminds every document that a filter finds.
 *
 * Source: docs/decisions/0127-operations-on-documents.md.
 */

import { z } from 'zod';
import type { DocumentOperations, DocumentOperationView } from '../../../actors/portal/api.ts';
import { id, maybeFlag, maybeText, members, word } from '../../../contracts/fields.ts';
import { documentFilterBody } from '../../../contracts/portal/document-lists.ts';
import { pageOf, paging } from '../../../contracts/portal/lists.ts';
import { isoTime, isoTimeOrNull } from '../../../contracts/times.ts';
import { DOCUMENT_ACTIONS, DOCUMENT_OPERATION_STATES } from '../../../machines/portal/document-operation.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { documentFilter } from '../input/document-filter.ts';
import { idParams } from '../input/ids.ts';
import { portalRoute } from '../route.ts';
import { pageBody, timestamp } from '../shapes/shared-shapes.ts';

const { limit, offset } = paging;

const operationShape = z
  .strictObject({
    id,
    action: z.enum(DOCUMENT_ACTIONS).describe('What is done to each document.'),
    status: z
      .enum(DOCUMENT_OPERATION_STATES)
      .describe(
        '`Canceling`: it ends after the batch in progress. `Completed` and `Canceled` are kept for 30 days.',
      ),
    reason: z.string().nullable().describe('The reason that each canceled document has.'),
    matchedCount: z.int().min(0).describe('Documents that the filter found when the operation was made.'),
    doneCount: z.int().min(0).describe('Documents that accepted the action so far.'),
    skippedCount: z.int().min(0).describe('Documents that did not accept it so far.'),
    skippedByCode: z.record(z.string(), z.int().min(0)).describe('The skipped documents by code of refusal.'),
    creationDate: timestamp.describe('When it was made.'),
    updateDate: timestamp.describe('When it last made progress.'),
    endDate: timestamp.nullable().describe('When it ended; null: it has not.'),
  })
  .meta({ id: 'DocumentOperation', description: 'One action on every document that a filter finds.' });

const countShape = z
  .strictObject({ matchedCount: z.int().min(0).describe('Documents that the filter finds now.') })
  .meta({ id: 'DocumentOperationCount', description: 'The answer to `dryRun`.' });

const operationInput = members({
  action: word(DOCUMENT_ACTIONS),
  filter: documentFilterBody,
  reason: maybeText,
  dryRun: maybeFlag,
});

export function documentOperationRoutes(operations: DocumentOperations): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'POST',
      path: '/api/documents/operations',
      group: 'Documents',
      summary:
        'Cancels or deletes all documents that match a filter, reminds their participants, or counts them.',
      description:
        'With `dryRun` the matching documents are only counted. Otherwise the operation acts in batches on the matching documents that were created before the request, and continues after a restart. A cancellation needs a `reason`, a deletion a filter. Documents that cannot be changed are counted by error code. An organization has at most two operations at a time (`TooManyRequests`).',
      scope: 'Create',
      folderKeys: true,
      body: operationInput,
      responses: { 200: z.union([operationShape, countShape]) },
      examples: { request: { action: 'Remind', filter: { status: 'Pending', q: 'lease' }, dryRun: true } },
      refusals: [],
      async handle({ tenant, body }) {
        const { action, reason } = body;
        const request = { action, filter: documentFilter(body.filter), reason: reason ?? null };
        if (body.dryRun === true) return json(200, { matchedCount: await operations.count(tenant, request) });
        return json(200, operationBody(await operations.start(tenant, request)));
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/documents/operations',
      group: 'Documents',
      summary: 'Lists operations on documents, newest first.',
      description:
        'Lists those of the whole organization, so keys that are restricted to folders cannot call it.',
      scope: 'Read',
      query: members({ limit, offset }),
      responses: { 200: pageOf(operationShape) },
      refusals: [],
      async handle({ tenant, query }) {
        return json(200, pageBody(await operations.list(tenant, query), operationBody));
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/documents/operations/{id}',
      group: 'Documents',
      summary: 'Returns an operation on documents with its progress.',
      description:
        'The counts grow while it runs; documents that could not be changed are counted by error code. An operation of another organization is `DocumentOperationNotFound`.',
      scope: 'Read',
      folderKeys: true,
      params: idParams,
      responses: { 200: operationShape },
      refusals: ['DocumentOperationNotFound'],
      async handle({ tenant, params }) {
        return json(200, operationBody(await operations.get(tenant, params.id.toLowerCase())));
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/operations/{id}/cancellation',
      group: 'Documents',
      summary: 'Cancels an operation on documents after the batch in progress.',
      description:
        'Documents that were changed already stay changed. `DocumentOperationEnded`: it has ended, or is being canceled.',
      scope: 'Create',
      folderKeys: true,
      params: idParams,
      responses: { 200: operationShape },
      refusals: ['DocumentOperationNotFound', 'DocumentOperationEnded'],
      async handle({ tenant, params }) {
        return json(200, operationBody(await operations.cancel(tenant, params.id.toLowerCase())));
      },
    }),
  ];
}

function operationBody(view: DocumentOperationView): z.infer<typeof operationShape> {
  const { skipped } = view;
  return {
    id: view.id,
    action: view.action,
    status: view.status,
    reason: view.reason,
    matchedCount: view.matched,
    doneCount: view.done,
    skippedCount: Object.values(skipped).reduce((sum, count) => sum + count, 0),
    skippedByCode: { ...skipped },
    creationDate: isoTime(view.createdAt),
    updateDate: isoTime(view.updatedAt),
    endDate: isoTimeOrNull(view.endedAt),
  };
}
