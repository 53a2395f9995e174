/** Makes one attempt for the delivery that is next in a delivery queue. */

import { type EffectHandler, Fatal } from '@sealwright/runtime';
import type { AttemptedMessage } from '../../../machines/delivery-queue.ts';
import type { CallWebhookEffect } from '../../../machines/portal/webhook.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import {
  attemptWebhook,
  notAttempted,
  WEBHOOK_TIME_LIMIT_MS,
} from '../../shared/webhooks/webhook-attempt.ts';
import type { WebhookCaller } from '../../shared/webhooks/webhook-port.ts';
import { WEBHOOK_DELIVERY_QUEUE } from './deliveries.ts';
import type { WebhookRegistry } from './webhooks.ts';

/** Calls at once, of all webhooks and of one. A receiver that does not answer takes no more than its own. */
const CONCURRENCY = 64;
const CONCURRENCY_PER_ORGANIZATION = 8;

export function callWebhookHandler(
  { system, clock }: Pick<ServiceRuntime, 'system' | 'clock'>,
  registry: WebhookRegistry,
  caller: WebhookCaller,
): EffectHandler<CallWebhookEffect> {
  const nothingTried = (id: string, outcome: AttemptedMessage['outcome'], error: string) =>
    notAttempted(id, outcome, error, clock.now());
  return {
    after: 'durable',
    timeLimitMs: WEBHOOK_TIME_LIMIT_MS,
    partitioning: {
      atOnce: CONCURRENCY,
      perPartition: CONCURRENCY_PER_ORGANIZATION,
      partitionOf: ({ webhookId }) => webhookId,
    },
    async run({ organizationId, webhookId, deliveryId }, { actor, signal }): Promise<AttemptedMessage> {
      const queue = (await system.read({ kind: WEBHOOK_DELIVERY_QUEUE, id: actor.id }))?.context;
      const delivery = queue?.deliveries.find(({ id }) => id === deliveryId);
      if (delivery === undefined) throw new Fatal('internal', 'The delivery is gone.');
      const webhook = await registry.open(organizationId, webhookId);
      if (webhook === undefined) return nothingTried(deliveryId, 'gone', 'The webhook was removed.');
      if (webhook.disabled) return nothingTried(deliveryId, 'gone', 'The webhook is disabled.');
      const { attempt, outcome, retryAfter } = await attemptWebhook(webhook, delivery, {
        caller,
        clock,
        signal,
      });
      if (outcome === 'gone')
        await registry.disable(organizationId, webhookId, 'The receiver answered with HTTP status 410.');
      return { type: 'ATTEMPTED', id: deliveryId, outcome, attempt, retryAfter };
    },
    // Such as a secret that was sealed under another key: it may be replaced, so the delivery is tried again.
    failed: ({ deliveryId }, { code, message }) => nothingTried(deliveryId, 'failed', `${code}: ${message}`),
  };
}
