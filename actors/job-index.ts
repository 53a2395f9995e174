/**
 * The lists jobs stand in. Each row carries what filters ask for, so that a list never loads a job to leave it out:
 * about 200 bytes that are written when a job is made and when it changes its state.
 *
 * - `jobs`     [order] → JobFacts                        all jobs, by their making; never rewritten;
 * - `jobs-by`  [profile, state, order] → JobFacts        told apart; `[profile, 'Queued']` is the queue;
 * - `jobs-of`  [parent, order] → JobFacts                the retries of a job;
 * - `ended`    [time, order] → EndedFacts                what statistics need, one row per ended job;
 * - `paths`    [path key] → PathRow                      the newest job of an input path that still matters;
 *              [path key, 'kept'] → PathRow              what a cleared one left (`kept-paths.ts`).
 */
import type { FolderName, JobId, Millis } from '../machines/ids.ts';
import {
  ACTIVE_STATES,
  type FileStamp,
  type JobContext,
  type JobFormat,
  type JobSource,
  type JobState,
  type SigningMethod,
  TERMINAL_STATES,
} from '../machines/job-context.ts';
import type { Row } from '../runtime/index.ts';

/** A job as its definition sees it. */
export interface JobActor {
  readonly id: string;
  readonly state: string;
  readonly context: JobContext;
}

/** What never changes of a job; the rest stands in the rows that are written anew with each state. */
export interface JobFacts {
  readonly id: JobId;
  readonly format: JobFormat;
  readonly source: JobSource;
  readonly folder: FolderName | null;
  readonly fileName: string;
  /** Only in `jobs-by`. */
  readonly errorCode?: string | null;
  /** Only in `jobs-of`. */
  readonly state?: JobState;
  /** Only in `jobs-of`. */
  readonly profile?: string;
}

/** What one ended job adds to the statistics; times in milliseconds, left out where the stage did not happen. */
export interface EndedFacts {
  readonly state: JobState;
  readonly method: SigningMethod;
  readonly queueWait?: number;
  readonly sign?: number;
  readonly verify?: number;
  readonly output?: number;
  /** Published as an encryption envelope; left out when it was not. */
  readonly encrypted?: true;
}

/** What the newest job of a path left for the watcher to know. */
export interface PathRow {
  readonly id: string;
  /** True: the job ended without taking the file away, so the same content is not taken again. */
  readonly closed: boolean;
  readonly size: number;
  readonly mtimeMs: number;
}

/** The job of a row of `jobs`, `jobs-by` or `jobs-of`. */
export function jobIdOf({ value }: Row): JobId {
  return factsOf(value).id;
}

/** The value of a row of those views. */
export function factsOf(value: Row['value']): JobFacts {
  return value as unknown as JobFacts;
}

/** A completed job keeps its path until the input is put away: nobody may take the file a second time. */
export function ownsPath({ state, context }: JobActor): boolean {
  return ACTIVE_STATES.includes(state as JobState) || (state === 'Completed' && context.untidy);
}

export function jobRows(job: JobActor): readonly Row[] {
  const { id, state, context } = job;
  const { order, parentJobId, profileName: profile } = context;
  const facts = {
    id,
    format: context.format,
    source: context.source,
    folder: context.folder,
    fileName: context.fileName,
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
  if (parentJobId !== null)
    rows.push({ view: 'jobs-of', key: [parentJobId, order], value: { ...facts, state, profile } });
  const ended = endedFacts(job);
  if (ended) rows.push({ view: 'ended', key: [context.endedAt ?? 0, order], value: { ...ended } });
  const closed = isClosed(job);
  if (closed || ownsPath(job)) {
    const value: PathRow = { id, closed, ...stampOf(context) };
    rows.push({ view: 'paths', key: [context.pathKey], value: { ...value } });
  }
  return rows;
}

/** True for a job that ended without taking its input away. */
export function isClosed({ state, context }: JobActor): boolean {
  return state === 'Failed' || state === 'Canceled' || context.inputLeft;
}

function endedFacts({ state, context }: JobActor): EndedFacts | undefined {
  const { endedAt, claimedAt, queuedAt, method = 'Local' } = context;
  // The two stages inside others are for metrics alone.
  const { stage: _, encrypt: __, ...times } = context.times ?? {};
  if (endedAt === null || endedAt === undefined || !TERMINAL_STATES.includes(state as JobState))
    return undefined;
  if (state !== 'Completed') return { state: state as JobState, method };
  return {
    state,
    method,
    ...(claimedAt && { queueWait: wait(queuedAt, claimedAt) }),
    ...times,
    ...(context.outputEncrypted && { encrypted: true }),
  };
}

/** Not below zero where the clock was set back between the two. */
function wait(from: Millis, to: Millis): number {
  return Math.max(0, to - from);
}

/** What the path held: as it was signed where it was left behind, else as it was when the job was made. */
export function stampOf({ inputLeft, input, seen }: JobContext): FileStamp {
  if (inputLeft && input) return { size: input.length, mtimeMs: input.mtimeMs };
  return { size: seen?.size ?? -1, mtimeMs: seen?.mtimeMs ?? -1 };
}
