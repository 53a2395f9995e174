/**
 * Retries and cancels many jobs, each with the result of a single request. Implements `BulkJobs`. Source: docs/batch-values.md
 * §15.
 */

import { describeFailure, isRetryable } from '@sealwright/runtime';
import type { JobView } from '../../../contracts/batch/jobs.ts';
import type { JobState } from '../../../machines/batch/job-context.ts';
import type { JobId } from '../../../machines/ids.ts';
import { Refusal, type RefusalCode } from '../../../machines/refusals.ts';
import type { BulkJobs, BulkQuery, BulkReport, ClearReport } from '../api/bulk.ts';
import type { Jobs } from '../api/jobs.ts';
import type { EventLog } from '../job-records/events.ts';
import type { BatchRuntime } from '../job-records/job-counts.ts';
import { clearJobs } from './clearing.ts';
import { findOldest } from './job-list.ts';

/** Jobs processed concurrently: their steps share commits, and other requests wait little. */
const CONCURRENCY = 64;

/** Default states of a cancel. */
const CANCELABLE: readonly JobState[] = ['Queued', 'AwaitingSigner'];

export class BulkService implements BulkJobs {
  constructor(
    private readonly runtime: BatchRuntime,
    private readonly jobs: Pick<Jobs, 'retry' | 'cancel'>,
    private readonly events: EventLog,
  ) {}

  /** Skips a failed job that has a retry: only the newest retry can be retried. */
  async retryMany(query: BulkQuery): Promise<BulkReport> {
    const { store, counts } = this.runtime;
    const { jobs } = this;
    const search = { statuses: ['Failed'] as const, ...filterOf(query) };
    const found = await findOldest(store, counts, search, query.limit, async (id) => {
      const children = await store.rows({ view: 'jobs-of', prefix: [id], limit: 1 });
      return children.length === 0;
    });
    return this.#each(query, found, (id) => jobs.retry(id));
  }

  async cancelMany(query: BulkQuery, reason: string | null): Promise<BulkReport> {
    const { store, counts } = this.runtime;
    const { jobs } = this;
    const statuses = query.statuses?.length ? query.statuses : CANCELABLE;
    const found = await findOldest(store, counts, { statuses, ...filterOf(query) }, query.limit);
    const report = await this.#each(query, found, (id) => jobs.cancel(id, reason));
    // A cancel creates no job.
    return { ...report, items: report.items.map((item) => ({ ...item, newJobId: null })) };
  }

  clear(): Promise<ClearReport> {
    return clearJobs(this.runtime, this.events);
  }

  async #each(
    { countOnly, request }: BulkQuery,
    { ids, matched }: { readonly ids: readonly JobId[]; readonly matched: number },
    act: (id: JobId) => Promise<JobView>,
  ): Promise<BulkReport> {
    if (countOnly) return { matched, done: 0, skipped: 0, items: [] };
    const items: BulkReport['items'][number][] = [];
    for (let at = 0; at < ids.length; at += CONCURRENCY) {
      const group = ids.slice(at, at + CONCURRENCY);
      items.push(...(await Promise.all(group.map((id) => this.#one(id, act, request)))));
    }
    const done = items.filter(({ code }) => code === null).length;
    return { matched, done, skipped: items.length - done, items };
  }

  /** Acts on one job; returns its refusal code when it is skipped. Earlier jobs are not undone. */
  async #one(
    id: JobId,
    act: (id: JobId) => Promise<JobView>,
    request: BulkQuery['request'],
  ): Promise<BulkReport['items'][number]> {
    try {
      const job = await act(id);
      return { jobId: id, newJobId: job.id, code: null };
    } catch (error) {
      return { jobId: id, newJobId: null, code: this.#codeOf(id, error, request) };
    }
  }

  #codeOf(id: JobId, error: unknown, request: BulkQuery['request']): RefusalCode {
    if (error instanceof Refusal) return error.code;
    if (isRetryable(error)) return 'service.busy';
    this.runtime.log.error('One job of a bulk action failed.', {
      JobId: id,
      Error: describeFailure(error).message,
      ...request,
    });
    return 'internal';
  }
}

function filterOf({ profile, errorCode, since }: BulkQuery) {
  return { profile, errorCode, createdFrom: since };
}
