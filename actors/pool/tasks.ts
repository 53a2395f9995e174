/**
 * The wire between the main thread and the pool: plain data both ways, files by path, never their bytes.
 * Failures cross as data too, because an error loses its code on the way between threads.
 */
import type { FileDigest, JobFormat, StagedInput } from '../../machines/job-context.ts';
import type { PortalResults, PortalTask } from './portal-tasks.ts';

/** What a job's working folder is called and what it works on. */
interface JobTask {
  readonly jobId: string;
  readonly fileName: string;
}

/** Where a job's output goes. */
interface OutputPlace {
  /** Directory below the output folder; `''` for the folder itself. */
  readonly subfolder: string;
  /** `suffix`: a taken name gets the job's id; `fail`: it fails the job (`Storage:OutputCollision`). */
  readonly collision: 'suffix' | 'fail';
}

/**
 * Stage and sign in the working folder; a small file is released as well, see the result. Of any other the caller makes
 * the signed file durable. Only for jobs whose claim is durable, since it may publish.
 */
export interface SignTask extends JobTask, OutputPlace {
  readonly task: 'sign';
  readonly originalPath: string;
  readonly format: JobFormat;
  readonly profile: string;
  /** Claimed signing time, milliseconds since the epoch. */
  readonly at: number;
}

/** Stage in the working folder, for a file that is signed elsewhere. */
export interface StageTask extends JobTask {
  readonly task: 'stage';
  readonly originalPath: string;
}

/** Verify the signed file as it is on disk; good: link it into the output folder. The caller syncs the folder. */
export interface ReleaseTask extends JobTask, OutputPlace {
  readonly task: 'release';
  readonly format: JobFormat;
  readonly profile: string;
  /** What was staged; null when it was signed elsewhere. */
  readonly content: { readonly sha256: string; readonly length: number } | null;
  /** True: signed on the remote portal, by somebody else's key. */
  readonly remote: boolean;
  readonly at: number;
}

export interface TidyTask extends JobTask {
  readonly task: 'tidy';
  readonly originalPath: string;
  readonly input: StagedInput | null;
}

export interface QuarantineTask extends JobTask {
  readonly task: 'quarantine';
  readonly mayBePublished: boolean;
  /** Directory below the output folder in which it may be; `''` for the folder itself. */
  readonly subfolder: string;
}

/** What the batch service asks for. */
export type JobPoolTask = SignTask | StageTask | ReleaseTask | TidyTask | QuarantineTask;

export type PoolTask = JobPoolTask | PortalTask;

export interface PoolResults extends PortalResults {
  readonly sign: {
    readonly input: StagedInput;
    readonly signed: { readonly sha256: string; readonly length: number };
    /** Copying the input, milliseconds. */
    readonly stageMs: number;
    /** Staging and signing, with what authorities took, milliseconds. */
    readonly signMs: number;
    /** What the thread worked, milliseconds: without waiting for the disk. */
    readonly workMs: number;
    /** What came of verifying and publishing it; left out: that is still to be done. The caller syncs the folder. */
    readonly release?:
      | { readonly ok: true; readonly result: PoolResults['release'] }
      | { readonly ok: false; readonly code: string; readonly message: string };
  };
  readonly stage: { readonly input: StagedInput; readonly path: string };
  readonly release: {
    /** Path below the output folder. */
    readonly outputFileName: string;
    /** False: published without a look at it, as its profile says. */
    readonly verified: boolean;
    /** The file as published, when that is an envelope. */
    readonly encrypted?: FileDigest;
    /** Milliseconds. */
    readonly times: { readonly verify?: number; readonly encrypt?: number; readonly output: number };
  };
  readonly tidy: { readonly diverged: boolean };
  readonly quarantine: Record<string, never>;
}

/** `ms`: how long the thread worked on it. */
export type PoolAnswer<Task extends PoolTask['task'] = PoolTask['task']> = { readonly ms: number } & (
  | { readonly ok: true; readonly result: PoolResults[Task] }
  | { readonly ok: false; readonly code: string; readonly message: string }
);
