/** Webhooks for ended jobs: handlers of their effects, and queries about deliveries. */

import { accepted, Fatal, type HandledEffect, Retryable } from '@sealwright/runtime';
import { JOB_WEBHOOKS } from '../../../contracts/batch/webhooks.ts';
import { encoderOf } from '../../../contracts/encoder.ts';
import type { JobDeliveryInput } from '../../../machines/batch/job-delivery-queue.ts';
import { callJobWebhook, type JobWebhookCall } from '../../../machines/batch/job-delivery-queue.ts';
import { enqueueWebhooks } from '../../../machines/batch/job-effects.ts';
import type { AttemptedMessage } from '../../../machines/delivery-queue.ts';
import type { JobId } from '../../../machines/ids.ts';
import { finalErrors } from '../../shared/failures/final-errors.ts';
import { createHttpWebhookCaller } from '../../shared/webhooks/http-webhook.ts';
import {
  attemptWebhook,
  notAttempted,
  WEBHOOK_TIME_LIMIT_MS,
} from '../../shared/webhooks/webhook-attempt.ts';
import type { WebhookCaller } from '../../shared/webhooks/webhook-port.ts';
import type { BatchRuntime } from '../job-records/job-counts.ts';
import type { JobActor } from '../job-records/job-index.ts';
import { jobDetail } from '../job-records/job-view.ts';
import { JOB } from '../job-records/kinds.ts';
import { JOB_DELIVERY, JobDeliveries, jobDeliveryActor, jobDeliveryId } from './job-deliveries.ts';
import {
  type JobEventType,
  type JobWebhook,
  type JobWebhookOptions,
  jobEventType,
  jobWebhooks,
} from './job-webhook.ts';

/** Port for metrics. */
export interface WebhookObserver {
  /** A webhook was called for the end of a job. @param delivered false when another attempt is needed */
  webhookCalled(delivered: boolean): void;
}

type WebhookRuntime = Pick<BatchRuntime, 'actors' | 'store' | 'clock'>;

export class JobWebhooks {
  /** True: jobs that are made from now on are announced when they end. */
  readonly areConfigured: boolean;
  readonly handlers: readonly HandledEffect<unknown>[];
  readonly deliveries: JobDeliveries;
  readonly #caller: ReturnType<typeof createHttpWebhookCaller>;

  /** @param options `Notifications:Webhooks` */
  constructor(options: readonly JobWebhookOptions[], runtime: WebhookRuntime, observer: WebhookObserver) {
    const webhooks = jobWebhooks(options);
    const caller = createHttpWebhookCaller({ clock: runtime.clock, allowPrivate: true });
    this.areConfigured = webhooks.length > 0;
    this.handlers = [
      enqueueWebhooksHandler(webhooks, runtime),
      callJobWebhookHandler(runtime, webhooks, caller, observer),
    ];
    this.#caller = caller;
    this.deliveries = new JobDeliveries(runtime, webhooks);
  }

  /** Closes connections; calls in progress fail and are repeated after the next start. */
  close(): void {
    this.#caller.close();
  }
}

function callJobWebhookHandler(
  { actors, clock }: WebhookRuntime,
  webhooks: readonly JobWebhook[],
  caller: WebhookCaller,
  observer: WebhookObserver,
) {
  return callJobWebhook.handledBy({
    timeoutMs: WEBHOOK_TIME_LIMIT_MS,
    // The queue has the schedule of the attempts.
    run: finalErrors(async ({ webhookId, deliveryId }: JobWebhookCall, { actor, signal }) => {
      const queue = (await actors.read(JOB_DELIVERY, actor.id))?.context;
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
      const { url, secret, previousSecret } = webhook;
      const endpoint = {
        url,
        secret,
        previousSecret,
        authType: 'NoAuth',
        token: null,
        fromOperator: true,
      } as const;
      const result = await attemptWebhook(endpoint, delivery, { caller, clock, signal });
      observer.webhookCalled(result.outcome === 'delivered');
      return { type: 'ATTEMPTED', id: deliveryId, ...result } satisfies AttemptedMessage;
    }),
    failed: ({ deliveryId }, { code, message }) =>
      notAttempted(deliveryId, 'failed', `${code}: ${message}`, clock.now()),
  });
}

/** A repeated run finds the deliveries of the first: each has the id of its webhook and job. */
function enqueueWebhooksHandler(webhooks: readonly JobWebhook[], runtime: WebhookRuntime) {
  return enqueueWebhooks.handledBy({
    async run(_, { actor }) {
      const job = await runtime.actors.read(JOB, actor.id);
      const type = job && jobEventType(job.state);
      if (job !== undefined && type !== undefined)
        await Promise.all(
          webhooks
            .filter(({ events }) => events.includes(type))
            .map((webhook) => enqueue(webhook, type, job, runtime)),
        );
      return { type: 'WEBHOOKS_ENQUEUED' };
    },
  });
}

async function enqueue(
  webhook: JobWebhook,
  type: JobEventType,
  job: JobActor,
  { actors, clock }: WebhookRuntime,
): Promise<void> {
  const jobId = job.id as JobId;
  const { endedAt, updatedAt } = job.context;
  const input: JobDeliveryInput = {
    webhookId: webhook.id,
    jobId,
    deliveries: [
      {
        id: jobDeliveryId(webhook.id, jobId),
        type,
        sequence: 1,
        body: jobEventBody(type, job),
        createdAt: endedAt ?? updatedAt,
        notBefore: 0,
      },
    ],
    at: clock.now(),
  };
  await accepted(actors.create(JOB_DELIVERY, jobDeliveryActor(webhook.id, jobId), input), ({ reason }) =>
    reason === 'exists'
      ? undefined
      : new Retryable('webhook.not-stored', `The webhook delivery was refused: ${reason}.`),
  );
}

const ENCODERS = new Map(
  Object.entries(JOB_WEBHOOKS).map(([type, { payload }]) => [type, encoderOf(payload)]),
);

/**
 * Body of a call: UTF-8 JSON. `data` has the members of `GET /api/jobs/{id}` without `history`.
 *
 * Source: docs/webhooks.md; Standard Webhooks specification 1.0, "Payload".
 */
function jobEventBody(type: JobEventType, job: JobActor): string {
  const timestamp = job.context.endedAt ?? job.context.updatedAt;
  return JSON.stringify(ENCODERS.get(type)?.({ type, timestamp, data: jobDetail(job, []) }));
}
