/**
 * The delivery of a job's end to one webhook. The states and transitions are those of `delivery-queue.ts`, with the
 * effect `callJobWebhook`, and `recordEvent` for a delivery that is given up.
 *
 * Source: docs/webhooks.md; docs/batch-values.md §15.
 */
import {
  type DeliveryQueueContext,
  type DeliveryQueueInput,
  deliveryQueueMachine,
} from '../delivery-queue.ts';
import type { JobId } from '../ids.ts';
import type { RecordEffect } from './system-event.ts';

/** Time for which an ended delivery stays on record, milliseconds. */
const JOB_DELIVERY_RETENTION = 7 * 24 * 3_600_000;

/** Code of the system event of a delivery that failed for good. */
const UNDELIVERED_CODE = 'webhook.undelivered';

interface JobDelivery {
  /** Of a configured webhook; see `JobWebhook.id`. */
  readonly webhookId: string;
  readonly jobId: JobId;
}

export type JobDeliveryInput = DeliveryQueueInput & JobDelivery;
export type JobDeliveryContext = DeliveryQueueContext & JobDelivery;

export interface CallJobWebhookEffect {
  readonly do: 'callJobWebhook';
  readonly webhookId: string;
  readonly deliveryId: string;
}

export const jobDeliveryMachine = deliveryQueueMachine<JobDeliveryContext>({
  id: 'job-webhook',
  retention: JOB_DELIVERY_RETENTION,
  call: ({ webhookId }, deliveryId): CallJobWebhookEffect => ({
    do: 'callJobWebhook',
    webhookId,
    deliveryId,
  }),
  failed({ jobId }, { id, type, attempts, endedAt }): RecordEffect {
    const last = attempts.at(-1);
    const reason = last?.error ?? 'No attempt was made.';
    return {
      do: 'recordEvent',
      kind: 'WebhookFailed',
      at: endedAt ?? 0,
      actor: 'system',
      jobId,
      code: UNDELIVERED_CODE,
      message: `The webhook call ${type} of the job was given up after ${attempts.length} attempts: ${reason} Send it again with POST /api/webhooks/deliveries/${id}/resend.`,
    };
  },
});
