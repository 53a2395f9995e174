/**
 * `/api/document-flows`: saved flows for reuse.
 *
 * Source: docs/portal-values.md §20.
 */

import { z } from 'zod';
import type {
  IdempotentRequests,
  SavedFlowBody,
  SavedFlowItem,
  SavedFlows,
} from '../../../actors/portal/api.ts';
import { asSent, id, list, maybeFlag, members, text } from '../../../contracts/fields.ts';
import { createdBy } from '../../../contracts/portal/entities.ts';
import { ANA, FILE, SIGNER } from '../../../contracts/portal/examples.ts';
import { newFlowAction, newObserver } from '../../../contracts/portal/flow.ts';
import { CREATION_REFUSALS, createdDocument } from '../../../contracts/portal/new-documents.ts';
import { UNKNOWN_FILES } from '../../../contracts/portal/refusals.ts';
import { isoTime } from '../../../contracts/times.ts';
import { fingerprintOf } from '../../core/body/json-body.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { IDEMPOTENCY_HEADER, idempotencyKeyOf, withIdempotency } from '../idempotency.ts';
import { savedFlowDocumentsInput } from '../input/flow-inputs.ts';
import { idParams } from '../input/ids.ts';
import { parsedInput } from '../input/invalid-input.ts';
import { portalRoute } from '../route.ts';
import { createdBody, createdByBody, timestamp } from '../shapes/shared-shapes.ts';
import { noQuery, recordListQuery, recordRoutes } from './record-routes.ts';

const itemShape = z
  .strictObject({
    id,
    name: z.string(),
    creationDate: timestamp,
    updateDate: timestamp,
    createdBy: createdBy,
  })
  .meta({ id: 'SavedFlowItem' });

const flowShape = itemShape
  .extend({
    areActionsOrdered: z.boolean(),
    flowActions: z.array(z.unknown()).describe('As they were sent.'),
    observers: z.array(z.unknown()).describe('As they were sent.'),
  })
  .meta({ id: 'SavedFlow' });

export const flowInput = members({
  name: text,
  areActionsOrdered: maybeFlag,
  flowActions: list(asSent(newFlowAction)),
  observers: list(asSent(newObserver)).nullish(),
}).transform(({ name, areActionsOrdered, flowActions, observers }) => ({
  name,
  areActionsOrdered: areActionsOrdered ?? false,
  flowActions,
  observers: observers ?? [],
}));

const savedActions = members({
  flowActions: list(newFlowAction, { least: 1 }),
  observers: list(newObserver),
});

export function savedFlowRoutes(flows: SavedFlows, requests: IdempotentRequests): readonly AnyRoute[] {
  return [
    ...recordRoutes({
      path: '/api/document-flows',
      group: 'Saved flows',
      texts: {
        list: { summary: 'Lists saved flows.', description: '`q` searches in names.' },
        create: {
          summary: 'Saves a flow.',
          description:
            'The flow has actions and observers, and no files. Only its JSON is checked now; the rest is checked when documents are created. An organization has at most 1,000 flows (`LimitExceeded`). The same `Idempotency-Key` with the same request returns the same flow.',
          examples: { request: { name: 'Lease', areActionsOrdered: true, flowActions: [SIGNER] } },
        },
        get: {
          summary: 'Returns a saved flow as it was sent.',
          description: 'A flow of another organization is `DocumentFlowNotFound`.',
        },
        replace: {
          summary: 'Replaces a saved flow.',
          description: 'Documents that were created with it do not change.',
          examples: { request: { name: 'Lease of flats', areActionsOrdered: true, flowActions: [SIGNER] } },
        },
        remove: {
          summary: 'Deletes a saved flow.',
          description: 'Documents that were created with it do not change.',
        },
      },
      body: flowInput,
      largeBody: 'saved-flow',
      notFound: 'DocumentFlowNotFound',
      notSaved: ['LimitExceeded'],
      fixed: [],
      item: { shape: itemShape, body: itemBody },
      view: {
        shape: flowShape,
        body: ({ areActionsOrdered, flowActions, observers, ...item }: SavedFlowItem & SavedFlowBody) => ({
          ...itemBody(item),
          ...{ areActionsOrdered, flowActions, observers },
        }),
      },
      listQuery: recordListQuery,
      getQuery: noQuery,
      notRead: [],
      requests,
      records: flows,
    }),
    portalRoute({
      method: 'POST',
      path: '/api/document-flows/{id}/documents',
      group: 'Saved flows',
      summary: 'Creates documents from uploads with a saved flow and the people for its roles.',
      description:
        'The titles of the flow’s actions are its roles; `participants` names the person for each. Checks, refusals, e-mails and events are those of `POST /api/documents`. The same `Idempotency-Key` with the same request returns the same documents.',
      scope: 'Create',
      headers: [IDEMPOTENCY_HEADER],
      params: idParams,
      body: savedFlowDocumentsInput,
      largeBody: 'saved-flow-documents',
      responses: { 200: z.array(createdDocument) },
      examples: { request: { files: [FILE], participants: [{ role: 'Tenant', user: ANA }] } },
      refusals: ['DocumentFlowNotFound', 'IdempotencyConflict', ...UNKNOWN_FILES, ...CREATION_REFUSALS],
      async handle({ tenant, params, body: { participants, fieldValues, ...given }, fingerprint, header }) {
        const key = idempotencyKeyOf(header(IDEMPOTENCY_HEADER));
        const flow = params.id.toLowerCase();
        const request = {
          route: 'POST /api/document-flows/{id}/documents',
          key,
          fingerprint: key ? fingerprintOf([flow, fingerprint()]) : '',
        };
        const made = await withIdempotency(requests, tenant, request, async (seed) => {
          const documents = await flows.createDocuments(
            tenant,
            flow,
            { ...given, participants: participants ?? [], fieldValues: fieldValues ?? {} },
            (saved) => parsedInput(savedActions, saved, 'BadRequest'),
            seed,
          );
          return documents.map(createdBody);
        });
        return json(200, made);
      },
    }),
  ];
}

function itemBody(item: SavedFlowItem): z.infer<typeof itemShape> {
  return {
    id: item.id,
    name: item.name,
    creationDate: isoTime(item.creationDate),
    updateDate: isoTime(item.updateDate),
    createdBy: createdByBody(item.createdBy),
  };
}
