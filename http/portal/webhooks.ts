/**
 * Webhooks of the organization, and what became of the calls.
 *
 * Source: portal-gaps §19, "Registration by API"; what is beyond it is ours.
 */
import { z } from 'zod';
import type {
  DeliveryView,
  PortalWebhooks,
  Tenant,
  WebhookInput,
  WebhookView,
} from '../../actors/portal/api.ts';
import { PortalRefusal, type PortalRefusalCode } from '../../machines/portal-refusals.ts';
import { json } from '../reply.ts';
import type { AnyRoute } from '../router.ts';
import { end, maybeFlag, maybeText, members, moment, text, uuid, word } from './fields.ts';
import { idParams, organizationId, webhookId, webhookParams } from './ids.ts';
import { written, writtenOrNull } from './moments.ts';
import { paging, queryWord } from './query-fields.ts';
import { DONE, portalRoute } from './route.ts';
import { id, pageBody, pageShape, timestamp } from './shapes/parts.ts';
import { DELIVERY_STATUSES, WEBHOOK_AUTH_TYPES } from './words.ts';

export const webhookShape = z
  .strictObject({
    id,
    url: z.string(),
    authType: z.enum(WEBHOOK_AUTH_TYPES),
    isSigned: z.boolean().describe('Calls carry Standard Webhooks headers.'),
    isDisabled: z.boolean().describe('Nothing is sent to it any more. Replacing it (PUT) enables it again.'),
    disabledReason: z.string().nullable(),
  })
  .meta({ id: 'Webhook' });

const deliveryShape = z
  .strictObject({
    id: z.string(),
    webhookId: id,
    documentId: id.nullable(),
    type: z.string(),
    sequence: z.int(),
    status: z.enum(DELIVERY_STATUSES),
    creationDate: timestamp,
    nextTryDate: timestamp.nullable(),
    body: z.string().describe('What is sent, byte for byte.'),
    attempts: z.array(
      z.strictObject({
        date: timestamp,
        url: z.string(),
        status: z.int().nullable(),
        milliseconds: z.number(),
        error: z.string().nullable(),
        response: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'Delivery' });

const webhookInput = members({
  url: text,
  authType: word(WEBHOOK_AUTH_TYPES).nullish(),
  token: maybeText,
  secret: maybeText,
}).transform(({ url, authType, token, secret }): WebhookInput => {
  return {
    url,
    authType: authType ?? 'NoAuth',
    ...(typeof token === 'string' && { token }),
    ...(typeof secret === 'string' && { secret }),
  };
});

const REFUSALS = ['OrganizationNotFound'] as const satisfies readonly PortalRefusalCode[];
const deliveryParams = z.object({ id: z.string(), deliveryId: z.string() });

export function webhookRoutes(webhooks: PortalWebhooks): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'GET',
      path: '/api/organizations/{id}/webhooks',
      summary: 'Lists the webhooks of the organization.',
      params: idParams,
      responses: { 200: z.array(webhookShape) },
      refusals: REFUSALS,
      async handle({ tenant, params }) {
        requireOwn(tenant, params.id);
        return json(200, (await webhooks.list(tenant)).map(webhookBody));
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/organizations/{id}/webhooks',
      summary: 'Registers a webhook.',
      params: idParams,
      body: webhookInput,
      responses: { 200: webhookShape },
      refusals: [
        ...REFUSALS,
        'MaxWebhooksLimitReached',
        'OperationNotSupportedInPersonalOrganizations',
        'WebhookUrlNotAllowed',
      ],
      async handle({ tenant, params, body }) {
        requireOwn(tenant, params.id);
        return json(200, webhookBody(await webhooks.create(tenant, body)));
      },
    }),
    portalRoute({
      method: 'PUT',
      path: '/api/organizations/{id}/webhooks/{webhookId}',
      summary: 'Changes a webhook, and enables it again.',
      params: webhookParams,
      body: webhookInput,
      responses: { 200: webhookShape },
      refusals: [...REFUSALS, 'WebhookNotFound', 'WebhookUrlNotAllowed'],
      async handle({ tenant, params, body }) {
        requireOwn(tenant, params.id);
        return json(200, webhookBody(await webhooks.replace(tenant, webhookId(params.webhookId), body)));
      },
    }),
    portalRoute({
      method: 'DELETE',
      path: '/api/organizations/{id}/webhooks/{webhookId}',
      summary: 'Removes a webhook.',
      params: webhookParams,
      responses: { 200: 'empty' },
      refusals: [...REFUSALS, 'WebhookNotFound'],
      async handle({ tenant, params }) {
        requireOwn(tenant, params.id);
        await webhooks.remove(tenant, webhookId(params.webhookId));
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/organizations/{id}/webhooks/{webhookId}/test',
      summary: 'Sends a made-up event now, and says what came back.',
      params: webhookParams,
      responses: { 200: deliveryShape },
      refusals: [...REFUSALS, 'WebhookNotFound', 'WebhookUrlNotAllowed'],
      async handle({ tenant, params }) {
        requireOwn(tenant, params.id);
        return json(200, deliveryBody(await webhooks.test(tenant, webhookId(params.webhookId))));
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/organizations/{id}/deliveries',
      summary: 'Lists calls of webhooks, newest first.',
      params: idParams,
      query: members({
        webhookId: uuid.optional(),
        status: queryWord(DELIVERY_STATUSES),
        limit: paging.limit,
        offset: paging.offset,
      }),
      responses: { 200: pageShape(deliveryShape) },
      refusals: [...REFUSALS, 'WebhookNotFound'],
      async handle({ tenant, params, query }) {
        requireOwn(tenant, params.id);
        const { limit, offset, status } = query;
        const webhook = query.webhookId === undefined ? undefined : webhookId(query.webhookId);
        const page = await webhooks.deliveries(tenant, { webhookId: webhook, status, limit, offset });
        return json(200, pageBody(page, deliveryBody));
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/organizations/{id}/deliveries/{deliveryId}/resend',
      summary: 'Makes a call again.',
      params: deliveryParams,
      responses: { 200: 'empty' },
      refusals: [...REFUSALS, 'DeliveryNotFound'],
      async handle({ tenant, params }) {
        requireOwn(tenant, params.id);
        await webhooks.resend(tenant, params.deliveryId);
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/organizations/{id}/deliveries/replay',
      summary: 'Makes the calls of a period again.',
      params: idParams,
      body: members({ from: moment, to: end, failedOnly: maybeFlag }),
      responses: { 200: z.strictObject({ count: z.int() }) },
      refusals: [...REFUSALS, 'LimitExceeded'],
      async handle({ tenant, params, body }) {
        requireOwn(tenant, params.id);
        const { from, to } = body;
        const { count } = await webhooks.replay(tenant, { from, to, failedOnly: body.failedOnly ?? false });
        return json(200, { count });
      },
    }),
  ];
}

/** Refusals: `OrganizationNotFound` for any but the key's own. */
export function requireOwn(tenant: Tenant, organization: string): void {
  if (organizationId(organization) !== tenant.organization.id) {
    throw new PortalRefusal('OrganizationNotFound');
  }
}

export function webhookBody(webhook: WebhookView): z.infer<typeof webhookShape> {
  const { id: webhookId, url, authType, isSigned, isDisabled, disabledReason } = webhook;
  return { id: webhookId, url, authType, isSigned, isDisabled, disabledReason };
}

function deliveryBody(delivery: DeliveryView): z.infer<typeof deliveryShape> {
  return {
    id: delivery.id,
    webhookId: delivery.webhookId,
    documentId: delivery.documentId,
    type: delivery.type,
    sequence: delivery.sequence,
    status: delivery.status,
    creationDate: written(delivery.createdAt),
    nextTryDate: writtenOrNull(delivery.nextTryAt),
    body: delivery.body,
    attempts: delivery.attempts.map(({ at, url, status, ms, error, response }) => ({
      date: written(at),
      url,
      status,
      milliseconds: ms,
      error,
      response,
    })),
  };
}
