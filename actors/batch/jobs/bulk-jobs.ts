/** Retries, cancels and removes many jobs in one request. Source: docs/batch-values.md §15. */

import { describeFailure, isRetryable } from '@sealwright/runtime';
import type { JobView } from '../../../contracts/batch/jobs.ts';
import type { RefusalCode } from '../../../contracts/batch/refusals.ts';
import { ACTION_STATES } from '../../../contracts/batch/words.ts';
import type { JobState } from '../../../machines/batch/job-context.ts';
import type { JobId, Millis } from '../../../machines/ids.ts';
import { Refusal } from '../../../machines/refusals.ts';
import type { EventLog } from '../job-records/events.ts';
import type { BatchRuntime } from '../job-records/job-counts.ts';
import { clearJobs } from './clearing.ts';
import { findOldest } from './job-list.ts';
import type { JobService } from './jobs.ts';

/** Jobs processed concurrently: their steps share commits, and other requests wait little. */
const CONCURRENCY = 64;

/** Selects the jobs of a bulk action, oldest first: failed jobs to retry, queued and waiting jobs to cancel. */
export interface BulkQuery {
  /** Of a cancel: only these of Queued and AwaitingSigner. @default both */
  readonly statuses?: readonly JobState[] | undefined;
  readonly profile?: string | undefined;
  readonly errorCode?: string | undefined;
  /** Jobs created at or after this time. */
  readonly since?: Millis | undefined;
  /** At most this many; 1 to 1000. */
  readonly limit: number;
  /** Dry run: counts matching jobs and changes none. */
  readonly countOnly: boolean;
  /** The operator. @default the holder of the configured key */
  readonly by?: string | undefined;
  /** Ids of the HTTP request, for the log. Source: docs/batch-values.md §2. */
  readonly request?: { readonly RequestId: string; readonly TraceId: string } | undefined;
}

/** Source: docs/batch-values.md §15. */
export interface BulkReport {
  /** Number of jobs that match the query, regardless of `limit`. Excludes failed jobs that have a retry. */
  readonly matched: number;
  /** Jobs made by a bulk retry, or canceled. */
  readonly done: number;
  readonly skipped: number;
  readonly items: readonly {
    readonly jobId: JobId;
    /** Of a retry. */
    readonly newJobId: JobId | null;
    /** Reason why it was skipped. */
    readonly code: RefusalCode | null;
  }[];
}

export class BulkService {
  constructor(
    private readonly runtime: BatchRuntime,
    private readonly jobs: JobService,
    private readonly events: EventLog,
  ) {}

  /** Skips a failed job that has a retry: only the newest retry can be retried. */
  async retryMany(query: BulkQuery): Promise<BulkReport> {
    const { store, counts } = this.runtime;
    const { jobs } = this;
    const search = { statuses: ['Failed'] as const, ...filterOf(query) };
    const found = await findOldest(store, counts, {
      search,
      limit: query.limit,
      passes: async (id) => {
        const children = await store.rows({ view: 'jobs-of', prefix: [id], limit: 1 });
        return children.length === 0;
      },
    });
    return this.#each(query, found, (id) => jobs.retry(id, query.by));
  }

  async cancelMany(query: BulkQuery, reason: string | null): Promise<BulkReport> {
    const { store, counts } = this.runtime;
    const { jobs } = this;
    const statuses = query.statuses?.length ? query.statuses : ACTION_STATES.cancel;
    const found = await findOldest(store, counts, {
      search: { statuses, ...filterOf(query) },
      limit: query.limit,
    });
    const report = await this.#each(query, found, (id) => jobs.cancel(id, reason, query.by));
    // A cancel creates no job.
    return { ...report, items: report.items.map((item) => ({ ...item, newJobId: null })) };
  }

  /**
   * Deletes terminal jobs and their history from the store. Files stay, and watchers keep ignoring the files they
   * ignored before. Skips jobs with files still to be cleaned up and jobs whose upload key is still valid. Deletes in
   * transactions of many jobs; after an interruption a second call continues. Source: docs/batch-values.md §14.
   */
  clear(by = 'operator'): ReturnType<typeof clearJobs> {
    return clearJobs(this.runtime, this.events, by);
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
