/** Webhooks that the configuration names for the ends of jobs. Source: docs/webhooks.md. */
import { createHash } from 'node:crypto';
import type { JobState } from '../../../machines/batch/job-context.ts';

/** Ends of jobs that webhooks are called for, by state. */
const JOB_EVENT_TYPES = {
  Completed: 'JobCompleted',
  Failed: 'JobFailed',
  Canceled: 'JobCanceled',
} as const satisfies { readonly [state in JobState]?: string };

export type JobEventType = (typeof JOB_EVENT_TYPES)[keyof typeof JOB_EVENT_TYPES];

/** One entry of `Notifications:Webhooks`. */
export interface JobWebhookOptions {
  readonly url: string;
  /** `whsec_…`. */
  readonly secret: string;
  readonly previousSecret?: string | undefined;
  readonly events: readonly JobEventType[];
}

export interface JobWebhook extends JobWebhookOptions {
  /** Follows from the URL, so that it is the same at every start: 16 hex digits. */
  readonly id: string;
}

export function jobWebhooks(options: readonly JobWebhookOptions[]): readonly JobWebhook[] {
  return options.map((webhook) => ({
    ...webhook,
    id: createHash('sha256').update(webhook.url).digest('hex').slice(0, 16),
  }));
}

/** The type of the event of a job that ended in the state; undefined for a job that has not ended. */
export function jobEventType(state: string): JobEventType | undefined {
  return (JOB_EVENT_TYPES as { readonly [state: string]: JobEventType | undefined })[state];
}
