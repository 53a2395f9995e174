/**
 * `/api/webhooks`: calls of webhooks for the ends of jobs, and sending them again.
 *
 * Source: docs/webhooks.md.
 */
import { z } from 'zod';
import {
  DELIVERY_STATUSES,
  type WebhookDeliveries,
  type WebhookDeliveryView,
} from '../../../actors/batch/api/webhooks.ts';
import { json } from '../../core/reply.ts';
import { type AnyRoute, route } from '../../core/router.ts';
import { AT, JOB_ID } from '../description/example-values.ts';
import { type SharedAnswers, sharedVersion } from '../inspection/shared-answers.ts';
import { deliveryQuery, moment, noBody, noParams, noQuery } from '../queries.ts';
import { isoTime, timestamp } from '../shapes.ts';

const webhookDeliveryShape = z
  .strictObject({
    id: z.string().describe('Also the `webhook-id` of every attempt.'),
    url: z.string().nullable().describe('Null when the configuration does not name the webhook any more.'),
    jobId: z.guid(),
    type: z.string(),
    status: z.enum(DELIVERY_STATUSES),
    createdAt: timestamp,
    nextAttemptAt: timestamp.nullable(),
    body: z.string().describe('What is sent, byte for byte.'),
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
  })
  .meta({ id: 'WebhookDelivery' });

const webhookDeliveryListShape = z
  .strictObject({
    items: z.array(webhookDeliveryShape),
    page: z.int(),
    pageSize: z.int(),
    totalCount: z.int(),
  })
  .meta({ id: 'WebhookDeliveryList' });

const webhookReplayShape = z
  .strictObject({
    count: z.int().min(0).describe('Deliveries that are sent again.'),
    complete: z.boolean().describe('False: there are more in the range. Ask again.'),
  })
  .meta({ id: 'WebhookReplay' });

const replayBody = z.strictObject({
  from: moment.nullish(),
  to: moment.nullish().meta({
    description: 'Last end of a job, included, ISO 8601. Absent: up to now.',
    exampleValue: '2026-05-27T00:00:00Z',
  }),
  failedOnly: z.boolean({ error: 'must be true or false' }).default(true),
});

const COMMON = {
  auth: 'operator',
  headers: [],
  invalidInput: {
    params: 'webhook.delivery-not-found',
    query: 'validation.filter-invalid',
    body: 'validation.body-invalid',
  },
} as const;

const DELIVERY = {
  id: `5c0c1f0d7be1a2f4.${JOB_ID}`,
  url: 'https://hooks.example.com/jobs',
  jobId: JOB_ID,
  type: 'JobCompleted',
  status: 'Delivered',
  body: '{"type":"JobCompleted","timestamp":"2026-05-26T15:42:11.123Z","data":{}}',
  createdAt: AT,
  nextAttemptAt: null,
  attempts: [
    {
      at: AT,
      url: 'https://hooks.example.com/jobs',
      status: 204,
      milliseconds: 18,
      error: null,
      response: '',
    },
  ],
};

export function webhookRoutes(deliveries: WebhookDeliveries, shared: SharedAnswers): readonly AnyRoute[] {
  return [
    route({
      ...COMMON,
      method: 'GET',
      path: '/api/webhooks/deliveries',
      group: 'System',
      summary: 'Lists calls of webhooks for the ends of jobs, newest first.',
      description:
        'Calls of the webhooks of `Notifications:Webhooks`. Those that ended are kept for 7 days. `pageSize` above 200 is lowered to 200.',
      rate: 'none',
      bodyPolicy: 'none',
      params: noParams,
      query: deliveryQuery.extend({ version: sharedVersion }),
      body: noBody,
      responses: { 200: webhookDeliveryListShape },
      examples: { responses: { 200: { items: [DELIVERY], page: 1, pageSize: 50, totalCount: 1 } } },
      refusals: ['validation.filter-invalid'],
      handle: ({ query: { version, ...query } }) =>
        shared.answer(version, ['deliveries', query], async () => {
          const { page, pageSize } = query;
          const { items, totalCount } = await deliveries.list(query);
          return { items: items.map(deliveryBody), page, pageSize, totalCount };
        }),
    }),
    route({
      ...COMMON,
      method: 'POST',
      path: '/api/webhooks/deliveries/{id}/resend',
      group: 'System',
      summary: 'Sends a delivery again.',
      description:
        'With the same id and body. A delivery that ended is pending again, with ten attempts; one that waits for its next attempt is attempted now.',
      rate: 'actions',
      bodyPolicy: 'none',
      params: z.object({ id: z.string().max(64) }),
      query: noQuery,
      body: noBody,
      responses: { 202: webhookDeliveryShape },
      examples: { responses: { 202: { ...DELIVERY, status: 'Pending', nextAttemptAt: AT } } },
      refusals: ['webhook.delivery-not-found', 'service.busy'],
      handle: async ({ params }) => json(202, deliveryBody(await deliveries.resend(params.id))),
    }),
    route({
      ...COMMON,
      method: 'POST',
      path: '/api/webhooks/replay',
      group: 'System',
      summary: 'Sends deliveries of a range of time again.',
      description:
        'Those of jobs that ended from `from` to `to`, both included; left out: without a bound. `failedOnly` false sends those again too that were delivered. At most 10,000 in one request, oldest first; `complete` is false when there are more, and the next request goes on with the failed ones that are left.',
      rate: 'actions',
      bodyPolicy: 'json',
      params: noParams,
      query: noQuery,
      body: replayBody,
      responses: { 202: webhookReplayShape },
      examples: {
        request: { from: '2026-05-26T00:00:00Z', failedOnly: true },
        responses: { 202: { count: 12, complete: true } },
      },
      refusals: ['validation.body-invalid', 'service.busy'],
      async handle({ body: { from, to, failedOnly } }) {
        const range = { from: from ?? 0, to: to ?? Number.MAX_SAFE_INTEGER, failedOnly };
        return json(202, { ...(await deliveries.replay(range)) });
      },
    }),
  ];
}

function deliveryBody(delivery: WebhookDeliveryView): z.infer<typeof webhookDeliveryShape> {
  const { id, url, jobId, type, status, createdAt, nextAttemptAt, body, attempts } = delivery;
  return {
    ...{ id, url, jobId, type, status, body },
    createdAt: isoTime(createdAt),
    nextAttemptAt: nextAttemptAt === null ? null : isoTime(nextAttemptAt),
    attempts: attempts.map(({ at, ms, ...attempt }) => ({ at: isoTime(at), milliseconds: ms, ...attempt })),
  };
}
