/**
 * Messages between the main thread and the pool: plain data in both directions, files by path. Failures are data too,
 * because errors lose their code between threads.
 */

import type { ValidationReport } from '@sealwright/signatures';
import type { WarnedFile } from '../../contracts/file-warnings.ts';
import type {
  FileDigest,
  FileStamp,
  IndependentOutcome,
  JobFormat,
  StagedInput,
  UploadedFile,
} from '../../machines/batch/job-context.ts';
import type { SigningParameters } from '../../machines/batch/signing-parameters.ts';
import type { PortalResults, PortalTask } from './portal-tasks.ts';

/** Working folder and input of a job. */
interface JobTask {
  readonly jobId: string;
  readonly fileName: string;
}

/** Content of an input and the operation on it. */
interface TaskContent {
  /** Absent: sign. */
  readonly operation?: 'Extend';
  /** Opens an encrypted PDF. Absent: the password of the profile. */
  readonly password?: string;
  /** The files concatenated in the input. @default one file */
  readonly files?: readonly UploadedFile[];
  /** Set by the upload in place of the profile. */
  readonly parameters?: SigningParameters;
}

/** Location of a job's output. */
interface OutputPlace {
  /** Directory below the output folder; `''` for the folder itself. */
  readonly subfolder: string;
  /** `suffix`: a name in use gets the job's id appended; `fail`: it fails the job (`Storage:OutputCollision`). */
  readonly collision: 'suffix' | 'fail';
}

/**
 * Stages and signs in the working folder; also releases a small file, see the result. The caller syncs the signed file
 * of any other. Only for jobs with a durable claim, since it may publish.
 */
export interface SignTask extends JobTask, OutputPlace, TaskContent {
  readonly task: 'sign';
  readonly originalPath: string;
  readonly format: JobFormat;
  readonly profile: string;
  /** Claimed signing time, milliseconds since the epoch. */
  readonly at: number;
  /** Of an original that others may still write: the task fails with `input.changed` when it differs or changes. */
  readonly seen?: FileStamp;
}

/** Stages a file that is signed remotely. */
export interface StageTask extends JobTask {
  readonly task: 'stage';
  readonly originalPath: string;
  /** As of `SignTask`. */
  readonly seen?: FileStamp;
}

/** Verifies the signed file on disk and links it into the output folder. The caller syncs the folder. */
export interface ReleaseTask extends JobTask, OutputPlace, TaskContent {
  readonly task: 'release';
  readonly format: JobFormat;
  readonly profile: string;
  /** The staged content; null when it was signed elsewhere. */
  readonly content: { readonly sha256: string; readonly length: number } | null;
  /** True: signed on the remote portal, by another party's key. */
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
  /** Directory below the output folder that may hold it; `''` for the folder itself. */
  readonly subfolder: string;
}

/** Tasks of the batch service. */
export type JobPoolTask = SignTask | StageTask | ReleaseTask | TidyTask | QuarantineTask;

export type PoolTask = JobPoolTask | PortalTask | ValidateTask;

export interface PoolResults extends PortalResults {
  readonly validate: ValidateResult;
  readonly sign: {
    readonly input: StagedInput;
    readonly signed: { readonly sha256: string; readonly length: number };
    readonly warnings?: WarnedFile['warnings'];
    /** Duration of copying the input, milliseconds. */
    readonly stageMs: number;
    /** Duration of staging and signing, including authorities, milliseconds. */
    readonly signMs: number;
    /** Working time of the thread, milliseconds: without waiting for the disk. */
    readonly workMs: number;
    /** Result of verification and publication; absent: still to be done. The caller syncs the folder. */
    readonly release?:
      | { readonly ok: true; readonly result: PoolResults['release'] }
      | { readonly ok: false; readonly code: string; readonly message: string };
  };
  readonly stage: { readonly input: StagedInput; readonly path: string };
  readonly release: {
    /** Path below the output folder; where `unpublished` is present, the one it should get. */
    readonly outputFileName: string;
    /** File that the main thread publishes under the first free name. */
    readonly unpublished?: { readonly path: string; readonly names: readonly string[] };
    /** False: the profile disables verification. */
    readonly verified: boolean;
    /** Present when a second implementation was used. */
    readonly independent?: IndependentOutcome;
    /** The published file, when it is encrypted. */
    readonly encrypted?: FileDigest;
    /** Milliseconds. */
    readonly times: { readonly verify?: number; readonly encrypt?: number; readonly output: number };
  };
  /** `refused`: why the original may not be removed; it stays. */
  readonly tidy: { readonly diverged: boolean; readonly refused?: string };
  readonly quarantine: Record<string, never>;
}

/** `ms`: working time of the thread. */
export type PoolReply<Task extends PoolTask['task'] = PoolTask['task']> = { readonly ms: number } & (
  | { readonly ok: true; readonly result: PoolResults[Task] }
  | { readonly ok: false; readonly code: string; readonly message: string }
);

export interface ValidateTask {
  readonly task: 'validate';
  /** Subject, for the log. */
  readonly documentId: string;
  readonly path: string;
  /** As the client named it. */
  readonly fileName: string;
  /** The signed file, then its detached content, one after the other in the file; absent: the file is the signed one. */
  readonly files?: readonly { readonly name: string; readonly length: number }[];
  /** Null: detected from the content. */
  readonly format: ValidationReport['format'] | null;
  readonly at: number;
  /** Opens an encrypted PDF. */
  readonly password?: string;
  /** PEM of certificates that the file may lack. */
  readonly certificates?: string;
}

export interface ValidateResult {
  readonly report: ValidationReport;
  /** The report of ETSI TS 119 102-2. */
  readonly xml: string;
}
