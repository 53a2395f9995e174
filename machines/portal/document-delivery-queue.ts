/**
 * The deliveries of one document to one webhook of its organization: a delivery queue (`delivery-queue.ts`) with the
 * effect `callWebhook`.
 *
 * Source: docs/portal-values.md §19; docs/decisions/0019-mails-and-webhooks.md.
 */
import { declareEffect } from '@sealwright/runtime/actions';
import {
  type AttemptedMessage,
  type DeliveryQueueContext,
  type DeliveryQueueInput,
  deliveryQueueMachine,
} from '../delivery-queue.ts';
import type { DocumentId, OrganizationId, WebhookId } from '../ids.ts';

/** Time for which ended deliveries stay on record, milliseconds. */
export const DELIVERY_RETENTION_MS = 30 * 24 * 3_600_000;

interface DocumentDeliveries {
  readonly organizationId: OrganizationId;
  readonly webhookId: WebhookId;
  readonly documentId: DocumentId;
}

export type WebhookQueueInput = DeliveryQueueInput & DocumentDeliveries;
export type WebhookQueueContext = DeliveryQueueContext & DocumentDeliveries;

export interface WebhookCall {
  readonly organizationId: OrganizationId;
  readonly webhookId: WebhookId;
  /** One of the queue's deliveries. */
  readonly deliveryId: string;
}

/** Calls the webhook of the delivery that is next in its queue. A receiver that does not answer takes no more than its share. */
export const callWebhook = declareEffect('callWebhook', {
  types: {} as { input: WebhookCall; outcome: AttemptedMessage },
  partitioning: { atOnce: 64, perPartition: 8, partitionOf: ({ webhookId }) => webhookId },
});

export const webhookDeliveryMachine = deliveryQueueMachine<WebhookQueueContext, WebhookCall>({
  id: 'webhook-lane',
  retention: DELIVERY_RETENTION_MS,
  call: callWebhook,
  callOf: ({ organizationId, webhookId }, deliveryId) => ({ organizationId, webhookId, deliveryId }),
});
