/** Makes one attempt for the delivery of a job's end. */

import { type Clock, type EffectHandler, Fatal } from '@sealwright/runtime';
import type { CallJobWebhookEffect } from '../../../machines/batch/job-webhook.ts';
import type { AttemptedMessage } from '../../../machines/delivery-queue.ts';
import {
  attemptWebhook,
  notAttempted,
  WEBHOOK_TIME_LIMIT_MS,
} from '../../shared/webhooks/webhook-attempt.ts';
import type { WebhookCaller } from '../../shared/webhooks/webhook-port.ts';
import type { BatchObserver } from '../api/batch-observer.ts';
import { JOB_DELIVERY } from './job-deliveries.ts';
import type { JobWebhook } from './job-webhook.ts';

/** Calls at once, of all webhooks and of one. */
const CONCURRENCY = 64;
const CONCURRENCY_PER_WEBHOOK = 8;

export interface CallJobWebhookDependencies {
  readonly clock: Pick<Clock, 'now' | 'elapsed'>;
  readonly webhooks: readonly JobWebhook[];
  readonly caller: WebhookCaller;
  readonly observer: Pick<BatchObserver, 'webhookCalled'>;
}

export function callJobWebhookHandler(
  dependencies: CallJobWebhookDependencies,
): EffectHandler<CallJobWebhookEffect> {
  const { webhooks, caller, clock, observer } = dependencies;
  return {
    after: 'durable',
    timeLimitMs: WEBHOOK_TIME_LIMIT_MS,
    partitioning: {
      atOnce: CONCURRENCY,
      perPartition: CONCURRENCY_PER_WEBHOOK,
      partitionOf: ({ webhookId }) => webhookId,
    },
    async run({ webhookId, deliveryId }, { actor, signal }, { system }): Promise<AttemptedMessage> {
      const queue = (await system.read({ kind: JOB_DELIVERY, id: actor.id }))?.context;
      const delivery = queue?.deliveries.find(({ id }) => id === deliveryId);
      if (delivery === undefined) throw new Fatal('internal', 'The delivery is gone.');
      const webhook = webhooks.find(({ id }) => id === webhookId);
      if (webhook === undefined)
        return notAttempted(
          deliveryId,
          'gone',
          'The configuration does not name the webhook any more.',
          clock.now(),
        );
      const { url, secret } = webhook;
      const endpoint = { url, secret, authType: 'NoAuth', token: null, fromOperator: true } as const;
      const result = await attemptWebhook(endpoint, delivery, { caller, clock, signal });
      observer.webhookCalled(result.outcome === 'delivered');
      return { type: 'ATTEMPTED', id: deliveryId, ...result };
    },
    failed: ({ deliveryId }, { code, message }) =>
      notAttempted(deliveryId, 'failed', `${code}: ${message}`, clock.now()),
  };
}
