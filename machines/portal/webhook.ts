/**
 * The deliveries of one document to one webhook of its organization: a delivery queue (`delivery-queue.ts`) with the
 * effect `callWebhook`.
 *
 * Source: docs/portal-values.md §19; docs/decisions/0019-mails-and-webhooks.md.
 */
import {
  type DeliveryQueueContext,
  type DeliveryQueueInput,
  deliveryQueueMachine,
} from '../delivery-queue.ts';
import type { DocumentId, OrganizationId, WebhookId } from '../ids.ts';

/** Time for which ended deliveries stay on record, milliseconds. */
export const DELIVERY_RETENTION = 30 * 24 * 3_600_000;

interface DocumentDeliveries {
  readonly organizationId: OrganizationId;
  readonly webhookId: WebhookId;
  readonly documentId: DocumentId;
}

export type WebhookQueueInput = DeliveryQueueInput & DocumentDeliveries;
export type WebhookQueueContext = DeliveryQueueContext & DocumentDeliveries;

/** Its partition is the webhook: calls of different webhooks take turns. */
export interface CallWebhookEffect {
  readonly do: 'callWebhook';
  readonly organizationId: OrganizationId;
  readonly webhookId: WebhookId;
  /** One of the queue's deliveries. */
  readonly deliveryId: string;
}

export const webhookDeliveryMachine = deliveryQueueMachine<WebhookQueueContext>({
  id: 'webhook-lane',
  retention: DELIVERY_RETENTION,
  call: ({ organizationId, webhookId }, deliveryId): CallWebhookEffect => ({
    do: 'callWebhook',
    organizationId,
    webhookId,
    deliveryId,
  }),
});
