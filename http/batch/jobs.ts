/**
 * `/api/jobs` and its subresources, and large operations on them.
 *
 * Source: docs/batch-values.md §0, §3, §4 and §14; §15.
 */
import type { Batch, BulkQuery, JobFilter, OperationRequest } from '../../actors/index.ts';
import { cancelJobs, clearJobs, retryJobs } from '../../contracts/batch/bulk.ts';
import {
  cancelOperation,
  listOperations,
  readOperation,
  startOperation,
} from '../../contracts/batch/bulk-operations.ts';
import {
  cancelJob,
  jobDetail,
  jobFilter,
  listJobs,
  readJob,
  readOutput,
  retryJob,
} from '../../contracts/batch/jobs.ts';
import { ACTION_STATES } from '../../contracts/batch/words.ts';
import { encoderOf } from '../../contracts/encoder.ts';
import type { Part } from '../../contracts/operation.ts';
import type { JobState } from '../../machines/batch/job-context.ts';
import { type JobId, parseJobId } from '../../machines/ids.ts';
import { Refusal } from '../../machines/refusals.ts';
import type { Identity } from '../core/access/auth.ts';
import { boundFilter, isBound, requireJobWithin } from '../core/access/permission.ts';
import { contentDisposition, fileReply } from '../core/file-reply.ts';
import type { AnyRoute, ApiRequest } from '../core/router.ts';
import { handle } from './handle.ts';
import { namedOperator, operatorOf } from './operator.ts';
import type { SharedAnswers } from './shared-answers.ts';

export function jobRoutes(jobs: Batch['jobs'], shared: SharedAnswers): readonly AnyRoute[] {
  /** Id of an existing job that the caller may reach. Refusals: `job.not-found`. */
  const reached = async (text: string, identity: Identity | undefined): Promise<JobId> => {
    const id = readId(text);
    if (isBound(identity)) requireJobWithin(identity, jobs.peek(id) ?? (await jobs.get(id)));
    return id;
  };
  return [
    handle(
      listJobs,
      async ({ query: { status, format, source, page, pageSize, version: _, ...more }, identity }) => {
        const filter = boundFilter(identity, { statuses: status, formats: format, sources: source, ...more });
        const { items, totalCount } = await jobs.list({ ...filter, page, pageSize });
        return { items, page, pageSize, totalCount };
      },
      { shared },
    ),
    handle(
      readJob,
      ({ params, identity }) => {
        const id = readId(params.id);
        if (isBound(identity)) return reached(params.id, identity).then((known) => jobs.get(known));
        return jobs.peek(id) ?? jobs.get(id);
      },
      { keepsReplies: true },
    ),
    handle(readOutput, async ({ params, query, header, headOnly, identity }) => {
      const output = await jobs.output(await reached(params.id, identity));
      const { contentType, fileName } = output;
      // An address is signed for GET alone.
      const makeLink = query.redirect === true && !headOnly ? output.link : undefined;
      const disposition = contentDisposition(fileName);
      const link = makeLink && (() => makeLink({ contentType, disposition }));
      const gone = () => new Refusal('job.output-gone', 'The file is gone.');
      return fileReply(
        { ...output, open: async () => output.open(), etag: `"${output.sha256}"`, isRemoved: gone, link },
        { range: header('range'), ifRange: header('if-range'), ifNoneMatch: header('if-none-match') },
      );
    }),
    handle(cancelJob, async ({ params, body, identity }) => {
      const known = await reached(params.id, identity);
      const { id } = await jobs.cancel(known, body.reason, namedOperator(identity));
      return { jobId: id, status: 'Canceled' };
    }),
    handle(retryJob, async ({ params, identity }) => {
      const parent = await reached(params.id, identity);
      const { id } = await jobs.retry(parent, namedOperator(identity));
      return { newJobId: id, parentJobId: parent, status: 'Queued' };
    }),
  ];
}

/** A malformed id matches no job. */
function readId(text: string): JobId {
  const id = parseJobId(text);
  if (id === undefined) throw new Refusal('job.not-found', `No job has the id ${JSON.stringify(text)}.`);
  return id;
}

export function bulkRoutes(bulk: Batch['bulk']): readonly AnyRoute[] {
  return [
    handle(retryJobs, async ({ body, ...request }) => {
      const { done, ...report } = await bulk.retryMany(bulkQuery(body, request));
      return { ...report, created: done };
    }),
    handle(cancelJobs, async ({ body, ...request }) => {
      const statuses = [body.status ?? []].flat();
      const query = { ...bulkQuery(body, request), statuses };
      const { done, ...report } = await bulk.cancelMany(query, body.reason);
      return { ...report, canceled: done };
    }),
    handle(clearJobs, async ({ identity }) => {
      const { deleted, skipped } = await bulk.clear(operatorOf(identity));
      const stay =
        skipped === 0 ? '' : ` ${skipped} stay: their files are still moved, or their upload keys hold.`;
      const message = `Finished jobs forgotten: ${deleted}.${stay}`;
      return { deleted, skipped, message };
    }),
  ];
}

function bulkQuery(
  {
    profile,
    errorCode,
    since,
    limit,
    countOnly,
  }: Pick<Part<typeof retryJobs, 'body'>, 'profile' | 'errorCode' | 'since' | 'limit' | 'countOnly'>,
  { names, identity }: Pick<ApiRequest<unknown, unknown, unknown>, 'names' | 'identity'>,
): BulkQuery {
  const { requestId, traceId } = names();
  const by = namedOperator(identity);
  return {
    ...(by && { by }),
    profile: profile ?? undefined,
    errorCode: errorCode ?? undefined,
    since: since ?? undefined,
    limit,
    countOnly,
    request: { RequestId: requestId, TraceId: traceId },
  };
}

export function operationRoutes(operations: Batch['operations']): readonly AnyRoute[] {
  return [
    handle(startOperation, async ({ body, identity }, answer) => {
      const request = operationRequest(body);
      if (body.dryRun) return answer(200, { matched: await operations.count(request) });
      return answer(202, await operations.start(request, operatorOf(identity)));
    }),
    handle(listOperations, async ({ query: { page, pageSize } }) => {
      const { items, totalCount } = await operations.list(page, pageSize);
      return { items, page, pageSize, totalCount };
    }),
    handle(readOperation, ({ params }) => operations.get(params.id)),
    handle(cancelOperation, ({ params, identity }) => operations.cancel(params.id, operatorOf(identity))),
  ];
}

function operationRequest({ action, filter, reason }: Part<typeof startOperation, 'body'>): OperationRequest {
  const statuses = [filter.status ?? []].flat();
  const possible: readonly JobState[] = ACTION_STATES[action];
  if (statuses.some((status) => !possible.includes(status))) {
    const rule = `must be ${possible.join(' or ')} for the action ${action}`;
    throw new Refusal('validation.body-invalid', `filter.status ${rule}`, {
      errors: { 'filter.status': [rule] },
    });
  }
  const { profile, folder, fileName, errorCode, parentJobId, createdFrom, createdTo } = filter;
  const formats = [filter.format ?? []].flat();
  const sources = [filter.source ?? []].flat();
  return {
    action,
    reason,
    filter: {
      statuses,
      ...(profile && { profile }),
      ...(formats.length > 0 && { formats }),
      ...(sources.length > 0 && { sources }),
      ...(folder && { folder }),
      ...(fileName && { fileName }),
      ...(errorCode && { errorCode }),
      ...(parentJobId && { parentJobId }),
      ...(typeof createdFrom === 'number' && { createdFrom }),
      ...(typeof createdTo === 'number' && { createdTo }),
    },
  };
}

/** A job as `GET /api/jobs/{id}` shows it. */
export const encodeJob = encoderOf(jobDetail);

/**
 * Parses the filters of a job list.
 * @throws {Refusal} `validation.filter-invalid`
 */
export function readJobFilter(given: Readonly<Record<string, string>>): JobFilter {
  const read = jobFilter.safeParse(given);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new Refusal('validation.filter-invalid', `${issue?.path.join('.')} ${issue?.message}.`);
  }
  const { status, format, source, ...rest } = read.data;
  return { ...rest, statuses: status, formats: format, sources: source };
}
