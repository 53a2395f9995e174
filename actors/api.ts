/**
 * What the HTTP layer may ask of the batch service. Everything here is answered from committed state;
 * methods that change something resolve when the change is durable unless they say otherwise.
 */
import type { FolderName, JobId, Millis, ProfileName } from '../machines/ids.ts';
import type { JobFormat, JobSource, JobState } from '../machines/job.ts';

/** One job as clients see it. */
export interface JobView {
  readonly id: JobId;
  readonly fileName: string;
  readonly originalPath: string;
  readonly format: JobFormat;
  readonly source: JobSource;
  readonly status: JobState;
  readonly createdAt: Millis;
  readonly updatedAt: Millis;
  readonly parentJobId: JobId | null;
  readonly errorMessage: string | null;
  readonly profileName: ProfileName;
  readonly folder: FolderName | null;
  readonly outputEncrypted: boolean;
}

/** A job with what only the single-job answer shows. */
export interface JobDetail extends JobView {
  readonly errorCode: string | null;
  readonly remoteDocumentId: string | null;
  readonly awaitingSignerSince: Millis | null;
  readonly queuedAt: Millis;
  readonly inputSha256: string | null;
  readonly outputSha256: string | null;
  readonly outputFileName: string | null;
  /** Oldest first. */
  readonly history: readonly {
    readonly id: number;
    readonly timestamp: Millis;
    readonly status: JobState;
    readonly message: string;
  }[];
}

export interface JobQuery {
  /** Any of these; empty = all. */
  readonly statuses: readonly JobState[];
  /** Compared without case; a name no job has gives an empty list. */
  readonly profile: string | undefined;
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

/** Takes the bytes of one upload, under a name no watcher looks at. */
export interface UploadSink {
  /** Bytes taken so far. */
  readonly length: number;
  /**
   * A promise means: wait before sending more; the caller may use the chunk's memory again once it has settled, or
   * at once when there is none. Rejects when the disk refuses.
   */
  write(chunk: Uint8Array): Promise<void> | undefined;
  /** Forgets the bytes; safe at any time and more than once. */
  abort(): Promise<void>;
}

export interface Jobs {
  /**
   * The profile an upload names (or the default one) and the format it gets.
   * Refusals: `profile.not-found`.
   */
  plan(request: {
    readonly fileName: string;
    readonly format: JobFormat | undefined;
    readonly profile: string | undefined;
  }): { readonly format: JobFormat; readonly profile: ProfileName };
  /** Refusals: `job.path-too-long`. */
  openUpload(fileName: string): Promise<UploadSink>;
  /**
   * Syncs the bytes, commits the job, gives the file its final name.
   * Refusals: `upload.empty`, `job.already-processing`, `service.busy`.
   */
  acceptUpload(
    sink: UploadSink,
    job: { readonly fileName: string; readonly format: JobFormat; readonly profile: ProfileName },
  ): Promise<JobView>;
  /** Newest first. */
  list(query: JobQuery): Promise<{ readonly items: readonly JobView[]; readonly totalCount: number }>;
  /** Refusals: `job.not-found`. */
  get(id: JobId): Promise<JobDetail>;
  /** Refusals: `job.not-found`, `job.output-unavailable`, `job.output-gone`. */
  output(id: JobId): Promise<JobOutput>;
  /** Refusals: `job.not-found`, `job.not-queued`, `job.race-lost`. */
  cancel(id: JobId, reason: string | null): Promise<JobView>;
  /** Refusals: `job.not-found`, `job.not-failed`, `job.input-missing`, `job.already-processing`. */
  retry(id: JobId): Promise<JobView>;
}

/** One probe of `GET /api/ready`. */
export interface ReadyCheck {
  readonly name: string;
  readonly healthy: boolean;
  readonly detail: string | null;
}

export interface Readiness {
  checks(): Promise<readonly ReadyCheck[]>;
}

/** The batch service behind its HTTP interface. */
export interface BatchService {
  readonly jobs: Jobs;
  readonly readiness: Readiness;
}
