/**
 * `/api/webhooks/portal`: webhook deliveries of the portal's organizations, for operators. Bodies are not shown: they
 * name participants.
 */

import { z } from 'zod';
import type { OperatorWebhooks } from '../../../actors/portal/api.ts';
import { DELIVERY_STATUSES } from '../../../contracts/portal/webhooks.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { Refusal } from '../../../machines/refusals.ts';
import { json } from '../../core/reply.ts';
import { type AnyRoute, route } from '../../core/router.ts';
import { AT } from '../description/example-values.ts';
import { type SharedAnswers, sharedQuery, sharedVersion } from '../inspection/shared-answers.ts';
import { deliveryQuery, noBody, noParams, noQuery } from '../queries.ts';
import { isoTime, timestamp } from '../shapes.ts';

const MAX_ORGANIZATIONS = 200;

const organizationsShape = z
  .strictObject({
    items: z
      .array(
        z.strictObject({
          id: z.guid(),
          name: z.string(),
          pending: z.int(),
          delivered: z.int(),
          failed: z.int(),
        }),
      )
      .max(MAX_ORGANIZATIONS),
  })
  .meta({ id: 'PortalWebhookOrganizations' });

const deliveryShape = z.strictObject({
  id: z.string(),
  webhookId: z.guid(),
  documentId: z.guid().nullable(),
  type: z.string(),
  sequence: z.int(),
  status: z.enum(DELIVERY_STATUSES),
  createdAt: timestamp,
  nextAttemptAt: timestamp.nullable(),
  attempts: z.array(
    z.strictObject({
      at: timestamp,
      url: z.string(),
      status: z.int().nullable(),
      milliseconds: z.number(),
      error: z.string().nullable(),
      response: z.string().nullable(),
    }),
  ),
});

const deliveryListShape = z
  .strictObject({ items: z.array(deliveryShape), page: z.int(), pageSize: z.int(), totalCount: z.int() })
  .meta({ id: 'PortalWebhookDeliveryList' });

const organizationParams = z.object({ organizationId: z.string().max(64) });
const deliveryParams = z.object({ organizationId: z.string().max(64), id: z.string().max(100) });

const COMMON = {
  auth: 'operator',
  headers: [],
  bodyPolicy: 'none',
  body: noBody,
  invalidInput: {
    params: 'webhook.delivery-not-found',
    query: 'validation.filter-invalid',
    body: 'validation.body-invalid',
  },
} as const;

const ORGANIZATION = '6f2b8e14-93c7-4d5a-b0e1-7a4c2d9f8b36';

const DOCUMENT = '0d9a7c3e-5b1f-4a6d-8c2e-1f3b5d7a9c0e';

export function portalWebhookRoutes(webhooks: OperatorWebhooks, shared: SharedAnswers): readonly AnyRoute[] {
  return [
    route({
      ...COMMON,
      method: 'GET',
      path: '/api/webhooks/portal',
      group: 'System',
      summary: "Lists the portal's organizations with webhook deliveries, those with most failures first.",
      description:
        'Counts of the last 30 days by state. At most 200 organizations. Only where the portal is served.',
      rate: 'none',
      params: noParams,
      query: sharedQuery,
      responses: { 200: organizationsShape },
      examples: {
        responses: {
          200: { items: [{ id: ORGANIZATION, name: 'Acme', pending: 1, delivered: 40, failed: 2 }] },
        },
      },
      refusals: [],
      handle: ({ query: { version } }) =>
        shared.answer(version, ['portal-webhooks'], async () => {
          const items = (await webhooks.organizations()).map(({ id, name, counts }) => ({
            ...{ id, name, pending: counts.Pending, delivered: counts.Delivered, failed: counts.Failed },
          }));
          return { items };
        }),
    }),
    route({
      ...COMMON,
      method: 'GET',
      path: '/api/webhooks/portal/{organizationId}/deliveries',
      group: 'System',
      summary: 'Lists the webhook deliveries of an organization, newest first.',
      description:
        'With attempts and responses, without the bodies, which name participants. `pageSize` above 200 is lowered to 200. Empty for an unknown organization.',
      rate: 'none',
      params: organizationParams,
      query: deliveryQuery.extend({ version: sharedVersion }),
      responses: { 200: deliveryListShape },
      examples: {
        responses: {
          200: {
            items: [
              {
                id: `${ORGANIZATION}.${DOCUMENT}.1`,
                webhookId: ORGANIZATION,
                documentId: DOCUMENT,
                type: 'DocumentConcluded',
                sequence: 1,
                status: 'Pending',
                createdAt: AT,
                nextAttemptAt: AT,
                attempts: [],
              },
            ],
            page: 1,
            pageSize: 50,
            totalCount: 1,
          },
        },
      },
      refusals: ['validation.filter-invalid'],
      handle: ({ params: { organizationId }, query: { status, page, pageSize, version } }) =>
        shared.answer(
          version,
          ['portal-deliveries', organizationId, { status, page, pageSize }],
          async () => {
            const place = { status, limit: pageSize, offset: page - 1 };
            const { items, totalCount } = await webhooks.deliveriesOf(organizationId, place);
            const shown = items.map(({ creationDate, nextTryDate, attempts, ...delivery }) => ({
              ...delivery,
              createdAt: isoTime(creationDate),
              nextAttemptAt: nextTryDate === null ? null : isoTime(nextTryDate),
              attempts: attempts.map(({ date, ...attempt }) => ({ at: isoTime(date), ...attempt })),
            }));
            return { items: shown, page, pageSize, totalCount };
          },
        ),
    }),
    route({
      ...COMMON,
      method: 'POST',
      path: '/api/webhooks/portal/{organizationId}/deliveries/{id}/resend',
      group: 'System',
      summary: 'Sends a delivery of an organization again.',
      description: 'With the same id and body. The journal of the organization names the operator.',
      rate: 'actions',
      params: deliveryParams,
      query: noQuery,
      responses: { 202: z.strictObject({ id: z.string() }) },
      examples: { responses: { 202: { id: `${ORGANIZATION}.${DOCUMENT}.1` } } },
      refusals: ['webhook.delivery-not-found', 'service.busy'],
      async handle({ params: { organizationId, id }, identity }) {
        try {
          await webhooks.resendOf(organizationId, id, identity?.operator ?? '');
        } catch (error) {
          if (!(error instanceof PortalRefusal) || error.code !== 'DeliveryNotFound') throw error;
          throw new Refusal('webhook.delivery-not-found', 'The organization has no such delivery.');
        }
        return json(202, { id });
      },
    }),
  ];
}
