/**
 * Bulk operations on jobs: retry, cancel, and clearing of finished jobs.
 *
 * Source: docs/batch-values.md §14; §15.
 */
import { z } from 'zod';
import type { BulkJobs, BulkQuery } from '../../actors/batch/api/bulk.ts';
import { REFUSALS, type RefusalCode } from '../../machines/refusals.ts';
import { json } from '../core/reply.ts';
import { type AnyRoute, route } from '../core/router.ts';
import { JOB_ID, OTHER_ID } from './description/example-values.ts';
import { checkReason, moment, noBody, noParams, noQuery, reasonBody } from './queries.ts';

/** Maximum number of jobs in one call. */
const MAX_COUNT = 1000;

const MAX_NAME = 1000;
const text = z
  .string({ error: 'must be a string' })
  .max(MAX_NAME, { error: `must be at most ${MAX_NAME} characters` })
  .trim();

const selection = {
  profile: text.min(1, { error: 'must not be empty' }).nullish(),
  errorCode: text.min(1, { error: 'must not be empty' }).nullish(),
  since: moment.nullish(),
  limit: z
    .int({ error: 'must be an integer' })
    .min(1, { error: 'must be at least 1' })
    .max(MAX_COUNT, { error: `must be at most ${MAX_COUNT}` })
    .default(MAX_COUNT),
  countOnly: z.boolean({ error: 'must be true or false' }).default(false),
};

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
  status: z.literal('Failed', { error: 'must be Failed' }).nullish(),
});

const cancelable = z.enum(['Queued', 'AwaitingSigner'], { error: 'must be Queued or AwaitingSigner' });

const cancelBody = closed({
  ...selection,
  status: z
    .union([cancelable, z.array(cancelable).max(16)], { error: 'must be Queued or AwaitingSigner' })
    .nullish(),
  reason: reasonBody.shape.reason,
});

const code = z.enum(Object.keys(REFUSALS) as [RefusalCode, ...RefusalCode[]]).nullable();

export const bulkRetryShape = z.strictObject({
  matched: z.int(),
  created: z.int(),
  skipped: z.int(),
  items: z.array(z.strictObject({ jobId: z.guid(), newJobId: z.guid().nullable(), code })),
});

export const bulkCancelShape = z.strictObject({
  matched: z.int(),
  canceled: z.int(),
  skipped: z.int(),
  items: z.array(z.strictObject({ jobId: z.guid(), code })),
});

export const clearShape = z.strictObject({ deleted: z.int(), skipped: z.int(), message: z.string() });

const COMMON = {
  auth: 'operator',
  rate: 'actions',
  headers: [],
  params: noParams,
  query: noQuery,
  invalidInput: {
    params: 'route.not-found',
    query: 'validation.filter-invalid',
    body: 'validation.body-invalid',
  },
} as const;

export function bulkRoutes(bulk: BulkJobs): readonly AnyRoute[] {
  return [
    route({
      ...COMMON,
      method: 'POST',
      path: '/api/jobs/retry',
      group: 'Jobs',
      summary: 'Retries failed jobs, oldest first, or counts them; a job whose retry exists is left to that.',
      description:
        'Acts on each job as a single request would; a job that cannot be changed is reported with its code, and the others continue. `countOnly` only counts. An unknown member is refused, because it would widen the selection.',
      bodyPolicy: 'json',
      body: retryBody,
      responses: { 200: bulkRetryShape },
      examples: {
        request: {
          status: 'Failed',
          errorCode: 'remote.unreachable',
          since: '2026-05-26T00:00:00Z',
          limit: 100,
        },
        responses: {
          200: {
            matched: 1,
            created: 1,
            skipped: 0,
            items: [{ jobId: JOB_ID, newJobId: OTHER_ID, code: null }],
          },
        },
      },
      refusals: ['validation.body-invalid', 'service.busy'],
      async handle({ body, names }) {
        const { requestId, traceId } = names();
        const request = { RequestId: requestId, TraceId: traceId };
        const { matched, done, skipped, items } = await bulk.retryMany({ ...queryOf(body), request });
        return json(200, { matched, created: done, skipped, items });
      },
    }),
    route({
      ...COMMON,
      method: 'POST',
      path: '/api/jobs/cancel',
      group: 'Jobs',
      summary: 'Cancels queued and waiting jobs, oldest first, or counts them.',
      description:
        'Acts on each job as a single request would; a job that cannot be changed is reported with its code, and the others continue. `countOnly` only counts.',
      bodyPolicy: 'json',
      body: cancelBody,
      responses: { 200: bulkCancelShape },
      examples: {
        request: { status: ['Queued'], profile: 'contracts', reason: 'wrong batch' },
        responses: {
          200: { matched: 1, canceled: 0, skipped: 1, items: [{ jobId: JOB_ID, code: 'job.race-lost' }] },
        },
      },
      refusals: ['validation.reason-too-long', 'validation.body-invalid', 'service.busy'],
      async handle({ body, names }) {
        const { requestId, traceId } = names();
        checkReason(body.reason);
        const statuses = [body.status ?? []].flat();
        const { matched, done, skipped, items } = await bulk.cancelMany(
          { ...queryOf(body), statuses, request: { RequestId: requestId, TraceId: traceId } },
          body.reason,
        );
        return json(200, {
          matched,
          canceled: done,
          skipped,
          items: items.map((item) => ({ jobId: item.jobId, code: item.code })),
        });
      },
    }),
    route({
      ...COMMON,
      method: 'DELETE',
      path: '/api/jobs',
      group: 'Jobs',
      summary: 'Forgets finished jobs with their history; their files stay.',
      description:
        'Deletes jobs that are Completed, Failed or Canceled, in batches. Their files stay, and the watcher does not enqueue a canceled or failed input again. Jobs with files still to be moved, and those with a valid upload key, are skipped.',
      bodyPolicy: 'none',
      body: noBody,
      responses: { 200: clearShape },
      examples: {
        responses: {
          200: { deleted: 1280, skipped: 3, message: '1280 finished jobs were forgotten; 3 jobs stay.' },
        },
      },
      refusals: ['service.busy'],
      async handle() {
        const { deleted, skipped } = await bulk.clear();
        const message = `${deleted} finished jobs were forgotten; ${skipped} jobs stay.`;
        return json(200, { deleted, skipped, message });
      },
    }),
  ];
}

function queryOf(body: {
  readonly profile?: string | null | undefined;
  readonly errorCode?: string | null | undefined;
  readonly since?: number | null | undefined;
  readonly limit: number;
  readonly countOnly: boolean;
}): BulkQuery {
  return {
    profile: body.profile ?? undefined,
    errorCode: body.errorCode ?? undefined,
    since: body.since ?? undefined,
    limit: body.limit,
    countOnly: body.countOnly,
  };
}
