/** Stores the webhook deliveries of a job that ended: one for each webhook that is called for such an end. */

import { type EffectContext, Retryable } from '@sealwright/runtime';
import type { JobDeliveryInput } from '../../../machines/batch/job-webhook.ts';
import type { JobId, Millis } from '../../../machines/ids.ts';
import type { JobHandler } from '../effects/effect-handler.ts';
import type { JobActor } from '../job-records/job-index.ts';
import { jobDetail } from '../job-records/job-view.ts';
import { JOB } from '../job-records/kinds.ts';
import { jobDeliveryAddress, jobDeliveryId } from './job-deliveries.ts';
import { type JobEventType, type JobWebhook, jobEventType } from './job-webhook.ts';

/** A repeated run finds the deliveries of the first: each has the id of its webhook and job. */
export function enqueueWebhooksHandler(webhooks: readonly JobWebhook[]): JobHandler<'enqueueWebhooks'> {
  return {
    after: 'durable',
    async run(_, { actor }, context) {
      const job = await context.system.read({ kind: JOB, id: actor.id });
      const type = job && jobEventType(job.state);
      if (job !== undefined && type !== undefined)
        await Promise.all(
          webhooks
            .filter(({ events }) => events.includes(type))
            .map((webhook) => enqueue(webhook, type, job, context)),
        );
      return { type: 'WEBHOOKS_ENQUEUED' };
    },
  };
}

async function enqueue(
  webhook: JobWebhook,
  type: JobEventType,
  job: JobActor,
  { system, clock }: EffectContext,
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
  const created = await system.create(jobDeliveryAddress(webhook.id, jobId), input);
  if (created.accepted) return created.durable;
  if (created.reason === 'exists') return;
  throw new Retryable('webhook.not-stored', `The webhook delivery was refused: ${created.reason}.`);
}

/**
 * Body of a call: UTF-8 JSON. `data` has the members of `GET /api/jobs/{id}` without `history`.
 *
 * Source: docs/webhooks.md; Standard Webhooks specification 1.0, "Payload".
 */
function jobEventBody(type: JobEventType, job: JobActor): string {
  const { history: _, createdAt, updatedAt, queuedAt, awaitingSignerSince, ...detail } = jobDetail(job, []);
  const { endedAt } = job.context;
  return JSON.stringify({
    type,
    timestamp: isoTime(endedAt ?? updatedAt),
    data: {
      ...detail,
      createdAt: isoTime(createdAt),
      updatedAt: isoTime(updatedAt),
      queuedAt: isoTime(queuedAt),
      awaitingSignerSince: awaitingSignerSince === null ? null : isoTime(awaitingSignerSince),
    },
  });
}

function isoTime(at: Millis): string {
  return new Date(at).toISOString();
}
