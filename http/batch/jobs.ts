/**
 * `/api/jobs` and its subresources.
 *
 * Source: docs/batch-values.md §0, §3 and §4.
 */
import type { JobDetail, Jobs } from '../../actors/batch/api/jobs.ts';
import { type JobId, parseJobId } from '../../machines/ids.ts';
import { Refusal } from '../../machines/refusals.ts';
import { fileReply } from '../core/file-reply.ts';
import { cachedJson, type JsonReply, json } from '../core/reply.ts';
import { type AnyRoute, route } from '../core/router.ts';
import { JOB_BODY, JOB_DETAIL, JOB_ID, OTHER_ID } from './description/example-values.ts';
import { type SharedAnswers, sharedVersion } from './inspection/shared-answers.ts';
import { checkReason, jobListQuery, jobParams, noBody, noParams, noQuery, reasonBody } from './queries.ts';
import { cancelShape, jobBody, jobDetailBody, jobDetailShape, jobListShape, retryShape } from './shapes.ts';

const JOB_INVALID_INPUT = {
  params: 'job.not-found',
  query: 'validation.filter-invalid',
  body: 'validation.body-invalid',
} as const;

export function jobRoutes(jobs: Jobs, shared: SharedAnswers): readonly AnyRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/jobs',
      group: 'Jobs',
      summary: 'Lists jobs, newest first.',
      description:
        'Newest first; `totalCount` is exact. `status`, `format` and `source` may be repeated or separated by commas. `folder` is the name of an input folder or `(upload)`. `pageSize` above 200 is lowered to 200.',
      auth: 'operator',
      rate: 'none',
      bodyPolicy: 'none',
      headers: [],
      params: noParams,
      query: jobListQuery.extend({ version: sharedVersion }),
      body: noBody,
      invalidInput: JOB_INVALID_INPUT,
      responses: { 200: jobListShape },
      examples: { responses: { 200: { items: [JOB_BODY], page: 1, pageSize: 50, totalCount: 1 } } },
      refusals: ['validation.filter-invalid'],
      async handle({ query }) {
        const { version, page, pageSize, status, format, source, ...more } = query;
        const filter = { statuses: status, formats: format, sources: source, ...more };
        return shared.answer(version, ['jobs', filter, page, pageSize], async () => {
          const { items, totalCount } = await jobs.list({ ...filter, page, pageSize });
          return { items: items.map(jobBody), page, pageSize, totalCount };
        });
      },
    }),
    route({
      method: 'GET',
      path: '/api/jobs/{id}',
      group: 'Jobs',
      summary: 'Shows one job with its history.',
      description: 'The history has one entry for each transition, oldest first.',
      auth: 'operator',
      rate: 'none',
      bodyPolicy: 'none',
      headers: [],
      params: jobParams,
      query: noQuery,
      body: noBody,
      invalidInput: JOB_INVALID_INPUT,
      responses: { 200: jobDetailShape },
      examples: {
        responses: {
          200: JOB_DETAIL,
        },
      },
      refusals: ['job.not-found'],
      handle({ params }) {
        const id = readId(params.id);
        const known = jobs.peek(id);
        if (known !== undefined) return storedReply(known);
        return jobs.get(id).then((job) => json(200, jobDetailBody(job)));
      },
    }),
    route({
      method: 'GET',
      path: '/api/jobs/{id}/output',
      group: 'Jobs',
      summary: 'Sends the signed file, whole or one range of it.',
      description:
        'As an attachment with its name. The `ETag` is the SHA-256 of the file. One range may be asked for; several are answered with the whole file.',
      auth: 'operator',
      rate: 'none',
      bodyPolicy: 'none',
      headers: ['range', 'if-range', 'if-none-match'],
      params: jobParams,
      query: noQuery,
      body: noBody,
      invalidInput: JOB_INVALID_INPUT,
      responses: { 200: 'file', 206: 'file' },
      refusals: ['job.not-found', 'job.output-unavailable', 'job.output-gone'],
      async handle({ params, header }) {
        const output = await jobs.output(readId(params.id));
        const gone = () => new Refusal('job.output-gone', 'The file is gone.');
        return fileReply(
          { ...output, etag: `"${output.sha256}"`, isRemoved: gone },
          { range: header('range'), ifRange: header('if-range'), ifNoneMatch: header('if-none-match') },
        );
      },
    }),
    route({
      method: 'POST',
      path: '/api/jobs/{id}/cancel',
      group: 'Jobs',
      summary: 'Cancels a job that is queued or waits for its signer.',
      description:
        'Only a job that is Queued or AwaitingSigner can be canceled. Its input file stays in place, and the watcher does not enqueue it again. For a waiting job the service then notifies the remote portal; the job stays canceled when the portal cannot be reached.',
      auth: 'operator',
      rate: 'actions',
      bodyPolicy: 'json',
      headers: [],
      params: jobParams,
      query: noQuery,
      body: reasonBody,
      invalidInput: JOB_INVALID_INPUT,
      responses: { 200: cancelShape },
      examples: {
        request: { reason: 'sent twice' },
        responses: { 200: { jobId: JOB_ID, status: 'Canceled' } },
      },
      refusals: [
        'job.not-found',
        'job.not-queued',
        'job.race-lost',
        'validation.reason-too-long',
        'validation.body-invalid',
        'service.busy',
      ],
      async handle({ params, body }) {
        const id = readId(params.id);
        checkReason(body.reason);
        const job = await jobs.cancel(id, body.reason);
        return json(200, { jobId: job.id, status: 'Canceled' });
      },
    }),
    route({
      method: 'POST',
      path: '/api/jobs/{id}/retry',
      group: 'Jobs',
      summary: 'Makes a new job of a failed one.',
      description:
        'The failed job stays Failed; the new one names it as its parent. The original input must still be there, and no active job may have it.',
      auth: 'operator',
      rate: 'actions',
      bodyPolicy: 'none',
      headers: [],
      params: jobParams,
      query: noQuery,
      body: noBody,
      invalidInput: JOB_INVALID_INPUT,
      responses: { 200: retryShape },
      examples: { responses: { 200: { newJobId: OTHER_ID, parentJobId: JOB_ID, status: 'Queued' } } },
      refusals: [
        'job.not-found',
        'job.not-failed',
        'job.input-missing',
        'job.already-processing',
        'profile.not-found',
        'service.busy',
      ],
      async handle({ params }) {
        const parent = readId(params.id);
        const job = await jobs.retry(parent);
        return json(200, { newJobId: job.id, parentJobId: parent, status: 'Queued' });
      },
    }),
  ];
}

/** Replies about unchanged jobs, cached for as long as the service keeps them. */
const REPLIES = new WeakMap<JobDetail, JsonReply>();

function storedReply(job: JobDetail): JsonReply {
  const kept = REPLIES.get(job);
  if (kept !== undefined) return kept;
  const reply = cachedJson(200, jobDetailBody(job));
  REPLIES.set(job, reply);
  return reply;
}

/** A malformed id matches no job. */
function readId(text: string): JobId {
  const id = parseJobId(text);
  if (id === undefined) throw new Refusal('job.not-found', `No job has the id ${JSON.stringify(text)}.`);
  return id;
}
