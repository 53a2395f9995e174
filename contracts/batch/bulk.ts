/** Bulk operations on jobs: retry, cancel, and clearing of finished jobs. Source: docs/batch-values.md §14; §15. */
import { z } from 'zod';
import { entity, parts, shown } from '../fields.ts';
import { AT, JOB_ID, OTHER_ID } from './examples.ts';
import { jobId } from './jobs.ts';
import { operationsOf } from './operation.ts';
import { REFUSALS, type RefusalCode } from './refusals.ts';
import { moment, reason } from './requests.ts';
import { ACTION_STATES } from './words.ts';

/** Maximum number of jobs in one call. */
const MAX_COUNT = 1000;

const MAX_NAME = 1000;

const text = z
  .string({ error: 'must be a string' })
  .max(MAX_NAME, { error: `must be at most ${MAX_NAME} characters` })
  .trim();

const selection = {
  profile: shown(
    text.min(1, { error: 'must not be empty' }).nullish(),
    'Signature profile. Null: any.',
    'contracts',
  ),
  errorCode: shown(
    text.min(1, { error: 'must not be empty' }).nullish(),
    'Error that ended the job. Null: none, or any.',
    'pdf.malformed',
  ),
  since: shown(moment.nullish(), 'Time from which this holds or is counted.', AT),
  limit: shown(
    z
      .int({ error: 'must be an integer' })
      .min(1, { error: 'must be at least 1' })
      .max(MAX_COUNT, { error: `must be at most ${MAX_COUNT}` })
      .default(MAX_COUNT),
    'Most jobs of one call.',
    1000,
  ),
  countOnly: z
    .boolean({ error: 'must be true or false' })
    .default(false)
    .describe('Whether the jobs are counted and nothing is changed.'),
};

/** Keyword of the description. */
const NO_OTHERS = { additionalProperties: false };

/** A misspelt member would widen the selection, so unknown members are refused. */
function closed<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.looseObject(shape).superRefine((body, context) => {
    for (const name of Object.keys(body)) {
      if (Object.hasOwn(shape, name)) continue;
      context.addIssue({ code: 'custom', path: [name], message: 'is not known here' });
    }
  });
}

const retryBody = closed({
  ...selection,
  status: z.literal('Failed', { error: 'must be Failed' }).nullish().describe('State of it.'),
}).meta({ id: 'BulkRetryRequest', ...NO_OTHERS });

const CANCELABLE = `must be ${ACTION_STATES.cancel.join(' or ')}`;
const cancelable = z.enum(ACTION_STATES.cancel, { error: CANCELABLE });

const cancelBody = closed({
  ...selection,
  status: z
    .union([cancelable, z.array(cancelable).max(16)], { error: CANCELABLE })
    .nullish()
    .describe('State of it.'),
  reason,
}).meta({ id: 'BulkCancellationRequest', ...NO_OTHERS });

const matched = shown(z.int(), 'Jobs that the filter found.', 12000);
const skipped = shown(z.int(), 'Jobs that could not be changed.', 3);
const changedJob = shown(jobId, 'Job this is about. Null: none.', JOB_ID);
const code = z
  .enum(Object.keys(REFUSALS) as [RefusalCode, ...RefusalCode[]])
  .nullable()
  .describe('Error in one word, for programs. It is never renamed. Null: no error.');

const bulkRetry = entity('BulkRetry', {
  matched,
  created: shown(z.int(), 'New jobs.', 1),
  skipped,
  items: parts('Entries of this page.', {
    jobId: changedJob,
    newJobId: shown(jobId.nullable(), 'The new job. Null: none was made.', OTHER_ID),
    code,
  }),
});

const bulkCancel = entity('BulkCancellation', {
  matched,
  canceled: shown(z.int(), 'Jobs that were canceled.', 1),
  skipped,
  items: parts('Entries of this page.', {
    jobId: changedJob,
    code,
  }),
});

const clearing = entity('Clearing', {
  deleted: shown(z.int(), 'Jobs that were deleted. Their files stay.', 1280),
  skipped,
  message: shown(z.string(), 'What happened, for people. The text may change.', 'Verified and published.'),
});

const operation = operationsOf({ group: 'Jobs' });

export const retryJobs = operation('POST /api/jobs/retry', {
  rate: 'actions',
  summary: 'Retries failed jobs, oldest first, or counts them; a job whose retry exists is left to that.',
  description:
    'Acts on each job as a single request would; a job that cannot be changed is reported with its code, and the others continue. `countOnly` only counts. An unknown member is refused, because it would widen the selection.',
  body: retryBody,
  reply: bulkRetry,
  examples: {
    request: {
      status: 'Failed',
      errorCode: 'remote.unreachable',
      since: '2026-05-26T00:00:00Z',
      limit: 100,
    },
    reply: {
      matched: 1,
      created: 1,
      skipped: 0,
      items: [{ jobId: JOB_ID, newJobId: OTHER_ID, code: null }],
    },
  },
  refusals: ['validation.body-invalid', 'service.busy'],
});

export const cancelJobs = operation('POST /api/jobs/cancel', {
  rate: 'actions',
  summary: 'Cancels queued and waiting jobs, oldest first, or counts them.',
  description:
    'Acts on each job as a single request would; a job that cannot be changed is reported with its code, and the others continue. `countOnly` only counts.',
  body: cancelBody,
  reply: bulkCancel,
  examples: {
    request: { status: ['Queued'], profile: 'contracts', reason: 'wrong batch' },
    reply: { matched: 1, canceled: 0, skipped: 1, items: [{ jobId: JOB_ID, code: 'job.race-lost' }] },
  },
  refusals: ['validation.reason-too-long', 'validation.body-invalid', 'service.busy'],
});

export const clearJobs = operation('DELETE /api/jobs', {
  rate: 'actions',
  summary: 'Forgets finished jobs with their history; their files stay.',
  description:
    'Deletes jobs that are Completed, Failed or Canceled, in batches. Their files stay, and the watcher does not enqueue a canceled or failed input again. Jobs with files still to be moved, and those with a valid upload key, are skipped.',
  reply: clearing,
  examples: {
    reply: {
      deleted: 1280,
      skipped: 3,
      message:
        'Finished jobs forgotten: 1280. 3 stay: their files are still moved, or their upload keys hold.',
    },
  },
  refusals: ['service.busy'],
});
