/**
 * Types of a job: its context, its messages and its effects; `job.ts` defines the transitions.
 *
 * Source: docs/batch-values.md §0, §4, remote portal §8.
 */

import {
  type JOB_FORMATS,
  type JOB_SOURCES,
  type JobState,
  jobStatesIn,
} from '../../contracts/batch/words.ts';
import type { WarnedFile } from '../../contracts/file-warnings.ts';
import type { FolderName, JobId, Millis, ProfileName } from '../ids.ts';
import type { SigningParameters } from './signing-parameters.ts';

export type JobFormat = (typeof JOB_FORMATS)[number];

export type JobSource = (typeof JOB_SOURCES)[number];

export type { JobState };

/** State of a cleared job that is being removed; never stored. */
export const CLEARED = 'Cleared';

/** Final states of a job. */
export const TERMINAL_STATES = jobStatesIn('ended');

/** Place where a job is signed. */
export type SigningMethod = 'Local' | 'RemoteSigner';

/** Durations of the stages of a job, milliseconds; stages that were not run are missing. */
interface StageTimes {
  /** Copying the input into the working folder, part of `sign`. */
  readonly stage?: number;
  readonly sign?: number;
  readonly verify?: number;
  /** Making the envelope, part of `output`. */
  readonly encrypt?: number;
  /** Encrypting and publishing. */
  readonly output?: number;
}

/** States in which a job holds its input path: no second job can have it. */
export const ACTIVE_STATES = jobStatesIn('waiting', 'in-flight');
/** States that count against `Pipeline:MaxConcurrency`. */
export const IN_FLIGHT_STATES = jobStatesIn('in-flight');

/** Reason of jobs that were in progress when the service started. Source: docs/batch-values.md §4. */
export const RESTART_MESSAGE =
  'Service restarted while the job was in flight; marked Failed by startup recovery.';

/** Reason of jobs whose node ended while others ran. */
export const TAKEN_OVER_MESSAGE =
  'The node of the job ended while it was in flight; marked Failed by another node that took over.';

/** History line of a job whose input was rewritten while it ran. Source: docs/batch-values.md §7. */
export const DIVERGED_MESSAGE =
  'job.input-diverged: The input was rewritten while the job was running; it stays in place and is taken as a new file.';

/** Size in bytes and modification time in milliseconds: distinguishes the contents of a path over time. */
export interface FileStamp {
  readonly size: number;
  readonly mtimeMs: number;
  /** Entity tag of an object that another program put into a bucket; absent: the input is none. */
  readonly etag?: string;
}

/** Digest (lower-case hex) and length in bytes of one file. */
export interface FileDigest {
  readonly sha256: string;
  readonly length: number;
}

/** Properties of the input as it was read for signing. */
export interface StagedInput {
  /** Lower-case hex. */
  readonly sha256: string;
  readonly length: number;
  readonly mtimeMs: number;
  readonly inode: string;
  /** As in `FileStamp`; the modification time is that of the object. */
  readonly etag?: string;
  /** Start time of the read: a modification time well before it proves that no later write has the same one. */
  readonly readAt: Millis;
}

/** One of several files of an upload, concatenated in the input. */
export interface UploadedFile {
  /** Name given by the client. */
  readonly name: string;
  /** Bytes. */
  readonly length: number;
}

/** A document on the remote portal that an earlier job of the same input created. */
export interface RemoteDocumentReference {
  readonly documentId: string;
  /** SHA-256 of its source file, lower-case hex. */
  readonly sha256: string;
  readonly jobId: JobId;
}

export interface JobInput {
  readonly fileName: string;
  /** Absolute path of the input file. */
  readonly originalPath: string;
  readonly format: JobFormat;
  readonly source: JobSource;
  readonly profileName: ProfileName;
  readonly folder: FolderName | null;
  /**
   * Directory of the input relative to its folder, with `/` between names; its output goes to the same directory below
   * the output folder. Absent: none. Source: docs/batch-values.md §5, `Storage:Inputs[].Recursive`.
   */
  readonly subfolder?: string;
  /** Password of the encrypted PDF, encrypted; empty once the job no longer needs it. */
  readonly sealedPassword?: string;
  /** `Extend`: the input is a signed file to be raised to the level of the profile. Absent: it is signed. */
  readonly operation?: 'Extend';
  /** Parameters that the upload set in place of the profile, as the texts of its form. */
  readonly parameters?: SigningParameters;
  /** The files in the input, in their order; absent: the input is one file. Only with `Container: AsicE`. */
  readonly files?: readonly UploadedFile[];
  readonly parentJobId: JobId | null;
  /** Order number: sorts jobs by creation; unique and increasing, also within one millisecond. */
  readonly order: number;
  /** Hash of `originalPath`, for keys of fixed length. */
  readonly pathKey: string;
  /** Size and modification time of the input when the job was created. */
  readonly seen: FileStamp | null;
  /**
   * Hash of the client's idempotency key for this upload; null or absent if there was none, or once it has expired.
   */
  readonly uploadKey?: string | null;
  /** SHA-256 of the content uploaded under `uploadKey`, lower-case hex; absent without a key. */
  readonly uploadSha256?: string;
  /** Remote document of the job that this job repeats; absent if that job created none. */
  readonly remoteDocument?: RemoteDocumentReference;
  /** True: the job's end is still to be announced to webhooks; false once the calls are stored. Left out: none is. */
  readonly webhooksPending?: boolean;
  readonly at: Millis;
  /** First history line. */
  readonly message: string;
  /** Operator who made the job. Absent: the holder of the configured key, or a watcher. */
  readonly by?: string;
}

/** Input and progress of the job. */
export interface JobContext extends Omit<JobInput, 'at'>, WarnedFile {
  readonly createdAt: Millis;
  readonly queuedAt: Millis;
  readonly updatedAt: Millis;
  readonly input: StagedInput | null;
  /** Digest and length of the signed file in the processing folder. */
  readonly signed: FileDigest | null;
  /** Path below the output folder, once published; a file name, except for input from a subfolder. */
  readonly outputFileName: string | null;
  readonly outputEncrypted: boolean;
  /** Digest and length of the file in the output folder, if it differs from `signed`. */
  readonly output?: FileDigest | null;
  readonly method?: SigningMethod;
  readonly claimedAt?: Millis | null;
  /** Time of the transition to Completed, Failed or Canceled. */
  readonly endedAt?: Millis | null;
  readonly times?: StageTimes;
  readonly remoteDocumentId: string | null;
  readonly awaitingSignerSince: Millis | null;
  readonly errorMessage: string | null;
  readonly errorCode: string | null;
  /**
   * True while the input or the working folder still has to be moved or removed; the job holds its path until then.
   */
  readonly untidy: boolean;
  /** True when the input of a completed job could not be removed: it is not enqueued again. */
  readonly inputLeft: boolean;
  /** Times that the input was still being written when the job was to sign it. Absent: none. */
  readonly inputChanges?: number;
}

/** Verdict of the second implementation on a published output. Source: docs/batch-values.md §6.1. */
export interface IndependentOutcome {
  readonly verdict: 'agrees' | 'not-comparable';
  /** Details that could not be compared, as a sentence; empty when it agrees. */
  readonly reason: string;
}

/** Prefixes of the history line of an output that the second implementation validated. */
export const INDEPENDENT_MESSAGES: { readonly [verdict in IndependentOutcome['verdict']]: string } = {
  agrees: 'Verified, also by an independent implementation, and published.',
  'not-comparable': 'Verified and published. The independent implementation cannot judge it:',
};

/** Code of jobs whose output the second implementation rejects. */
export const DISAGREEMENT_CODE = 'verification.disagreement';

/** Result of verifying and publishing. */
export interface Release {
  readonly type: 'RELEASED';
  readonly outputFileName: string;
  /** Absent: it was. */
  readonly verified?: boolean;
  /** Present when the second implementation validated the output. */
  readonly independent?: IndependentOutcome;
  /** Present for an encrypted output: the file as published. */
  readonly encrypted?: FileDigest;
  readonly times?: Omit<StageTimes, 'sign' | 'stage'>;
}

/** Events that a job emits for metrics, besides its changes of state. */
export type JobEvent =
  | {
      readonly type: 'released';
      readonly verified: boolean;
      /** Null when no second implementation validated the output. */
      readonly independent: IndependentOutcome['verdict'] | null;
    }
  | { readonly type: 'inputDiverged' };

interface Failure {
  readonly type: 'FAIL';
  readonly code: string | null;
  readonly message: string;
}

export type JobMessage = { readonly at: Millis } & (
  | { readonly type: 'CLAIM' }
  | { readonly type: 'CLAIM_REMOTE' }
  /** `by`: the operator. Absent: the holder of the configured key. */
  | { readonly type: 'CANCEL'; readonly reason: string | null; readonly by?: string }
  /**
   * The job waits in the queue: the bucket of its input cannot be used, with `seen` the input is still being written and
   * looked like this, or with `isAuthority` or `isKeyService` its time-stamp authority or key service does not answer, as another
   * job found before.
   */
  | {
      readonly type: 'INPUT_AWAY';
      readonly message: string;
      readonly seen?: FileStamp;
      readonly isAuthority?: true;
      readonly isKeyService?: true;
    }
  | {
      readonly type: 'SIGNED';
      readonly input: StagedInput;
      readonly signed: FileDigest;
      readonly ms?: number;
      /** Part of `ms`. */
      readonly stageMs?: number;
      /** Result of `release`, if it has run already. */
      readonly release?: Release | Failure;
      /** About the file as it came. */
      readonly warnings?: WarnedFile['warnings'];
    }
  | {
      readonly type: 'DISPATCHED';
      readonly documentId: string;
      readonly input: StagedInput;
      /** The job that created the document, if it is another one. */
      readonly attachedTo?: JobId | undefined;
    }
  | { readonly type: 'CONCLUDED'; readonly signed: FileDigest }
  | Release
  | Failure
  /** `takenOver`: another node sends it; absent: the recovery at a start. */
  | { readonly type: 'RESTARTED'; readonly takenOver?: true }
  | { readonly type: 'TIDIED'; readonly diverged: boolean }
  | { readonly type: 'TIDY_FAILED'; readonly message: string }
  | { readonly type: 'QUARANTINED' }
  | { readonly type: 'REMOTE_CANCEL_FAILED'; readonly message: string }
  | { readonly type: 'RETRIED'; readonly jobId: JobId; readonly by?: string }
  | { readonly type: 'CLEAR' }
  | { readonly type: 'FORGET_KEY' }
  | { readonly type: 'WEBHOOKS_ENQUEUED' }
);

/** `Operator canceled: <reason>.` or `Operator canceled.`; one trailing full stop of the reason is dropped. */
export function cancelMessage(reason: string | null): string {
  const text = reason?.trim().replace(/\.$/, '').trim();
  return text ? `Operator canceled: ${text}.` : 'Operator canceled.';
}
