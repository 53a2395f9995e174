/**
 * The batch service, as its HTTP layer calls it. Answers come from committed state; methods that change something
 * resolve when the change is durable unless they say otherwise. Jobs: `jobs.ts`; actions on many jobs: `bulk.ts`;
 * health, statistics and actors: `inspection.ts`.
 */

import type {
  ActorPage,
  ActorQuery,
  ActorReport,
  ActorSummary,
  KindReport,
} from '@sealwright/runtime/inspect';
import type { ValidationReport } from '@sealwright/signatures';
import type { SystemEvent } from '../../../contracts/batch/events.ts';
import type { FolderView, RescanReport } from '../../../contracts/batch/folders.ts';
import type { PipelineView } from '../../../contracts/batch/pipeline.ts';
import type { ProfileView } from '../../../contracts/batch/statistics.ts';
import type { JobState } from '../../../machines/batch/job-context.ts';
import type { SystemEventKind } from '../../../machines/batch/system-event.ts';
import type { Millis } from '../../../machines/ids.ts';
import type { BulkJobs, Retention } from './bulk.ts';
import type { Health, HealthCheck, Statistics } from './inspection.ts';
import type { Jobs, UploadSink } from './jobs.ts';

export type { BatchObserver, Stage } from './batch-observer.ts';

export interface PipelineControl {
  state(): Promise<PipelineView>;
  /** Enqueue time of the oldest queued job; null for an empty queue. */
  oldestQueuedAt(): Promise<Millis | null>;
  /** Idempotent. Resolves when durable. */
  pause(reason: string | null): Promise<PipelineView>;
  resume(reason: string | null): Promise<PipelineView>;
}

export interface FolderControl {
  list(): Promise<readonly FolderView[]>;
  /** All folders when no name is given. Refusals: `folder.not-found`, with the configured names in its message. */
  rescan(name: string | undefined): Promise<RescanReport>;
}

export interface ProfileList {
  /** In the order of the configuration. */
  list(): readonly ProfileView[];
}

export type { SystemEventKind };

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
