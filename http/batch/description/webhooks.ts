/** Payloads of the webhooks of the batch service. Source: docs/webhooks.md, "Ends of jobs". */
import { z } from 'zod';
import type { WebhookDescriptions } from '../../core/openapi/webhooks.ts';
import { jobDetailShape } from '../shapes.ts';

function jobEvent(type: string, summary: string) {
  const payload = z.strictObject({
    type: z.literal(type).describe('Type of the event.'),
    timestamp: z.iso.datetime({ precision: 3 }).describe('End of the job.'),
    data: jobDetailShape.omit({ history: true }).describe('The job as in `GET /api/jobs/{id}`.'),
  });
  return {
    summary,
    description: 'For webhooks of `Notifications:Webhooks` whose `Events` name it, or that have none.',
    payload,
  };
}

export const BATCH_WEBHOOKS: WebhookDescriptions = {
  JobCompleted: jobEvent('JobCompleted', 'A job was signed and published.'),
  JobFailed: jobEvent('JobFailed', 'A job failed.'),
  JobCanceled: jobEvent('JobCanceled', 'A job was canceled.'),
};
