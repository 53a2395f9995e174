/**
 * The delivery of a job's end to one webhook. The states and transitions are those of `delivery-queue.ts`, with the
 * effect `callJobWebhook`, and `recordEvent` for a delivery that is given up.
 *
 * Source: docs/webhooks.md; docs/batch-values.md §15.
 */
import { declareEffect } from '@sealwright/runtime/actions';
import {
  type AttemptedMessage,
  type DeliveryQueueContext,
  type DeliveryQueueInput,
  deliveryQueueMachine,
} from '../delivery-queue.ts';
import type { JobId } from '../ids.ts';
import { recordEvent, type SystemEventContext } from './system-event.ts';

/** Time for which an ended delivery stays on record, milliseconds. */
const JOB_DELIVERY_RETENTION_MS = 7 * 24 * 3_600_000;

/** Code of the system event of a delivery that failed for good. */
const UNDELIVERED_CODE = 'webhook.undelivered';

interface JobDelivery {
  /** Of a configured webhook; see `JobWebhook.id`. */
  readonly webhookId: string;
  readonly jobId: JobId;
}

export type JobDeliveryInput = DeliveryQueueInput & JobDelivery;
export type JobDeliveryContext = DeliveryQueueContext & JobDelivery;

export interface JobWebhookCall {
  readonly webhookId: string;
  readonly deliveryId: string;
}

/** Calls the webhook of the delivery that is next in its queue. Webhooks take turns. */
export const callJobWebhook = declareEffect('callJobWebhook', {
  types: {} as { input: JobWebhookCall; outcome: AttemptedMessage },
  partitioning: { atOnce: 64, perPartition: 8, partitionOf: ({ webhookId }) => webhookId },
});

export const jobDeliveryMachine = deliveryQueueMachine<
  JobDeliveryContext,
  JobWebhookCall,
  SystemEventContext
>({
  id: 'job-webhook',
  retention: JOB_DELIVERY_RETENTION_MS,
  call: callJobWebhook,
  callOf: ({ webhookId }, deliveryId) => ({ webhookId, deliveryId }),
  failed: recordEvent,
  failedOf({ jobId }, { id, type, attempts, endedAt }) {
    const last = attempts.at(-1);
    const reason = last?.error ?? 'No attempt was made.';
    return {
      kind: 'WebhookFailed',
      at: endedAt ?? 0,
      actor: 'system',
      jobId,
      code: UNDELIVERED_CODE,
      message: `The webhook call ${type} of the job was given up after ${attempts.length} attempts: ${reason} Send it again with POST /api/webhooks/deliveries/${id}/resend.`,
    };
  },
});
