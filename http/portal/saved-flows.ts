/**
 * `/api/document-flows`: flows that are kept to be used again.
 *
 * Source: portal-gaps §20, "Saved flows".
 */
import { z } from 'zod';
import type { SavedFlowItem, SavedFlows } from '../../actors/portal/api.ts';
import { json } from '../reply.ts';
import type { AnyRoute } from '../router.ts';
import { asSent, list, maybeFlag, members, text } from './fields.ts';
import { idParams } from './ids.ts';
import { flowActionInput, observerInput } from './inputs.ts';
import { written } from './moments.ts';
import { paging, queryText } from './query-fields.ts';
import { DONE, portalRoute } from './route.ts';
import { createdByBody, createdByShape, id, pageBody, pageShape, timestamp } from './shapes/parts.ts';

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

const flowInput = members({
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

export function savedFlowRoutes(flows: SavedFlows): readonly AnyRoute[] {
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
      responses: { 200: 'empty' },
      refusals: ['DocumentFlowNotFound', 'NameTaken', 'LimitExceeded'],
      async handle({ tenant, params, body }) {
        await flows.replace(tenant, params.id.toLowerCase(), body);
        return DONE;
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
    creationDate: written(item.creationDate),
    updateDate: written(item.updateDate),
    createdBy: createdByBody(item.createdBy),
  };
}
