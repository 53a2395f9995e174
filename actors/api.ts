/**
 * What the HTTP layer may ask of the batch service. Everything here is answered from committed state;
 * methods that change something resolve when the change is durable unless they say otherwise.
 */

import type { FolderName, JobId, Millis, ProfileName } from '../machines/ids.ts';
import type { InputFolderState } from '../machines/input-folder.ts';
import type { JobFormat, JobSource, JobState } from '../machines/job-context.ts';
import type { RefusalCode } from '../machines/refusals.ts';
import type { SystemEventKind } from '../machines/system-event.ts';
import type { ActorPage, ActorQuery, ActorReport, ActorSummary, KindReport } from '../runtime/index.ts';

export type { BatchObserver, Stage } from './batch-observer.ts';

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

/** Which jobs a bulk action is for: failed ones to retry, queued and waiting ones to cancel. Oldest first. */
export interface BulkQuery {
  /** Of a cancel: only these of Queued and AwaitingSigner. @default both */
  readonly statuses?: readonly JobState[] | undefined;
  readonly profile?: string | undefined;
  readonly errorCode?: string | undefined;
  /** Jobs created at or after this time. */
  readonly since?: Millis | undefined;
  /** At most this many; 1 to 1000. */
  readonly limit: number;
  /** True: only count what would be done. */
  readonly countOnly: boolean;
  /** Ids of the request that asks, for the log. Source: batch-gaps §2, "Both ids". */
  readonly request?: { readonly RequestId: string; readonly TraceId: string } | undefined;
}

/** Source: batch-gaps §15, "Bulk retry / cancel". */
export interface BulkReport {
  /** Jobs the query matches, whatever `limit`. A failed job that was retried already is left to its child. */
  readonly matched: number;
  /** Jobs made by a bulk retry, or canceled. */
  readonly done: number;
  readonly skipped: number;
  readonly items: readonly {
    readonly jobId: JobId;
    /** Of a retry. */
    readonly newJobId: JobId | null;
    /** Why it was skipped. */
    readonly code: RefusalCode | null;
  }[];
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

/** A client's own word for one upload, so that sending it again makes no second job. Source: batch-gaps §15. */
export interface UploadKey {
  /** Who sent it: the same word of another caller is another key. */
  readonly caller: string;
  /** 1 to 255 characters. */
  readonly key: string;
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
  /** The job made under this key within the last 24 hours; durable when it is given. */
  uploadedAs(key: UploadKey): Promise<JobView | undefined>;
  /** Refusals: `job.path-too-long`. */
  openUpload(fileName: string): Promise<UploadSink>;
  /**
   * Syncs the bytes, commits the job, gives the file its final name. Where a job of the same `key` exists, the bytes
   * are forgotten and that job is the answer.
   * Refusals: `upload.empty`, `job.already-processing`, `service.busy`.
   */
  acceptUpload(
    sink: UploadSink,
    job: {
      readonly fileName: string;
      readonly format: JobFormat;
      readonly profile: ProfileName;
      readonly key?: UploadKey | undefined;
    },
  ): Promise<JobView>;
  /** Newest first. */
  list(query: JobQuery): Promise<{ readonly items: readonly JobView[]; readonly totalCount: number }>;
  /** Refusals: `job.not-found`. */
  get(id: JobId): Promise<JobDetail>;
  /**
   * What `get` would give, when that is at hand: the very object it gave before, for as long as nothing about the job
   * has changed. Undefined when it has to be read.
   */
  atHand(id: JobId): JobDetail | undefined;
  /** Refusals: `job.not-found`, `job.output-unavailable`, `job.output-gone`. */
  output(id: JobId): Promise<JobOutput>;
  /** Refusals: `job.not-found`, `job.not-queued`, `job.race-lost`. */
  cancel(id: JobId, reason: string | null): Promise<JobView>;
  /**
   * Refusals: `job.not-found`, `job.not-failed`, `profile.not-found`, `job.input-missing`, `job.already-processing`.
   */
  retry(id: JobId): Promise<JobView>;
}

export interface ClearReport {
  readonly deleted: number;
  /** Jobs that stay: unfinished ones, and finished ones that cannot go yet. */
  readonly skipped: number;
}

/** Jobs by the hundred. */
export interface BulkJobs {
  retryMany(query: BulkQuery): Promise<BulkReport>;
  cancelMany(query: BulkQuery, reason: string | null): Promise<BulkReport>;
  /**
   * Forgets terminal jobs with their history; their files stay, and what no watcher was to take again is still not
   * taken. Skipped are jobs with files to put away and those a client may still ask for by its upload key. They
   * go in transactions of many, so that a second call goes on where a lost one ended. Source: batch-gaps §14.
   */
  clear(): Promise<ClearReport>;
}

/** Source: Batch Signing Service API, "Pipeline state". */
export interface PipelineView {
  readonly paused: boolean;
  readonly pausedAt: Millis | null;
  readonly resumedAt: Millis | null;
  readonly pausedBy: 'system' | 'operator';
  readonly reason: string | null;
  readonly maxConcurrency: number;
  /** Jobs in Processing or Verifying. */
  readonly inFlight: { readonly [format in JobFormat]: number };
}

export interface PipelineControl {
  state(): Promise<PipelineView>;
  /** Paused already: nothing changes. Resolves when durable. */
  pause(reason: string | null): Promise<PipelineView>;
  resume(reason: string | null): Promise<PipelineView>;
}

/** Source: batch-gaps §3, `GET /api/folders`. */
export interface FolderView {
  readonly name: FolderName;
  readonly path: string;
  readonly exists: boolean;
  readonly status: InputFolderState;
  readonly lastEnqueueAt: Millis | null;
  readonly lastError: string | null;
  /** Candidates handled since the process started, whatever became of them. */
  readonly processedCount: number;
  /** Waiting files that are not ignored, at most 50. */
  readonly fileCount: number;
  readonly fileCountCapped: boolean;
  readonly profile: ProfileName;
}

export interface RescanCounts {
  readonly scanned: number;
  readonly enqueued: number;
  readonly alreadyActive: number;
  readonly ignored: number;
  readonly errors: number;
}

export interface RescanReport {
  readonly folders: readonly (RescanCounts & {
    readonly name: FolderName;
    readonly path: string;
    readonly enqueuedFiles: readonly string[];
  })[];
}

export interface FolderControl {
  list(): Promise<readonly FolderView[]>;
  /** All folders when no name is given. Refusals: `folder.not-found`, with the configured names in its message. */
  rescan(name: string | undefined): Promise<RescanReport>;
}

/** Source: batch-gaps §15, "Profiles". */
export interface ProfileView {
  readonly name: ProfileName;
  /** Null: told by each file's extension. */
  readonly format: JobFormat | null;
  readonly method: 'Local' | 'RemoteSigner';
  readonly verify: boolean;
  readonly encrypt: boolean;
  readonly validateCertificate: boolean;
  readonly certificate: {
    readonly source: string;
    readonly subject: string;
    /** SHA-1 in upper-case hex, as other programs name it. */
    readonly thumbprint: string;
    readonly notAfter: Millis;
  } | null;
  /** True for the one used when an upload names none. */
  readonly isDefault: boolean;
}

export interface ProfileList {
  /** In the order of the configuration. */
  list(): readonly ProfileView[];
}

export type { SystemEventKind };

export interface SystemEvent {
  readonly id: string;
  readonly timestamp: Millis;
  readonly kind: SystemEventKind;
  /** `system`, or who asked for it. */
  readonly actor: string;
  readonly jobId: JobId | null;
  readonly code: string | null;
  readonly message: string;
}

export interface SystemEvents {
  /** Newest first. */
  list(query: {
    readonly kinds: readonly SystemEventKind[];
    readonly page: number;
    readonly pageSize: number;
  }): Promise<{ readonly items: readonly SystemEvent[]; readonly totalCount: number }>;
}

/** Milliseconds; null where nothing was counted. */
export interface StageFigures {
  readonly count: number;
  readonly avgMs: number | null;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly maxMs: number | null;
}

/** Source: batch-gaps §15, "Statistics". */
export interface StatisticsView {
  readonly since: Millis;
  readonly completed: number;
  readonly failed: number;
  readonly canceled: number;
  /** Of the completed ones: published as an encryption envelope. */
  readonly encrypted: number;
  readonly perStage: {
    readonly queueWait: StageFigures;
    readonly sign: StageFigures;
    readonly verify: StageFigures;
    readonly output: StageFigures;
  };
  readonly perMethod: { readonly Local: number; readonly RemoteSigner: number };
  /** Jobs completed in the last minute. */
  readonly throughputPerMinute: number;
  /** Jobs completed per minute since the process started. */
  readonly lifetimePerMinute: number;
}

export interface Statistics {
  /** `window`: milliseconds up to now. Jobs that were cleared are not in it. */
  over(window: Millis): Promise<StatisticsView>;
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

export type { ActorPage, ActorQuery, ActorReport, ActorSummary, KindReport };

/** Quantiles of durations, milliseconds. */
export interface Quantiles {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** How the process is doing. */
export interface RuntimeView {
  /** How much later than asked timers of the main thread ring. */
  readonly eventLoopDelay: Quantiles;
  /** Effects in work. */
  readonly effectsInFlight: number;
  /** Threads that host actors; with one shard the main thread alone. */
  readonly shards: readonly {
    readonly shard: number;
    /** `main`, or the worker thread's number; null while a lost one is being replaced. */
    readonly thread: string | null;
    /** Threads lost since the process began, and what became of the last one. */
    readonly losses: number;
    readonly lastLoss: {
      readonly at: Millis;
      readonly why: string;
      /** Kind and id of the actor whose step was being computed; null when none was. */
      readonly actor: string | null;
    } | null;
    /** Actors with a message in work or waiting, and the fullest mailbox. */
    readonly awakeActors: number;
    readonly deepestMailbox: number;
    /** From handing over a step to its being durable, of the last ones. */
    readonly commit: Quantiles;
    /** How much later than asked its timers ring. */
    readonly eventLoopDelay: Quantiles;
  }[];
  readonly pool: {
    readonly threads: number;
    /** Threads at work on a batch of tasks. */
    readonly busy: number;
    /** Tasks that wait for a thread. */
    readonly waiting: number;
    /** Share of the threads' time since the start that was work, 0 to 1. */
    readonly utilisation: number;
  };
  readonly store: {
    readonly engine: string;
    /** Size on disk; null for a store without one. */
    readonly bytes: number | null;
  };
  readonly memory: { readonly residentBytes: number; readonly heapBytes: number };
  readonly uptimeSeconds: number;
}

/** Looks at the actors of all services of the process. */
export interface ActorInspection {
  kinds(): Promise<readonly KindReport[]>;
  /** How many actors supervision has given up, and how many effects have failed and are tried again. */
  trouble(): Promise<{ readonly stopped: number; readonly failing: number }>;
  /** Undefined for an unknown kind. */
  list(query: ActorQuery): Promise<ActorPage | undefined>;
  actor(address: { readonly kind: string; readonly id: string }): Promise<ActorReport | undefined>;
  /**
   * Lets a stopped actor go on from its last committed state, and records who did it and why.
   * `unknown`: there is no such actor; `running`: it is not stopped.
   */
  restart(
    address: { readonly kind: string; readonly id: string },
    by: { readonly operator: string; readonly reason: string },
  ): Promise<'restarted' | 'running' | 'unknown'>;
  runtime(): Promise<RuntimeView>;
}

/** The batch service behind its HTTP interface. */
export interface BatchService {
  readonly jobs: Jobs;
  readonly bulk: BulkJobs;
  readonly profiles: ProfileList;
  readonly statistics: Statistics;
  readonly pipeline: PipelineControl;
  readonly folders: FolderControl;
  readonly events: SystemEvents;
  readonly readiness: Readiness;
  /** Jobs in any of these states; all when undefined. Costs nothing. */
  count(states?: readonly JobState[]): number;
}
