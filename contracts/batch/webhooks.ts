/** Calls of webhooks for the ends of jobs, and those of the portal, for operators. Source: docs/webhooks.md. */
import { z } from 'zod';
import { DELIVERY_STATUSES } from '../deliveries.ts';
import { entity, parts, shown, time } from '../fields.ts';
import type { Value } from '../operation.ts';
import { AT, JOB_ID, OTHER_ID } from './examples.ts';
import { jobDetail, jobId } from './jobs.ts';
import { resent } from './mails.ts';
import { operationsOf } from './operation.ts';
import { moment, oneOf, pageOf, paging, sharedQuery, sharedVersion } from './requests.ts';

const DELIVERY_ID = 'Id of the delivery, from `GET /api/webhooks/deliveries`.';

const deliveryQuery = z.object({ status: oneOf(DELIVERY_STATUSES), ...paging, version: sharedVersion });

const attempts = parts('Calls that were made, oldest first; at most ten.', {
  at: time.describe('Time of it, UTC.'),
  url: shown(z.string(), 'Address of the receiver.', 'https://hooks.example.com/jobs'),
  status: shown(z.int().nullable(), 'HTTP status of the receiver. Null: there was no answer.', 204),
  milliseconds: shown(z.number(), 'Duration of the call.', 18),
  error: shown(z.string().nullable(), 'Why it failed. Null: it did not.', 'connect ECONNREFUSED'),
  response: shown(z.string().nullable(), 'First 1,000 characters of the answer. Null: none.', 'ok'),
});

const webhookDelivery = entity('WebhookDelivery', {
  id: shown(z.string(), 'Also the `webhook-id` of every attempt.', JOB_ID),
  url: shown(
    z.string().nullable(),
    'Null when the configuration does not name the webhook any more.',
    'https://hooks.example.com/jobs',
  ),
  jobId: shown(jobId, 'Job this is about. Null: none.', JOB_ID),
  type: shown(z.string(), 'Type of the event.', 'JobCompleted'),
  status: z.enum(DELIVERY_STATUSES).describe('State of it.'),
  createdAt: time.describe('Time at which it was made, UTC.'),
  nextAttemptAt: time.nullable().describe('Time of the next attempt. Null: none is planned.'),
  body: shown(z.string(), 'What is sent, byte for byte.', '{"type":"JobCompleted","data":{}}'),
  attempts,
});

const webhookReplay = entity('WebhookReplay', {
  count: shown(z.int().min(0), 'Deliveries that are sent again.', 3),
  complete: shown(z.boolean(), 'False: there are more in the range. Ask again.', true),
});

const replayBody = entity('WebhookReplayRequest', {
  from: shown(
    moment.nullish(),
    'First end of a job, included, ISO 8601. Absent: from the beginning.',
    '2026-05-26T00:00:00Z',
  ),
  to: shown(
    moment.nullish(),
    'Last end of a job, included, ISO 8601. Absent: up to now.',
    '2026-05-27T00:00:00Z',
  ),
  failedOnly: z
    .boolean({ error: 'must be true or false' })
    .default(true)
    .describe('Whether only failed deliveries are sent again.'),
});

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

const operation = operationsOf({ group: 'System', unknown: 'webhook.delivery-not-found' });

export const listDeliveries = operation('GET /api/webhooks/deliveries', {
  summary: 'Lists calls of webhooks for the ends of jobs, newest first.',
  description:
    'Calls of the webhooks of `Notifications:Webhooks`. Those that ended are kept for 7 days. `pageSize` above 200 is lowered to 200.',
  query: deliveryQuery,
  reply: pageOf(webhookDelivery).meta({ id: 'WebhookDeliveryList' }),
  examples: { reply: { items: [DELIVERY], page: 1, pageSize: 50, totalCount: 1 } },
  refusals: ['validation.filter-invalid'],
});

export const resendDelivery = operation('POST /api/webhooks/deliveries/{id}/resend', {
  summary: 'Sends a delivery again.',
  description:
    'With the same id and body. A delivery that ended is pending again, with ten attempts; one that waits for its next attempt is attempted now.',
  rate: 'actions',
  params: z.object({ id: shown(z.string().max(64).toLowerCase(), DELIVERY_ID, DELIVERY.id) }),
  status: 202,
  reply: webhookDelivery,
  examples: { reply: { ...DELIVERY, status: 'Pending', nextAttemptAt: AT } },
  refusals: ['webhook.delivery-not-found', 'service.busy'],
});

export const replayDeliveries = operation('POST /api/webhooks/replay', {
  summary: 'Sends deliveries of a range of time again.',
  description:
    'Those of jobs that ended from `from` to `to`, both included; left out: without a bound. `failedOnly` false sends those again too that were delivered. At most 10,000 in one request, oldest first; `complete` is false when there are more, and the next request goes on with the failed ones that are left.',
  rate: 'actions',
  body: replayBody,
  status: 202,
  reply: webhookReplay,
  examples: {
    request: { from: '2026-05-26T00:00:00Z', failedOnly: true },
    reply: { count: 12, complete: true },
  },
  refusals: ['validation.body-invalid', 'service.busy'],
});

const MAX_ORGANIZATIONS = 200;

const portalOrganizations = entity('PortalWebhookOrganizations', {
  items: z
    .array(
      z.strictObject({
        id: shown(z.guid(), 'Identifier.', JOB_ID),
        name: shown(z.string(), 'Name of it in the configuration or the program.', 'node-1'),
        pending: shown(z.int(), 'Events that wait for their call.', 1),
        delivered: shown(z.int(), 'Events that the receiver has accepted.', 12),
        failed: shown(z.int(), 'Jobs that failed.', 4),
      }),
    )
    .max(MAX_ORGANIZATIONS)
    .describe('Entries of this page.'),
});

const portalDelivery = z.strictObject({
  id: shown(z.string(), 'Identifier.', JOB_ID),
  webhookId: shown(z.guid(), 'Webhook that is called.', JOB_ID),
  documentId: shown(z.guid().nullable(), 'Document that the mail is about. Null: none.', JOB_ID),
  type: shown(z.string(), 'Type of the event.', 'JobCompleted'),
  sequence: shown(z.int(), 'Number of the event among those of its document, from 1.', 3),
  status: z.enum(DELIVERY_STATUSES).describe('State of it.'),
  createdAt: time.describe('Time at which it was made, UTC.'),
  nextAttemptAt: time.nullable().describe('Time of the next attempt. Null: none is planned.'),
  attempts,
});

const organizationParams = z.object({
  organizationId: shown(z.string().max(64).toLowerCase(), 'Organization of the portal.', JOB_ID),
});

const deliveryParams = organizationParams.extend({
  id: shown(z.string().max(100).toLowerCase(), DELIVERY_ID, `${OTHER_ID}.${JOB_ID}.1`),
});

export const listPortalOrganizations = operation('GET /api/webhooks/portal', {
  summary: "Lists the portal's organizations with webhook deliveries, those with most failures first.",
  description:
    'Counts of the last 30 days by state. At most 200 organizations. Only where the portal is served.',
  query: sharedQuery,
  reply: portalOrganizations,
  examples: {
    reply: { items: [{ id: OTHER_ID, name: 'Acme', pending: 1, delivered: 40, failed: 2 }] },
  },
});

export const listPortalDeliveries = operation('GET /api/webhooks/portal/{organizationId}/deliveries', {
  summary: 'Lists the webhook deliveries of an organization, newest first.',
  description:
    'With attempts and responses, without the bodies, which name participants. `pageSize` above 200 is lowered to 200. Empty for an unknown organization.',
  params: organizationParams,
  query: deliveryQuery,
  reply: pageOf(portalDelivery).meta({ id: 'PortalWebhookDeliveryList' }),
  examples: {
    reply: {
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
  refusals: ['validation.filter-invalid'],
});

export const resendPortalDelivery = operation(
  'POST /api/webhooks/portal/{organizationId}/deliveries/{id}/resend',
  {
    summary: 'Sends a delivery of an organization again.',
    description: 'With the same id and body. The journal of the organization names the operator.',
    rate: 'actions',
    params: deliveryParams,
    status: 202,
    reply: resent,
    examples: { reply: { id: `${OTHER_ID}.${JOB_ID}.1` } },
    refusals: ['webhook.delivery-not-found', 'service.busy'],
  },
);

export type WebhookDeliveryView = Value<typeof webhookDelivery>;

function jobEvent(type: string, summary: string) {
  const payload = z.strictObject({
    type: z.literal(type).describe('Type of the event.'),
    timestamp: time.describe('End of the job.'),
    data: jobDetail.omit({ history: true }).describe('The job as in `GET /api/jobs/{id}`.'),
  });
  return {
    summary,
    description: 'For webhooks of `Notifications:Webhooks` whose `Events` name it, or that have none.',
    payload,
  };
}

/** Payloads of the webhooks for ends of jobs. Source: docs/webhooks.md. */
export const JOB_WEBHOOKS = {
  JobCompleted: jobEvent('JobCompleted', 'A job was signed and published.'),
  JobFailed: jobEvent('JobFailed', 'A job failed.'),
  JobCanceled: jobEvent('JobCanceled', 'A job was canceled.'),
};
