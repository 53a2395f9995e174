/** Body of a webhook call for the end of a job. Source: docs/webhooks.md; Standard Webhooks specification 1.0, "Payload". */

import type { Millis } from '../../../machines/ids.ts';
import type { JobActor } from '../job-records/job-index.ts';
import { jobDetail } from '../job-records/job-view.ts';
import type { JobEventType } from './job-webhook.ts';

/** UTF-8 JSON. `data` has the members of `GET /api/jobs/{id}` without `history`. */
export function jobEventBody(type: JobEventType, job: JobActor): string {
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
