/** Jobs and uploads of the batch service, as its HTTP layer calls them. See `service.ts` for the rules of all methods. */

import type { JobDetail, JobView } from '../../../contracts/batch/jobs.ts';
import type { FailureReport } from '../../../contracts/batch/statistics.ts';
import type { JobFormat, JobSource, JobState, UploadedFile } from '../../../machines/batch/job-context.ts';
import type { SigningParameters } from '../../../machines/batch/signing-parameters.ts';
import type { JobId, Millis, ProfileName } from '../../../machines/ids.ts';

export interface JobFilter {
  /** Any of these; empty = all. */
  readonly statuses: readonly JobState[];
  /** Compared without case; a name no job has gives an empty list. */
  readonly profile?: string | undefined;
  /** Any of these; empty or left out = all. */
  readonly formats?: readonly JobFormat[] | undefined;
  /** Any of these; empty or left out = all. */
  readonly sources?: readonly JobSource[] | undefined;
  /** Name of an input folder, compared without case; `(upload)` = files that came through no folder. */
  readonly folder?: string | undefined;
  /** Part of the file name, compared without case. */
  readonly fileName?: string | undefined;
  /** Inclusive. */
  readonly createdFrom?: Millis | undefined;
  /** Exclusive. */
  readonly createdTo?: Millis | undefined;
  readonly parentJobId?: JobId | undefined;
}

export interface JobQuery extends JobFilter {
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
}

/** A finished file to send. */
export interface JobOutput {
  readonly path: string;
  readonly fileName: string;
  readonly length: number;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly contentType: string;
}

/** Writes the bytes of one upload to a temporary name that watchers ignore. */
export interface UploadSink {
  /** Bytes written so far. */
  readonly length: number;
  /**
   * Applies backpressure: wait for the returned promise, if any, before the next call and before reusing the chunk's
   * memory. Rejects when the disk fails.
   */
  write(chunk: Uint8Array): Promise<void> | undefined;
  /** Discards the bytes. Idempotent; allowed at any time. */
  abort(): Promise<void>;
}

/** Idempotency key of an upload: a repeated upload creates no second job. Source: docs/batch-values.md §15. */
export interface UploadKey {
  /** API key or user that sent it. Equal keys of different callers are different keys. */
  readonly caller: string;
  /** 1 to 255 characters. */
  readonly key: string;
}

/** Options of an upload; what is left out follows from the default profile and the file name. */
export interface UploadOptions {
  readonly format: JobFormat | undefined;
  readonly profile: string | undefined;
  /** `Extend`: the file is signed already and is raised to the level of the profile. */
  readonly operation?: 'Extend' | undefined;
  /** Set in place of the profile, where its `Overrides` allow it. */
  readonly parameters?: SigningParameters | undefined;
}

export interface UploadRequest extends UploadOptions {
  readonly fileName: string;
}

/** Format and profile that an upload gets. */
export interface UploadPlan {
  readonly format: JobFormat;
  readonly profile: ProfileName;
  /** True: all files of an upload go into one container. */
  readonly takesSeveral?: boolean;
}

/** Job of a complete upload. */
export interface UploadJob {
  readonly fileName: string;
  readonly format: JobFormat;
  readonly profile: ProfileName;
  /** The files concatenated in the bytes. @default one file */
  readonly files?: readonly UploadedFile[] | undefined;
  readonly operation?: 'Extend' | undefined;
  readonly parameters?: SigningParameters | undefined;
  readonly password?: string | undefined;
  readonly key?: UploadKey | undefined;
}

/** A form that has been read to its end. */
export interface ReceivedForm<Sink extends UploadSink> {
  readonly sink: Sink;
  readonly fileName: string;
  readonly fields: ReadonlyMap<string, string>;
  /** Files in the sink, in order. */
  readonly files: readonly UploadedFile[];
  /** True when the form had a file that the upload does not take; it has not been read. */
  readonly isShortened: boolean;
}

/** An upload whose bytes are still to come. */
export interface IncomingUpload {
  readonly key?: UploadKey | undefined;
  /** Opens an encrypted PDF. Stored encrypted until the job is completed. */
  readonly password?: string | undefined;
  /** The options by the form fields that are known so far. Refusals: those of wrong values. */
  options(fields: ReadonlyMap<string, string>): UploadOptions;
  /**
   * Reads the form to its end; the sink is complete when this resolves, and discarded when it rejects.
   * @param rules.several asked before the second file: true appends it and all later files to the sink of the first
   * @param rules.open called when the first file begins
   */
  read<Sink extends UploadSink>(rules: {
    several(fileName: string, fields: ReadonlyMap<string, string>): boolean;
    open(fileName: string, fields: ReadonlyMap<string, string>): Promise<Sink>;
  }): Promise<ReceivedForm<Sink>>;
}

export interface Jobs {
  /**
   * Reads an upload, syncs its bytes, commits its job and renames the file to its final name. With a `key` under
   * which a job was created within the last 24 hours, compares the bytes instead of storing them, and returns that job
   * if its upload had the same SHA-256, name, format, profile, operation and files.
   * Refusals: `profile.not-found`, `job.path-too-long`, `upload.empty`, `upload.format-unsupported`,
   * `validation.body-invalid`, `job.already-processing`, `idempotency.mismatch`, `service.busy`; those of the form.
   */
  receive(upload: IncomingUpload): Promise<JobView>;
  /** Newest first. */
  list(query: JobQuery): Promise<{ readonly items: readonly JobView[]; readonly totalCount: number }>;
  /** Groups the failed jobs by error code. */
  failures(): Promise<FailureReport>;
  /** Refusals: `job.not-found`. */
  get(id: JobId): Promise<JobDetail>;
  /** Waits up to `within` milliseconds for the job's end; undefined on time-out. Refusals: `job.not-found`. */
  whenEnded(id: JobId, within: Millis): Promise<JobDetail | undefined>;
  /** The cached result of `get`, the same object until the job changes. Undefined: not in the cache. */
  peek(id: JobId): JobDetail | undefined;
  /** Refusals: `job.not-found`, `job.output-unavailable`, `job.output-gone`. */
  output(id: JobId): Promise<JobOutput>;
  /** Refusals: `job.not-found`, `job.not-queued`, `job.race-lost`. */
  cancel(id: JobId, reason: string | null): Promise<JobView>;
  /**
   * Refusals: `job.not-found`, `job.not-failed`, `profile.not-found`, `job.input-missing`, `job.already-processing`.
   */
  retry(id: JobId): Promise<JobView>;
}
