/**
 * The batch service put together: store, actors, pool, pipeline and folders, in the order they may begin.
 * Source: batch-gaps §7, "Start order" and "Planned stop".
 */
import type { Millis } from '../machines/ids.ts';
import type { JobContext, JobState } from '../machines/job-context.ts';
import type { PipelineState } from '../machines/pipeline.ts';
import type { SystemEventContext } from '../machines/system-event.ts';
import type { Runtime, Step } from '../runtime/index.ts';
import type { BatchService, RescanReport } from './api.ts';
import { type BatchObserver, NO_OBSERVER } from './batch-observer.ts';
import { BulkService } from './bulk-jobs.ts';
import { certificateChecks } from './certificate-checks.ts';
import { clearJobs } from './clearing.ts';
import { DiskSync } from './disk-sync.ts';
import { jobHandlers } from './effects/index.ts';
import { EventLog } from './events.ts';
import { FolderService } from './folder-control.ts';
import { FolderIntake } from './folder-intake.ts';
import { type FolderOptions, Folders } from './folders.ts';
import { InspectionService } from './inspection.ts';
import { JobCounts } from './job-counts.ts';
import { JobMaker } from './job-maker.ts';
import { JobOrder } from './job-order.ts';
import { JobService } from './jobs.ts';
import { tellObserver } from './observer.ts';
import { Pipeline } from './pipeline.ts';
import { PipelineService } from './pipeline-control.ts';
import type { RemotePortal } from './ports.ts';
import { ProfileViews } from './profile-views.ts';
import { type Profile, Profiles } from './profiles.ts';
import { ReadinessService } from './readiness.ts';
import { type RecoveryReport, recover } from './recovery.ts';
import { definitions, JOB, PIPELINE } from './registry.ts';
import { RemotePoll, type RemotePollOptions } from './remote-poll.ts';
import { RemoteSigning } from './remote-signing.ts';
import type { HostedService, ServiceParts, ServicePlan } from './service-plan.ts';
import { StatisticsService } from './statistics.ts';
import type { StorageLayout } from './storage-layout.ts';
import type { TrustOptions } from './trust.ts';
import { UploadKeys } from './upload-keys.ts';
import { Uploads } from './uploads.ts';

export interface BatchOptions {
  readonly layout: StorageLayout;
  readonly folders: readonly FolderOptions[];
  /** At least one. */
  readonly profiles: readonly Profile[];
  /** `Signing:Trust`. @default nobody but each profile's own anchors */
  readonly trust?: TrustOptions;
  /** `Signing:License`: not needed; one that is not Base64 makes the service not ready. */
  readonly license?: string;
  /** Key of the encryption envelopes, 32 bytes; needed when a profile encrypts. */
  readonly encryptionKey?: Uint8Array;
  /** `Pipeline:MaxConcurrency`: jobs in flight. */
  readonly maxConcurrency: number;
  /** `Pipeline:PollIntervalSeconds`, in milliseconds. */
  readonly pollEvery: number;
  /** `Storage:OutputCollision`. */
  readonly outputCollision: 'suffix' | 'fail';
  /** Left out when no profile is signed elsewhere. */
  readonly remote?: RemotePollOptions & { readonly portal: RemotePortal };
  /** Threads of the pool; more than jobs in flight are of no use. */
  readonly threads: number;
}

export interface BatchParts extends ServiceParts {
  /** Told of what happens to jobs, for metrics. */
  readonly observer?: BatchObserver;
  /** The same faults as text, for the pool's threads. */
  readonly faultsText: string;
}

/** What the plan of the service and the opened one share. */
interface Drafted {
  readonly counts: JobCounts;
  readonly disk: DiskSync;
  readonly profiles: Profiles;
  readonly observer: BatchObserver;
  readonly remote: RemoteSigning;
  /** Set by opening. */
  events?: EventLog;
  observe?: (step: Step) => void;
}

/** Nothing is ever asked of a portal that is not there. */
const NO_REMOTE: RemotePollOptions = { every: 30_000, timeout: 0, maxFailures: 0 };

/** How often a stop looks whether the jobs in flight are done, milliseconds. */
const DRAIN_LOOK = 20;

export class Batch implements BatchService, HostedService {
  readonly jobs: JobService;
  readonly bulk: BulkService;
  readonly profiles: ProfileViews;
  readonly statistics: StatisticsService;
  readonly pipeline: PipelineService;
  readonly folders: FolderService;
  readonly events: EventLog;
  readonly readiness: ReadinessService;
  /** Of the actors of all services of the runtime. */
  readonly inspection: InspectionService;
  /** What the start found of the last run. */
  readonly recovery: RecoveryReport;
  readonly #parts: BatchParts;
  readonly #counts: JobCounts;
  readonly #claiming: Pipeline;
  readonly #watching: Folders;
  readonly #remotePoll: RemotePoll;

  private constructor(
    parts: BatchParts,
    made: {
      readonly jobs: JobService;
      readonly bulk: BulkService;
      readonly profiles: ProfileViews;
      readonly statistics: StatisticsService;
      readonly control: PipelineService;
      readonly folderControl: FolderService;
      readonly events: EventLog;
      readonly readiness: ReadinessService;
      readonly inspection: InspectionService;
      readonly recovery: RecoveryReport;
      readonly counts: JobCounts;
      readonly pipeline: Pipeline;
      readonly folders: Folders;
      readonly remotePoll: RemotePoll;
    },
  ) {
    this.#parts = parts;
    this.jobs = made.jobs;
    this.bulk = made.bulk;
    this.profiles = made.profiles;
    this.statistics = made.statistics;
    this.pipeline = made.control;
    this.folders = made.folderControl;
    this.events = made.events;
    this.readiness = made.readiness;
    this.inspection = made.inspection;
    this.recovery = made.recovery;
    this.#counts = made.counts;
    this.#claiming = made.pipeline;
    this.#watching = made.folders;
    this.#remotePoll = made.remotePoll;
  }

  /** The service before it has a runtime. */
  static async plan(options: BatchOptions, parts: BatchParts): Promise<ServicePlan<Batch>> {
    const { store, clock, log, pool } = parts;
    const { layout } = options;
    const counts = new JobCounts(await store.counters('jobs/'));
    const disk = new DiskSync();
    const profiles = new Profiles(options.profiles);
    const observer = parts.observer ?? NO_OBSERVER;
    const remote = new RemoteSigning(options.remote?.portal, profiles, observer);
    const drafted: Drafted = { counts, disk, profiles, observer, remote };
    const record: EventLog['record'] = (event, id) => {
      if (drafted.events === undefined) throw new Error('Work was begun before the service was open.');
      return drafted.events.record(event, id);
    };
    return {
      definitions,
      handlers: jobHandlers({
        pool,
        certificates: certificateChecks(options, profiles, parts),
        clock,
        log,
        disk,
        layout,
        remote,
        record,
        outputCollision: options.outputCollision,
      }),
      observe: (step) => {
        counts.move(step.counters);
        drafted.observe?.(step);
      },
      open: (runtime) => Batch.#open(options, parts, drafted, runtime),
    };
  }

  static async #open(
    options: BatchOptions,
    parts: BatchParts,
    drafted: Drafted,
    runtime: Runtime,
  ): Promise<Batch> {
    const { system } = runtime;
    const { store, clock, ids, log, faults } = parts;
    const { layout } = options;
    const { counts, disk, profiles, observer, remote } = drafted;
    const [newest] = await store.rows({ view: 'jobs', reverse: true, limit: 1 });
    const order = new JobOrder(clock, (newest?.key[0] as number | undefined) ?? 0);
    const events = new EventLog({ system, store });
    drafted.events = events;
    const recovery = await recover({ system, store, counts, layout, log });
    if (recovery.failed + recovery.orphans > 0)
      await events.record(recoveryEvent(recovery, clock.now()), ids.uuid());
    const pipeline = new Pipeline({
      system,
      store,
      counts,
      clock,
      log,
      isRemote: (name) => profiles.find(name)?.method === 'RemoteSigner',
      maxConcurrency: options.maxConcurrency,
      pollEvery: options.pollEvery,
    });
    const remotePoll = new RemotePoll(
      { system, store, counts, clock, log, pipeline, remote, processing: layout.processing },
      options.remote ?? NO_REMOTE,
    );
    const uploads = new Uploads(layout.input, ids, disk);
    const maker = new JobMaker({ system, order, ids });
    const jobs = new JobService({
      system,
      store,
      counts,
      maker,
      profiles,
      uploads,
      uploadKeys: new UploadKeys({ system, store, clock }),
      layout,
      faults,
    });
    const intake = new FolderIntake({ system, store, maker, plan: (request) => jobs.plan(request) });
    const bulk = new BulkService({
      store,
      counts,
      jobs,
      log,
      clear: () =>
        clearJobs({ system, store, counts, clock, record: (event) => events.record(event, ids.uuid()) }),
    });
    const statistics = new StatisticsService({ store, clock });
    const folders = new Folders(options.folders, {
      system,
      clock,
      log,
      take: (folder, file) => intake.takeStable(folder, file),
    });
    const control = new PipelineService({ system, counts, maxConcurrency: options.maxConcurrency });
    const folderControl = new FolderService({
      folders,
      take: (folder, file) => intake.takeByRescan(folder, file),
      rescanned: (report) => events.record(rescanEvent(report, clock.now()), ids.uuid()),
    });
    const readiness = new ReadinessService({
      store,
      system,
      shards: () => runtime.stats().shards,
      folders,
      profiles,
      clock,
      ...(options.license !== undefined && { license: options.license }),
    });
    drafted.observe = (step) => {
      tellObserver(observer, step);
      jobs.observe(step);
      statistics.observe(step);
      observeStep(step, pipeline, folders);
    };
    return new Batch(parts, {
      jobs,
      bulk,
      profiles: new ProfileViews(profiles),
      statistics,
      control,
      folderControl,
      events,
      readiness,
      inspection: new InspectionService({ runtime, pool: parts.pool, events, clock, ids }),
      recovery,
      counts,
      pipeline,
      folders,
      remotePoll,
    });
  }

  /** Watches the folders, claims jobs. */
  async start(): Promise<void> {
    await this.#watching.start();
    await this.#claiming.start();
    this.#remotePoll.start();
  }

  /** True while the pipeline claims nothing. */
  get paused(): boolean {
    return this.#claiming.paused;
  }

  /** Jobs in any of these states; all when undefined. */
  count(states?: readonly JobState[]): number {
    return this.#counts.count(states);
  }

  /** Jobs in Processing or Verifying. */
  inFlight(): number {
    return this.#counts.inFlight();
  }

  /** Takes nothing new from the call on; jobs in flight have up to `grace` milliseconds to finish. */
  async quiet(grace: number): Promise<void> {
    const { clock } = this.#parts;
    const until = clock.elapsed() + grace;
    const quiet = Promise.all([this.#watching.stop(), this.#claiming.stop(), this.#remotePoll.stop()]);
    // A call to a slow portal is cut off with the rest.
    let stopWaiting = () => {};
    const deadline = new Promise<void>((resolve) => {
      stopWaiting = clock.after(grace, resolve);
    });
    await Promise.race([quiet, deadline]);
    stopWaiting();
    while (this.#claiming.working() > 0 && clock.elapsed() < until) await clock.sleep(DRAIN_LOOK);
  }
}

function rescanEvent({ folders }: RescanReport, at: Millis): SystemEventContext {
  const enqueued = folders.reduce((sum, folder) => sum + folder.enqueued, 0);
  const message = `Rescan of ${folders.map(({ name }) => name).join(', ') || 'no folder'}: ${enqueued} enqueued.`;
  return { at, kind: 'RescanCompleted', actor: 'operator', jobId: null, code: null, message };
}

function recoveryEvent({ failed, orphans }: RecoveryReport, at: Millis): SystemEventContext {
  const message = `Startup recovery: ${failed} jobs in flight failed, ${orphans} working folders without a job put aside.`;
  return { at, kind: 'RecoverySwept', actor: 'system', jobId: null, code: null, message };
}

/** A committed step may free a slot, fill the queue, pause the pipeline or give a path back to its folder. */
function observeStep(step: Step, pipeline: Pipeline, folders: Folders): void {
  const { address, state, context } = step.actor;
  if (address.kind === PIPELINE) pipeline.setState(state as PipelineState);
  if (address.kind !== JOB) return;
  pipeline.observeJob(step.actor);
  if (Object.keys(step.counters).length > 0) pipeline.wake();
  if (step.names.release.length > 0) folders.recheck((context as unknown as JobContext).originalPath);
}
