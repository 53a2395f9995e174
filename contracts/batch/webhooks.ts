/** Calls of webhooks for the ends of jobs, and those of the portal, for operators. Source: docs/webhooks.md. */
import { z } from 'zod';
import { DELIVERY_STATUSES } from '../deliveries.ts';
import { time } from '../fields.ts';
import type { Value } from '../operation.ts';
import { AT, JOB_ID, OTHER_ID } from './examples.ts';
import { jobId } from './jobs.ts';
import { resent } from './mails.ts';
import { operation } from './operation.ts';
import { moment, oneOf, pageOf, paging, sharedQuery, sharedVersion } from './requests.ts';

const DELIVERY_ID = 'Id of the delivery, from `GET /api/webhooks/deliveries`.';

const deliveryQuery = z.object({ status: oneOf(DELIVERY_STATUSES), ...paging, version: sharedVersion });

const webhookDelivery = z
  .strictObject({
    id: z.string().meta({ description: 'Also the `webhook-id` of every attempt.', exampleValue: JOB_ID }),
    url: z.string().nullable().meta({
      description: 'Null when the configuration does not name the webhook any more.',
      exampleValue: 'https://hooks.example.com/jobs',
    }),
    jobId: jobId.meta({
      description: 'Job this is about. Null: none.',
      exampleValue: JOB_ID,
    }),
    type: z.string().meta({ description: 'Type of the event.', exampleValue: 'JobCompleted' }),
    status: z.enum(DELIVERY_STATUSES).meta({ description: 'State of it.' }),
    createdAt: time.meta({ description: 'Time at which it was made, UTC.' }),
    nextAttemptAt: time.nullable().meta({ description: 'Time of the next attempt. Null: none is planned.' }),
    body: z.string().meta({
      description: 'What is sent, byte for byte.',
      exampleValue: '{"type":"JobCompleted","data":{}}',
    }),
    attempts: z
      .array(
        z.strictObject({
          at: time.meta({ description: 'Time of it, UTC.' }),
          url: z.string().meta({
            description: 'Address of the receiver.',
            exampleValue: 'https://hooks.example.com/jobs',
          }),
          status: z.int().nullable().meta({
            description: 'HTTP status of the receiver. Null: there was no answer.',
            exampleValue: 204,
          }),
          milliseconds: z.number().meta({ description: 'Duration of the call.', exampleValue: 18 }),
          error: z
            .string()
            .nullable()
            .meta({ description: 'Why it failed. Null: it did not.', exampleValue: 'connect ECONNREFUSED' }),
          response: z
            .string()
            .nullable()
            .meta({ description: 'First 1,000 characters of the answer. Null: none.', exampleValue: 'ok' }),
        }),
      )
      .meta({ description: 'Calls that were made, oldest first; at most ten.' }),
  })
  .meta({ id: 'WebhookDelivery' });

const webhookReplay = z
  .strictObject({
    count: z.int().min(0).meta({ description: 'Deliveries that are sent again.', exampleValue: 3 }),
    complete: z
      .boolean()
      .meta({ description: 'False: there are more in the range. Ask again.', exampleValue: true }),
  })
  .meta({ id: 'WebhookReplay' });

const replayBody = z
  .strictObject({
    from: moment.nullish().meta({
      description: 'First end of a job, included, ISO 8601. Absent: from the beginning.',
      exampleValue: '2026-05-26T00:00:00Z',
    }),
    to: moment.nullish().meta({
      description: 'Last end of a job, included, ISO 8601. Absent: up to now.',
      exampleValue: '2026-05-27T00:00:00Z',
    }),
    failedOnly: z
      .boolean({ error: 'must be true or false' })
      .default(true)
      .meta({ description: 'Whether only failed deliveries are sent again.' }),
  })
  .meta({ id: 'WebhookReplayRequest' });

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

export const listDeliveries = operation({
  unknown: 'webhook.delivery-not-found',
  method: 'GET',
  path: '/api/webhooks/deliveries',
  group: 'System',
  summary: 'Lists calls of webhooks for the ends of jobs, newest first.',
  description:
    'Calls of the webhooks of `Notifications:Webhooks`. Those that ended are kept for 7 days. `pageSize` above 200 is lowered to 200.',
  query: deliveryQuery,
  reply: pageOf(webhookDelivery).meta({ id: 'WebhookDeliveryList' }),
  examples: { responses: { 200: { items: [DELIVERY], page: 1, pageSize: 50, totalCount: 1 } } },
  refusals: ['validation.filter-invalid'],
});

export const resendDelivery = operation({
  unknown: 'webhook.delivery-not-found',
  method: 'POST',
  path: '/api/webhooks/deliveries/{id}/resend',
  group: 'System',
  summary: 'Sends a delivery again.',
  description:
    'With the same id and body. A delivery that ended is pending again, with ten attempts; one that waits for its next attempt is attempted now.',
  rate: 'actions',
  params: z.object({ id: z.string().max(64).describe(DELIVERY_ID) }),
  status: 202,
  reply: webhookDelivery,
  examples: { responses: { 202: { ...DELIVERY, status: 'Pending', nextAttemptAt: AT } } },
  refusals: ['webhook.delivery-not-found', 'service.busy'],
});

export const replayDeliveries = operation({
  unknown: 'webhook.delivery-not-found',
  method: 'POST',
  path: '/api/webhooks/replay',
  group: 'System',
  summary: 'Sends deliveries of a range of time again.',
  description:
    'Those of jobs that ended from `from` to `to`, both included; left out: without a bound. `failedOnly` false sends those again too that were delivered. At most 10,000 in one request, oldest first; `complete` is false when there are more, and the next request goes on with the failed ones that are left.',
  rate: 'actions',
  body: replayBody,
  status: 202,
  reply: webhookReplay,
  examples: {
    request: { from: '2026-05-26T00:00:00Z', failedOnly: true },
    responses: { 202: { count: 12, complete: true } },
  },
  refusals: ['validation.body-invalid', 'service.busy'],
});

const MAX_ORGANIZATIONS = 200;

const portalOrganizations = z
  .strictObject({
    items: z
      .array(
        z.strictObject({
          id: z.guid().meta({ description: 'Identifier.', exampleValue: JOB_ID }),
          name: z
            .string()
            .meta({ description: 'Name of it in the configuration or the program.', exampleValue: 'node-1' }),
          pending: z.int().meta({ description: 'Events that wait for their call.', exampleValue: 1 }),
          delivered: z
            .int()
            .meta({ description: 'Events that the receiver has accepted.', exampleValue: 12 }),
          failed: z.int().meta({ description: 'Jobs that failed.', exampleValue: 4 }),
        }),
      )
      .max(MAX_ORGANIZATIONS)
      .meta({ description: 'Entries of this page.' }),
  })
  .meta({ id: 'PortalWebhookOrganizations' });

const portalDelivery = z.strictObject({
  id: z.string().meta({ description: 'Identifier.', exampleValue: JOB_ID }),
  webhookId: z.guid().meta({ description: 'Webhook that is called.', exampleValue: JOB_ID }),
  documentId: z.guid().nullable().meta({
    description: 'Document that the mail is about. Null: none.',
    exampleValue: JOB_ID,
  }),
  type: z.string().meta({ description: 'Type of the event.', exampleValue: 'JobCompleted' }),
  sequence: z
    .int()
    .meta({ description: 'Number of the event among those of its document, from 1.', exampleValue: 3 }),
  status: z.enum(DELIVERY_STATUSES).meta({ description: 'State of it.' }),
  createdAt: time.meta({ description: 'Time at which it was made, UTC.' }),
  nextAttemptAt: time.nullable().meta({ description: 'Time of the next attempt. Null: none is planned.' }),
  attempts: z
    .array(
      z.strictObject({
        at: time.meta({ description: 'Time of it, UTC.' }),
        url: z
          .string()
          .meta({ description: 'Address of the receiver.', exampleValue: 'https://hooks.example.com/jobs' }),
        status: z.int().nullable().meta({
          description: 'HTTP status of the receiver. Null: there was no answer.',
          exampleValue: 204,
        }),
        milliseconds: z.number().meta({ description: 'Duration of the call.', exampleValue: 18 }),
        error: z
          .string()
          .nullable()
          .meta({ description: 'Why it failed. Null: it did not.', exampleValue: 'connect ECONNREFUSED' }),
        response: z
          .string()
          .nullable()
          .meta({ description: 'First 1,000 characters of the answer. Null: none.', exampleValue: 'ok' }),
      }),
    )
    .meta({ description: 'Calls that were made, oldest first; at most ten.' }),
});

const organizationParams = z.object({
  organizationId: z
    .string()
    .max(64)
    .meta({ description: 'Organization of the portal.', exampleValue: JOB_ID }),
});

const deliveryParams = organizationParams.extend({ id: z.string().max(100).describe(DELIVERY_ID) });

export const listPortalOrganizations = operation({
  unknown: 'webhook.delivery-not-found',
  method: 'GET',
  path: '/api/webhooks/portal',
  group: 'System',
  summary: "Lists the portal's organizations with webhook deliveries, those with most failures first.",
  description:
    'Counts of the last 30 days by state. At most 200 organizations. Only where the portal is served.',
  query: sharedQuery,
  reply: portalOrganizations,
  examples: {
    responses: {
      200: { items: [{ id: OTHER_ID, name: 'Acme', pending: 1, delivered: 40, failed: 2 }] },
    },
  },
  refusals: [],
});

export const listPortalDeliveries = operation({
  unknown: 'webhook.delivery-not-found',
  method: 'GET',
  path: '/api/webhooks/portal/{organizationId}/deliveries',
  group: 'System',
  summary: 'Lists the webhook deliveries of an organization, newest first.',
  description:
    'With attempts and responses, without the bodies, which name participants. `pageSize` above 200 is lowered to 200. Empty for an unknown organization.',
  params: organizationParams,
  query: deliveryQuery,
  reply: pageOf(portalDelivery).meta({ id: 'PortalWebhookDeliveryList' }),
  examples: {
    responses: {
      200: {
        items: [
          {
            id: `${OTHER_ID}.${JOB_ID}.1`,
            webhookId: OTHER_ID,
            documentId: JOB_ID,
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
});

export const resendPortalDelivery = operation({
  unknown: 'webhook.delivery-not-found',
  method: 'POST',
  path: '/api/webhooks/portal/{organizationId}/deliveries/{id}/resend',
  group: 'System',
  summary: 'Sends a delivery of an organization again.',
  description: 'With the same id and body. The journal of the organization names the operator.',
  rate: 'actions',
  params: deliveryParams,
  status: 202,
  reply: resent,
  examples: { responses: { 202: { id: `${OTHER_ID}.${JOB_ID}.1` } } },
  refusals: ['webhook.delivery-not-found', 'service.busy'],
});

export type WebhookDeliveryView = Value<typeof webhookDelivery>;
