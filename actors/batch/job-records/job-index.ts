/**
 * Views of jobs. Each row carries the filter fields, so that a list loads only the jobs it shows: about 200 bytes,
 * written at creation and at each change of state.
 *
 * - `jobs`     [order] → JobRow                   all jobs in order of creation; never rewritten;
 * - `jobs-by`  [profile, state, order] → JobRow   by profile and state; `[profile, 'Queued']` is the queue;
 * - `jobs-of`  [parent, order] → JobRow           the retries of a job;
 * - `jobs-ahead` [lead, order] → null             jobs whose order number runs ahead of their creation time;
 * - `ended`    [time, order] → EndedJobRow        input of statistics, one row per ended job;
 * - `paths`    [path key] → PathRow               the newest relevant job of an input path;
 *              [path key, 'kept'] → PathRow       record of a cleared job (`processed-paths.ts`).
 */

import { type ActorStore, type ActorView, jsonType, type Row } from '@sealwright/runtime';
import {
  ACTIVE_STATES,
  type FileStamp,
  type JobContext,
  type JobFormat,
  type JobSource,
  type JobState,
  type SigningMethod,
  TERMINAL_STATES,
} from '../../../machines/batch/job-context.ts';
import type { FolderName, JobId, Millis } from '../../../machines/ids.ts';
import { timeOfOrderNumber } from '../../shared/ids/order-numbers.ts';

/** A job as its actor definition receives it. */
export type JobActor = ActorView<JobContext>;

/** Immutable fields of a job; mutable ones are in the views that each change of state rewrites. */
export interface JobRow {
  readonly id: JobId;
  readonly format: JobFormat;
  readonly source: JobSource;
  readonly folder: FolderName | null;
  readonly fileName: string;
  /** Only where the clock was set back: otherwise the order number tells it. */
  readonly createdAt?: Millis;
  /** Only in `jobs-by`. */
  readonly errorCode?: string | null;
  /** Only in `jobs-of`. */
  readonly state?: JobState;
  /** Only in `jobs-of`. */
  readonly profile?: string;
}

/** Statistics of one ended job; times in milliseconds, absent for stages that did not run. */
export interface EndedJobRow {
  readonly state: JobState;
  readonly method: SigningMethod;
  readonly queueWait?: number;
  readonly sign?: number;
  readonly verify?: number;
  readonly output?: number;
  /** Set when the output is encrypted. */
  readonly encrypted?: true;
}

/** State of a path's newest job, for the watcher. */
export interface PathRow extends FileStamp {
  readonly id: string;
  /** True: the job ended and left its input in place, so the watcher ignores the same content. */
  readonly closed: boolean;
}

/** The job id of a row of `jobs`, `jobs-by` or `jobs-of`. */
export function jobIdOf({ value }: Row): JobId {
  return jobRowOf(value).id;
}

/** The value of a row of those views. */
export function jobRowOf(value: Row['value']): JobRow {
  return JOB_ROW.read(value);
}

const JOB_ROW = jsonType<JobRow>();
export const ENDED_JOB_ROW = jsonType<EndedJobRow>();
export const PATH_ROW = jsonType<PathRow>();

/** The creation time of the job of a row of those views. */
export function createdAtOf({ key, value }: Row): Millis {
  return jobRowOf(value).createdAt ?? timeOfOrderNumber(key.at(-1) as number);
}

/** Largest time by which an order number runs ahead of its job's creation, milliseconds; 0 unless the clock was set back. */
export async function largestLead(store: Pick<ActorStore, 'rows'>): Promise<number> {
  const [row] = await store.rows({ view: 'jobs-ahead', reverse: true, limit: 1 });
  return (row?.key[0] as number | undefined) ?? 0;
}

/** True for an active job, and for a completed one until its input is removed: no other job may take the file. */
export function ownsPath({ state, context }: JobActor): boolean {
  return ACTIVE_STATES.includes(state as JobState) || (state === 'Completed' && context.untidy);
}

export function jobRows(job: JobActor): readonly Row[] {
  const { id, state, context } = job;
  const { order, parentJobId, profileName: profile, createdAt } = context;
  const lead = timeOfOrderNumber(order) - createdAt;
  const facts = {
    id,
    format: context.format,
    source: context.source,
    folder: context.folder,
    fileName: context.fileName,
    ...(lead > 0 && { createdAt }),
  };
  const { errorCode } = context;
  const rows: Row[] = [
    { view: 'jobs', key: [order], value: facts },
    {
      view: 'jobs-by',
      key: [profile, state, order],
      value: errorCode === null ? facts : { ...facts, errorCode },
    },
  ];
  if (lead > 0) rows.push({ view: 'jobs-ahead', key: [lead, order], value: null });
  if (parentJobId !== null)
    rows.push({ view: 'jobs-of', key: [parentJobId, order], value: { ...facts, state, profile } });
  const ended = endedJobRow(job);
  if (ended)
    rows.push({ view: 'ended', key: [context.endedAt ?? 0, order], value: ENDED_JOB_ROW.write(ended) });
  const closed = isClosed(job);
  if (closed || ownsPath(job)) {
    const value = PATH_ROW.write({ id, closed, ...fileStampOf(context) });
    rows.push({ view: 'paths', key: [context.pathKey], value });
  }
  return rows;
}

/** True for a job that ended and left its input in place. */
export function isClosed({ state, context }: JobActor): boolean {
  return state === 'Failed' || state === 'Canceled' || context.inputLeft;
}

function endedJobRow({ state, context }: JobActor): EndedJobRow | undefined {
  const { endedAt, claimedAt, queuedAt, method = 'Local' } = context;
  // The two nested stages are for metrics only.
  const { stage: _, encrypt: __, ...times } = context.times ?? {};
  if (endedAt === null || endedAt === undefined || !TERMINAL_STATES.includes(state as JobState))
    return undefined;
  if (state !== 'Completed') return { state: state as JobState, method };
  return {
    state,
    method,
    ...(claimedAt && { queueWait: waitingTime(queuedAt, claimedAt) }),
    ...times,
    ...(context.outputEncrypted && { encrypted: true }),
  };
}

/** Waiting time, at least 0 when the clock was set back. */
function waitingTime(from: Millis, to: Millis): number {
  return Math.max(0, to - from);
}

/** The stamp of the input file: as signed where it was left in place, else as at creation. */
export function fileStampOf({ inputLeft, input, seen }: JobContext): FileStamp {
  const { size, mtimeMs, etag } =
    inputLeft && input
      ? { ...input, size: input.length }
      : (seen ?? { size: -1, mtimeMs: -1, etag: undefined });
  return { size, mtimeMs, ...(etag !== undefined && { etag }) };
}
