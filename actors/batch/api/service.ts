/**
 * The batch service, as its HTTP layer calls it. Answers come from committed state; methods that change something
 * resolve when the change is durable unless they say otherwise. Jobs: `jobs.ts`; actions on many jobs: `bulk.ts`;
 * health, statistics and actors: `inspection.ts`.
 */

import type { ActorPage, ActorQuery, ActorReport, ActorSummary, KindReport } from '@sealwright/runtime';
import type { ValidationReport } from '@sealwright/signatures';
import type { InputFolderState } from '../../../machines/batch/input-folder.ts';
import type { JobFormat, JobState } from '../../../machines/batch/job-context.ts';
import type { SystemEventKind } from '../../../machines/batch/system-event.ts';
import type { FolderName, JobId, Millis, ProfileName } from '../../../machines/ids.ts';
import type { BulkJobs, Retention } from './bulk.ts';
import type { Health, HealthCheck, Statistics } from './inspection.ts';
import type { Jobs, UploadSink } from './jobs.ts';

export type { BatchObserver, Stage } from './batch-observer.ts';

/** Hold of a running pipeline: the disk is full or a folder is not writable, so no job is claimed. */
export interface PipelineHold {
  /** Message for operators; names folders. */
  readonly reason: string;
  readonly since: Millis;
}

/** Source: docs/batch-values.md §0. */
export interface PipelineView {
  readonly paused: boolean;
  readonly pausedAt: Millis | null;
  readonly resumedAt: Millis | null;
  readonly pausedBy: 'system' | 'operator';
  readonly reason: string | null;
  /** Null unless the pipeline is held; ends when the storage works again. */
  readonly held: PipelineHold | null;
  readonly maxConcurrency: number;
  /** Jobs in Processing or Verifying. */
  readonly inFlight: { readonly [format in JobFormat]: number };
}

export interface PipelineControl {
  state(): Promise<PipelineView>;
  /** Enqueue time of the oldest queued job; null for an empty queue. */
  oldestQueuedAt(): Promise<Millis | null>;
  /** Idempotent. Resolves when durable. */
  pause(reason: string | null): Promise<PipelineView>;
  resume(reason: string | null): Promise<PipelineView>;
}

/** Source: docs/batch-values.md §3, `GET /api/folders`. */
export interface FolderView {
  readonly name: FolderName;
  readonly path: string;
  readonly exists: boolean;
  readonly status: InputFolderState;
  readonly lastEnqueueAt: Millis | null;
  readonly lastError: string | null;
  /** Files handled since the process started, with any result. */
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

/** Source: docs/batch-values.md §15. */
export interface ProfileView {
  readonly name: ProfileName;
  /** Null: determined by the extension of each file. */
  readonly format: JobFormat | null;
  readonly method: 'Local' | 'RemoteSigner';
  readonly verify: boolean;
  readonly encrypt: boolean;
  readonly validateCertificate: boolean;
  readonly certificate: {
    readonly source: string;
    readonly subject: string;
    /** SHA-1 of the certificate, upper-case hex. */
    readonly thumbprint: string;
    readonly notAfter: Millis;
  } | null;
  /** True for the profile of uploads that name none. */
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
  /** `system`, or the operator. */
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
  /** Records the start or end of an operator's session. Resolves when visible; never rejects. @param address of the caller */
  recordSession(kind: 'LoggedIn' | 'LoggedOut', operator: string, address: string): Promise<void>;
}

/** Checks one component on each readiness request; must be cheap. Empty: the component is not in use. */
export type HealthProbe = () => readonly HealthCheck[] | Promise<readonly HealthCheck[]>;

export type { ActorPage, ActorQuery, ActorReport, ActorSummary, KindReport, ValidationReport };
export type SignedFormat = ValidationReport['format'];

/** Validation result of a file. */
export interface ValidatedFile {
  readonly report: ValidationReport;
  /** The report of ETSI TS 119 102-2. */
  readonly xml: string;
}

/** Validation of uploaded files. The caller aborts the sink afterwards. */
export interface FileValidation {
  /** Refusals: `job.path-too-long`. */
  open(fileName: string): Promise<UploadSink>;
  /** Refusals: `upload.format-unsupported` for a file that cannot be read, `service.busy`. */
  validate(
    sink: UploadSink,
    file: {
      readonly fileName: string;
      /** Files in the sink: the signed file, then the content of a detached signature. */
      readonly files: readonly { readonly name: string; readonly length: number }[];
      readonly format: SignedFormat | undefined;
      /** Opens the file when it is an encrypted PDF; never stored. */
      readonly password?: string | undefined;
    },
  ): Promise<ValidatedFile>;
}

/** The batch service behind its HTTP interface. */
export interface BatchService {
  readonly jobs: Jobs;
  readonly bulk: BulkJobs;
  readonly profiles: ProfileList;
  readonly statistics: Statistics;
  readonly pipeline: PipelineControl;
  readonly retention: Retention;
  readonly folders: FolderControl;
  readonly events: SystemEvents;
  readonly health: Health;
  readonly validation?: FileValidation;
  /** Jobs in any of these states; all when undefined. O(1). */
  count(states?: readonly JobState[]): number;
}
