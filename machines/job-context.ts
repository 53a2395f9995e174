/**
 * What a job is made of, hears and asks for; `job.ts` says when.
 *
 * Source: Batch Signing Service API, "Resources and their fields"; batch-gaps §4, remote portal §8.
 */
import type { FolderName, JobId, Millis, ProfileName } from './ids.ts';
import type { RecordEffect } from './system-event.ts';

export const JOB_FORMATS = ['Pades', 'Cades', 'Xades'] as const;
export type JobFormat = (typeof JOB_FORMATS)[number];

export const JOB_SOURCES = ['Watcher', 'Upload', 'Retry'] as const;
export type JobSource = (typeof JOB_SOURCES)[number];

export const JOB_STATES = [
  'Queued',
  'Processing',
  'Verifying',
  'AwaitingSigner',
  'Completed',
  'Failed',
  'Canceled',
] as const;
export type JobState = (typeof JOB_STATES)[number];

/** What a job that was cleared is in while it is being forgotten; never stored. */
export const CLEARED = 'Cleared';

/** Nothing happens to a job in one of these any more. */
export const TERMINAL_STATES: readonly JobState[] = ['Completed', 'Failed', 'Canceled'];

/** Where a job is signed. */
export type SigningMethod = 'Local' | 'RemoteSigner';

/** How long the stages of a job took, milliseconds; what did not happen is missing. */
export interface StageTimes {
  /** Copying the input into the working folder, which `sign` contains. */
  readonly stage?: number;
  readonly sign?: number;
  readonly verify?: number;
  /** Making the envelope, which `output` contains. */
  readonly encrypt?: number;
  /** Encrypting and publishing. */
  readonly output?: number;
}

/** A job in one of these owns its input path: no second job may have it. */
export const ACTIVE_STATES: readonly JobState[] = ['Queued', 'Processing', 'Verifying', 'AwaitingSigner'];
/** These count against `Pipeline:MaxConcurrency`. */
export const IN_FLIGHT_STATES: readonly JobState[] = ['Processing', 'Verifying'];

/** Recorded on jobs that the service found in flight when it started. Source: batch-gaps §4. */
export const RESTART_MESSAGE =
  'Service restarted while the job was in flight; marked Failed by startup recovery.';

/** History line of a job whose input was rewritten while it ran. Source: batch-gaps §7. */
export const DIVERGED_MESSAGE =
  'job.input-diverged: The input was rewritten while the job was running; it stays in place and is taken as a new file.';

/** Size in bytes and modification time in milliseconds: tells one content of a path from the next. */
export interface FileStamp {
  readonly size: number;
  readonly mtimeMs: number;
}

/** Digest (lower-case hex) and length in bytes of one file. */
export interface FileDigest {
  readonly sha256: string;
  readonly length: number;
}

/** What was read when the input was signed. */
export interface StagedInput {
  /** Lower-case hex. */
  readonly sha256: string;
  readonly length: number;
  readonly mtimeMs: number;
  readonly inode: string;
  /** When the reading began: a modification time well before it proves that no later write has the same one. */
  readonly readAt: Millis;
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
   * Directory of the input below its folder, with `/` between names; its output goes to the same one below the output
   * folder. Left out: none. Source: batch-gaps §5, `Storage:Inputs[].Recursive`.
   */
  readonly subfolder?: string;
  readonly parentJobId: JobId | null;
  /** Sorts jobs by their making; unique and growing, also within one millisecond. */
  readonly order: number;
  /** Stands for `originalPath` where a key of fixed length is needed. */
  readonly pathKey: string;
  /** The input as it was seen when the job was made. */
  readonly seen: FileStamp | null;
  /** Stands for the client's own word for this upload; null or left out where it gave none, or once it has expired. */
  readonly uploadKey?: string | null;
  readonly at: Millis;
  /** First history line. */
  readonly message: string;
}

/** What the job was made from, and what has become of it. */
export interface JobContext extends Omit<JobInput, 'at'> {
  readonly createdAt: Millis;
  readonly queuedAt: Millis;
  readonly updatedAt: Millis;
  readonly input: StagedInput | null;
  /** Digest and length of the signed file in the processing folder. */
  readonly signed: FileDigest | null;
  /** Path below the output folder, once published; a name, except for what comes from a subfolder. */
  readonly outputFileName: string | null;
  readonly outputEncrypted: boolean;
  /** Digest and length of the file in the output folder, where it is another than `signed`. */
  readonly output?: FileDigest | null;
  readonly method?: SigningMethod;
  readonly claimedAt?: Millis | null;
  /** When the job became Completed, Failed or Canceled. */
  readonly endedAt?: Millis | null;
  readonly times?: StageTimes;
  readonly remoteDocumentId: string | null;
  readonly awaitingSignerSince: Millis | null;
  readonly errorMessage: string | null;
  readonly errorCode: string | null;
  /** True while the input or the working folder still has to be put away; the job keeps its path until then. */
  readonly untidy: boolean;
  /** True when the input of a completed job could not be removed: what was signed is not taken a second time. */
  readonly inputLeft: boolean;
}

/** Verified and published. */
export interface Release {
  readonly type: 'RELEASED';
  readonly outputFileName: string;
  /** Left out: it was. */
  readonly verified?: boolean;
  /** Present for an encrypted output: the file as published. */
  readonly encrypted?: FileDigest;
  readonly times?: Omit<StageTimes, 'sign' | 'stage'>;
}

export interface Failure {
  readonly type: 'FAIL';
  readonly code: string | null;
  readonly message: string;
}

export type JobEvent = { readonly at: Millis } & (
  | { readonly type: 'CLAIM' }
  | { readonly type: 'CLAIM_REMOTE' }
  | { readonly type: 'CANCEL'; readonly reason: string | null }
  | {
      readonly type: 'SIGNED';
      readonly input: StagedInput;
      readonly signed: FileDigest;
      readonly ms?: number;
      /** Of `ms`. */
      readonly stageMs?: number;
      /** What came of releasing it, where that is done already. */
      readonly release?: Release | Failure;
    }
  | { readonly type: 'DISPATCHED'; readonly documentId: string; readonly input: StagedInput }
  | { readonly type: 'CONCLUDED'; readonly signed: FileDigest }
  | Release
  | Failure
  | { readonly type: 'RESTARTED' }
  | { readonly type: 'TIDIED'; readonly diverged: boolean }
  | { readonly type: 'TIDY_FAILED'; readonly message: string }
  | { readonly type: 'QUARANTINED' }
  | { readonly type: 'RETRIED'; readonly jobId: JobId }
  | { readonly type: 'CLEAR' }
  | { readonly type: 'FORGET_KEY' }
);

/** Work a job asks for. Each carries what its handler needs, so that no handler reads the job again. */
export type JobEffect =
  | RecordEffect
  | {
      /** Stage and sign; verify and publish as well what is small. */
      readonly do: 'sign';
      readonly originalPath: string;
      readonly fileName: string;
      readonly format: JobFormat;
      readonly profileName: ProfileName;
      /** Of the output folder, as in `JobInput`. */
      readonly subfolder?: string;
    }
  | {
      /** Stage, upload and create the document on the remote portal. */
      readonly do: 'dispatch';
      readonly originalPath: string;
      readonly fileName: string;
      readonly format: JobFormat;
      readonly profileName: ProfileName;
    }
  | {
      /** Best effort: the document is of no use any more. */
      readonly do: 'cancelRemote';
      readonly profileName: ProfileName;
      readonly documentId: string;
      readonly reason: string;
    }
  | {
      readonly do: 'release';
      readonly fileName: string;
      readonly format: JobFormat;
      readonly profileName: ProfileName;
      /** What was staged; null when nothing is known of it. */
      readonly input: FileDigest | null;
      /** True: the remote portal signed it, so its signer is not that of a local profile. */
      readonly remote?: boolean;
      /** Of the output folder, as in `JobInput`. */
      readonly subfolder?: string;
    }
  | {
      readonly do: 'tidy';
      readonly originalPath: string;
      readonly fileName: string;
      readonly input: StagedInput | null;
    }
  | {
      readonly do: 'quarantine';
      readonly fileName: string;
      readonly profileName: ProfileName;
      /** True when the output folder may hold a file that was linked but never committed. */
      readonly mayBePublished: boolean;
      /** Of the output folder, as in `JobInput`. */
      readonly subfolder?: string;
    };

/** `Operator canceled: <reason>.` or `Operator canceled.`; one trailing full stop of the reason is dropped. */
export function cancelMessage(reason: string | null): string {
  const text = reason?.trim().replace(/\.$/, '').trim();
  return text ? `Operator canceled: ${text}.` : 'Operator canceled.';
}
