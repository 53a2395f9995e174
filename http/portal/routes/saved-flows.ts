/**
 * `/api/document-flows`: saved flows for reuse.
 *
 * Source: docs/portal-values.md §20.
 */
import { z } from 'zod';
import type { IdempotentRequests, SavedFlowItem, SavedFlows } from '../../../actors/portal/api.ts';
import { fingerprintOf } from '../../core/body/json-body.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { IDEMPOTENCY_HEADER, idempotencyKeyOf, withIdempotency } from '../idempotency.ts';
import { asSent, list, maybeFlag, members, text } from '../input/fields.ts';
import { flowActionInput, observerInput, savedFlowDocumentsInput } from '../input/flow-inputs.ts';
import { idParams } from '../input/ids.ts';
import { parsedInput } from '../input/invalid-input.ts';
import { paging, queryText } from '../input/query-fields.ts';
import { isoTime } from '../input/timestamps.ts';
import { UNKNOWN_FILES } from '../refusal-groups.ts';
import { DONE, portalRoute } from '../route.ts';
import {
  createdByBody,
  createdByShape,
  id,
  pageBody,
  pageShape,
  timestamp,
} from '../shapes/shared-shapes.ts';
import { CREATION_REFUSALS, createdBody, createdShape } from './documents.ts';

const itemShape = z
  .strictObject({
    id,
    name: z.string(),
    creationDate: timestamp,
    updateDate: timestamp,
    createdBy: createdByShape,
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
  flowActions: list(asSent(flowActionInput)),
  observers: list(asSent(observerInput)).nullish(),
}).transform(({ name, areActionsOrdered, flowActions, observers }) => ({
  name,
  areActionsOrdered: areActionsOrdered ?? false,
  flowActions,
  observers: observers ?? [],
}));

const savedActions = members({
  flowActions: list(flowActionInput, { least: 1 }),
  observers: list(observerInput),
});

export function savedFlowRoutes(flows: SavedFlows, requests: IdempotentRequests): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'GET',
      path: '/api/document-flows',
      summary: 'Lists saved flows.',
      query: members({ q: queryText, ...paging }),
      responses: { 200: pageShape(itemShape) },
      refusals: [],
      async handle({ tenant, query }) {
        const { q, limit, offset, order } = query;
        const page = await flows.list(tenant, { q, limit, offset, newestFirst: order === 'Desc' });
        return json(200, pageBody(page, itemBody));
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/document-flows',
      summary: 'Saves a flow.',
      body: flowInput,
      largeBody: 'saved-flow',
      responses: { 200: itemShape },
      refusals: ['NameTaken', 'LimitExceeded'],
      async handle({ tenant, body }) {
        return json(200, itemBody(await flows.create(tenant, body)));
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/document-flows/{id}',
      summary: 'Gives a saved flow as it was sent.',
      params: idParams,
      responses: { 200: flowShape },
      refusals: ['DocumentFlowNotFound'],
      async handle({ tenant, params }) {
        const flow = await flows.get(tenant, params.id.toLowerCase());
        const { areActionsOrdered, flowActions, observers } = flow;
        return json(200, { ...itemBody(flow), areActionsOrdered, flowActions, observers });
      },
    }),
    portalRoute({
      method: 'PUT',
      path: '/api/document-flows/{id}',
      summary: 'Puts another flow in the place of a saved one.',
      params: idParams,
      body: flowInput,
      largeBody: 'saved-flow',
      responses: { 200: 'empty' },
      refusals: ['DocumentFlowNotFound', 'NameTaken', 'LimitExceeded'],
      async handle({ tenant, params, body }) {
        await flows.replace(tenant, params.id.toLowerCase(), body);
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/document-flows/{id}/documents',
      summary: 'Makes documents of uploads with a saved flow, whose roles are taken by the given people.',
      headers: [IDEMPOTENCY_HEADER],
      params: idParams,
      body: savedFlowDocumentsInput,
      largeBody: 'saved-flow-documents',
      responses: { 200: z.array(createdShape) },
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
    portalRoute({
      method: 'DELETE',
      path: '/api/document-flows/{id}',
      summary: 'Forgets a saved flow.',
      params: idParams,
      responses: { 200: 'empty' },
      refusals: ['DocumentFlowNotFound'],
      async handle({ tenant, params }) {
        await flows.remove(tenant, params.id.toLowerCase());
        return DONE;
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
