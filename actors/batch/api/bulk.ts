/** Actions on many jobs at once: bulk requests, operations and removal by age. See `service.ts` for the rules of all methods. */

import type { OperationView } from '../../../contracts/batch/operations.ts';
import type { JobState } from '../../../machines/batch/job-context.ts';
import type { OperationAction, OperationFilter } from '../../../machines/batch/operation.ts';
import type { JobId, Millis } from '../../../machines/ids.ts';
import type { RefusalCode } from '../../../machines/refusals.ts';

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

export interface ClearReport {
  readonly deleted: number;
  /** Jobs not deleted: unfinished ones, and finished ones that are still needed. */
  readonly skipped: number;
}

/** Removal of finished jobs by age. */
export interface Retention {
  /** False: nothing is ever removed by age. */
  readonly isConfigured: boolean;
  /** Deletes all jobs that are due; resolves with their number. */
  sweep(): Promise<number>;
}

/** Retry, cancel and removal of many jobs in one request. */
export interface BulkJobs {
  retryMany(query: BulkQuery): Promise<BulkReport>;
  cancelMany(query: BulkQuery, reason: string | null): Promise<BulkReport>;
  /**
   * Deletes terminal jobs and their history from the store. Files stay, and watchers keep ignoring the files they
   * ignored before. Skips jobs with files still to be cleaned up and jobs whose upload key is still valid. Deletes in
   * transactions of many jobs; after an interruption a second call continues. Source: docs/batch-values.md §14.
   */
  clear(): Promise<ClearReport>;
}

/** Action, filter and reason of a large operation. */
export interface OperationRequest {
  readonly action: OperationAction;
  readonly filter: Omit<OperationFilter, 'createdTo'> & { readonly createdTo?: Millis };
  /** Of a cancel: recorded with each job. */
  readonly reason: string | null;
}

/** Retry, cancel or clear of every job that matches a filter. Source: docs/decisions/0050-large-operations.md. */
export interface Operations {
  /** Jobs the operation would act on now. */
  count(request: OperationRequest): Promise<number>;
  /** Acts on jobs made before the call. Resolves when durable. Refusals: `operation.limit-reached`. */
  start(request: OperationRequest, operator: string): Promise<OperationView>;
  /** Refusals: `operation.not-found`. */
  get(id: string): Promise<OperationView>;
  /** Newest first. @param page from 1 */
  list(
    page: number,
    pageSize: number,
  ): Promise<{ readonly items: readonly OperationView[]; readonly totalCount: number }>;
  /** Completes the batch in progress, then stops. Refusals: `operation.not-found`, `operation.not-running`. */
  cancel(id: string): Promise<OperationView>;
}
