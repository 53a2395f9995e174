/**
 * Webhooks of the organization, and the log of their deliveries.
 *
 * Source: docs/portal-values.md §19; the rest is additional.
 */

import { z } from 'zod';
import type {
  DeliveryView,
  PortalWebhooks,
  Tenant,
  WebhookInput,
  WebhookView,
} from '../../../actors/portal/api.ts';
import {
  end,
  id,
  list,
  maybeFlag,
  maybeText,
  members,
  moment,
  text,
  uuid,
  word,
} from '../../../contracts/fields.ts';
import { pageOf, paging, queryWord } from '../../../contracts/portal/lists.ts';
import { isoTime, isoTimeOrNull } from '../../../contracts/times.ts';
import { PortalRefusal, type PortalRefusalCode } from '../../../machines/portal/portal-refusals.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { DELIVERY_STATUSES, EVENT_TYPES, WEBHOOK_AUTH_TYPES } from '../input/enumerations.ts';
import { idParams, organizationId, webhookId, webhookParams } from '../input/ids.ts';
import { DONE, portalRoute } from '../route.ts';
import { pageBody, timestamp } from '../shapes/shared-shapes.ts';

export const webhookShape = z
  .strictObject({
    id,
    url: z.string(),
    authType: z.enum(WEBHOOK_AUTH_TYPES),
    isSigned: z.boolean().describe('Calls carry Standard Webhooks headers.'),
    isDisabled: z.boolean().describe('Nothing is sent to it any more. Replacing it (PUT) enables it again.'),
    disabledReason: z.string().nullable(),
    events: z
      .array(z.enum(EVENT_TYPES))
      .nullable()
      .describe(
        'Types of events that it receives; null = all but DocumentOpened, DocumentViewed, DocumentReminded, DocumentExpiring and MailFailed.',
      ),
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
  token: maybeText.meta({
    description:
      'Value sent in the header of `authType`. Required unless `authType` is `NoAuth`; `PUT` replaces the registered one.',
    exampleValue: 'Zm9vOmJhcg==',
  }),
  secret: maybeText,
  events: list(word(EVENT_TYPES)).nullish(),
}).transform(({ url, authType, token, secret, events }): WebhookInput => {
  return {
    url,
    authType: authType ?? 'NoAuth',
    ...(typeof token === 'string' && { token }),
    ...(typeof secret === 'string' && { secret }),
    ...(events && { events: [...new Set(events)] }),
  };
});

const from = moment.meta({
  description: 'Time of the first event, included, ISO 8601; in UTC without a zone.',
  exampleValue: '2026-05-26T00:00:00Z',
});
const to = end.meta({
  description: 'Time of the last event, included, ISO 8601; a day means its end.',
  exampleValue: '2026-05-27',
});

const REFUSALS = ['OrganizationNotFound'] as const satisfies readonly PortalRefusalCode[];
const deliveryParams = z.object({ id: z.string(), deliveryId: z.string() });

const WEBHOOK = {
  url: 'https://hooks.example.com/portal',
  authType: 'NoAuth',
  events: ['DocumentConcluded'],
};

export function webhookRoutes(webhooks: PortalWebhooks): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'GET',
      path: '/api/organizations/{id}/webhooks',
      group: 'Organizations',
      summary: 'Lists the webhooks of the organization.',
      description:
        'A disabled webhook has the reason. Secrets and tokens are not returned. The session of a user needs the role administrator.',
      scope: 'Read',
      sessionScope: 'Administer',
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
      group: 'Organizations',
      summary: 'Registers a webhook.',
      description:
        'The service calls it for each event of the types in `events`; without `events`, of all types but the optional ones (see `events` of the reply). Calls are signed when `secret` is given. An organization has at most five webhooks (`MaxWebhooksLimitReached`). `WebhookUrlNotAllowed`: the service may not call this URL, for example because its address is private.',
      scope: 'Administer',
      params: idParams,
      body: webhookInput,
      responses: { 200: webhookShape },
      examples: { request: WEBHOOK },
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
      group: 'Organizations',
      summary: 'Changes a webhook, and enables it again.',
      description:
        'Replaces the whole registration. A webhook that was disabled because its receiver answered 410 is called again. `WebhookUrlNotAllowed`: the service may not call this URL, for example because its address is private.',
      scope: 'Administer',
      params: webhookParams,
      body: webhookInput,
      responses: { 200: webhookShape },
      examples: { request: WEBHOOK },
      refusals: [...REFUSALS, 'WebhookNotFound', 'WebhookUrlNotAllowed'],
      async handle({ tenant, params, body }) {
        requireOwn(tenant, params.id);
        return json(200, webhookBody(await webhooks.replace(tenant, webhookId(params.webhookId), body)));
      },
    }),
    portalRoute({
      method: 'DELETE',
      path: '/api/organizations/{id}/webhooks/{webhookId}',
      group: 'Organizations',
      summary: 'Removes a webhook.',
      description: 'It is not called any more. `WebhookNotFound`: the organization has no such webhook.',
      scope: 'Administer',
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
      group: 'Organizations',
      summary: 'Sends a test event to a webhook and returns the response.',
      description:
        'Waits at most 10 seconds for the receiver, and returns the attempt with its status and response. A failed attempt is not repeated.',
      scope: 'Administer',
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
      group: 'Organizations',
      summary: 'Lists deliveries of webhooks, newest first.',
      description:
        'Contains the attempts of each delivery: time, URL, status and the first 1,000 characters of the response. Ended deliveries are kept for 30 days. The session of a user needs the role administrator.',
      scope: 'Read',
      sessionScope: 'Administer',
      params: idParams,
      query: members({
        webhookId: uuid.optional(),
        status: queryWord(DELIVERY_STATUSES),
        limit: paging.limit,
        offset: paging.offset,
      }),
      responses: { 200: pageOf(deliveryShape) },
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
      group: 'Organizations',
      summary: 'Sends a delivery again.',
      description:
        'The id and the body are the same, so that the receiver can recognize it. A delivery that waits for its next attempt is sent now.',
      scope: 'Administer',
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
      group: 'Organizations',
      summary: 'Sends the deliveries of a period again.',
      description:
        'Sends the ended deliveries of events from `from` to `to`, with `failedOnly` only those that failed. `count` is their number. Id and body are the same as before.',
      scope: 'Administer',
      params: idParams,
      body: members({ from, to, failedOnly: maybeFlag }),
      responses: { 200: z.strictObject({ count: z.int() }) },
      examples: { request: { from: '2026-05-26T00:00:00Z', to: '2026-05-27T00:00:00Z', failedOnly: true } },
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
  const { id: webhookId, url, authType, isSigned, isDisabled, disabledReason, events } = webhook;
  const named = events === null ? null : EVENT_TYPES.filter((type) => events.includes(type));
  return { id: webhookId, url, authType, isSigned, isDisabled, disabledReason, events: named };
}

function deliveryBody(delivery: DeliveryView): z.infer<typeof deliveryShape> {
  return {
    id: delivery.id,
    webhookId: delivery.webhookId,
    documentId: delivery.documentId,
    type: delivery.type,
    sequence: delivery.sequence,
    status: delivery.status,
    creationDate: isoTime(delivery.createdAt),
    nextTryDate: isoTimeOrNull(delivery.nextTryAt),
    body: delivery.body,
    attempts: delivery.attempts.map(({ at, url, status, ms, error, response }) => ({
      date: isoTime(at),
      url,
      status,
      milliseconds: ms,
      error,
      response,
    })),
  };
}
