/**
 * Retries and cancels jobs by the hundred, each exactly as if it had been asked for alone. Implements `BulkJobs`.
 * Source: batch-gaps §15, "Bulk retry / cancel".
 */
import type { JobId } from '../machines/ids.ts';
import type { JobState } from '../machines/job-context.ts';
import { Refusal, type RefusalCode } from '../machines/refusals.ts';
import { type ActorStore, describeFailure, isRetryable, type Log } from '../runtime/index.ts';
import type { BulkJobs, BulkQuery, BulkReport, ClearReport, Jobs, JobView } from './api.ts';
import type { JobCounts } from './job-counts.ts';
import { findOldest } from './job-list.ts';

/** Jobs acted on side by side: their steps share commits, and nobody else waits long behind them. */
const AT_ONCE = 64;

/** What a cancel is for unless it says otherwise. */
const CANCELABLE: readonly JobState[] = ['Queued', 'AwaitingSigner'];

export interface BulkParts {
  readonly store: ActorStore;
  readonly counts: JobCounts;
  readonly jobs: Pick<Jobs, 'retry' | 'cancel'>;
  readonly log: Log;
  readonly clear: () => Promise<ClearReport>;
}

export class BulkService implements BulkJobs {
  readonly #parts: BulkParts;

  constructor(parts: BulkParts) {
    this.#parts = parts;
  }

  /** A failed job that has a child is left alone: the child, if it failed too, is the one to retry. */
  async retryMany(query: BulkQuery): Promise<BulkReport> {
    const { store, counts, jobs } = this.#parts;
    const search = { statuses: ['Failed'] as const, ...filterOf(query) };
    const found = await findOldest(store, counts, search, query.limit, async (id) => {
      const children = await store.rows({ view: 'jobs-of', prefix: [id], limit: 1 });
      return children.length === 0;
    });
    return this.#each(query, found, (id) => jobs.retry(id));
  }

  async cancelMany(query: BulkQuery, reason: string | null): Promise<BulkReport> {
    const { store, counts, jobs } = this.#parts;
    const statuses = query.statuses?.length ? query.statuses : CANCELABLE;
    const found = await findOldest(store, counts, { statuses, ...filterOf(query) }, query.limit);
    const report = await this.#each(query, found, (id) => jobs.cancel(id, reason));
    // A cancel makes no new job.
    return { ...report, items: report.items.map((item) => ({ ...item, newJobId: null })) };
  }

  clear(): Promise<ClearReport> {
    return this.#parts.clear();
  }

  async #each(
    { countOnly, request }: BulkQuery,
    { ids, matched }: { readonly ids: readonly JobId[]; readonly matched: number },
    act: (id: JobId) => Promise<JobView>,
  ): Promise<BulkReport> {
    if (countOnly) return { matched, done: 0, skipped: 0, items: [] };
    const items: BulkReport['items'][number][] = [];
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      const group = ids.slice(at, at + AT_ONCE);
      items.push(...(await Promise.all(group.map((id) => this.#one(id, act, request)))));
    }
    const done = items.filter(({ code }) => code === null).length;
    return { matched, done, skipped: items.length - done, items };
  }

  /** One that cannot be done is told with its code; what was done before it stays done. */
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
    this.#parts.log.error('One job of a bulk action failed.', {
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
