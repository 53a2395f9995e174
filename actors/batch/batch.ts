/**
 * Builds the batch service from store, actors, pool, pipeline and folders, and defines their start and stop order.
 * Source: docs/batch-values.md §7.
 */

import type { Step } from '@sealwright/runtime';
import type { JobState } from '../../machines/batch/job-context.ts';
import type { HostedService, ServicePlan } from '../hosting/service-plan.ts';
import { certificateChecks } from '../shared/certificate-checks.ts';
import { DiskSync } from '../shared/disk-sync.ts';
import { OrderNumbers } from '../shared/order-numbers.ts';
import { Profiles } from '../shared/profiles.ts';
import { SecretBox } from '../shared/secret-box.ts';
import { Singletons } from '../shared/singletons.ts';
import { NO_OBSERVER } from './api/batch-observer.ts';
import type { BatchService } from './api/service.ts';
import { type BatchDependencies, type BatchOptions, REMOTE_DEFAULTS } from './batch-options.ts';
import { jobHandlers } from './effects/index.ts';
import { FolderService, rescanEvent } from './folders/folder-control.ts';
import { FolderIntake } from './folders/folder-intake.ts';
import { Folders } from './folders/folders.ts';
import {
  databaseProbe,
  foldersProbe,
  licenseCheck,
  poolProbe,
  profilesProbe,
  remoteProbe,
  shardsProbe,
} from './health-probes.ts';
import { InspectionService } from './inspection.ts';
import { EventLog } from './job-records/events.ts';
import { JobCounts } from './job-records/job-counts.ts';
import { BulkService } from './jobs/bulk-jobs.ts';
import { clearJobs, clearTheseJobs } from './jobs/clearing.ts';
import { JobEnds } from './jobs/job-ends.ts';
import { JobFactory } from './jobs/job-factory.ts';
import { JobRetention } from './jobs/job-retention.ts';
import { JobService } from './jobs/jobs.ts';
import { NameIndex } from './jobs/name-index.ts';
import { StatisticsService } from './jobs/statistics.ts';
import { UploadKeys } from './jobs/upload-keys.ts';
import { Uploads } from './jobs/uploads.ts';
import { notifyObserver, observeStep } from './observer.ts';
import { OperationService, operateHandler } from './operations.ts';
import { degraded, HealthModel } from './pipeline/health.ts';
import { Pipeline } from './pipeline/pipeline.ts';
import { PipelineService } from './pipeline/pipeline-control.ts';
import { RemotePoll } from './pipeline/remote-poll.ts';
import { StorageMonitor, storageFolders } from './pipeline/storage-monitor.ts';
import { ProfileViews } from './profile-views.ts';
import { recover, recoveryEvent } from './recovery.ts';
import { definitions } from './registry.ts';
import { RemoteSigning } from './remote/remote-signing.ts';
import { FileValidations } from './validations.ts';
import { JobWebhooks } from './webhooks/job-webhooks.ts';

/** Interval at which a stop checks for jobs in flight, milliseconds. */
const DRAIN_CHECK_MS = 20;

/** The batch service, opened. `inspection` inspects the actors of all services of the runtime. */
export type Batch = Awaited<ReturnType<Awaited<ReturnType<typeof planBatch>>['open']>>;

/** Builds the service; the runtime it works on is created from the plan. */
export async function planBatch(options: BatchOptions, dependencies: BatchDependencies) {
  const { system, store, clock, ids, log, faults, pool } = dependencies;
  const common = { system, store, clock, ids, log };
  const { layout } = options;
  const counts = new JobCounts(await store.counters('jobs/'));
  const disk = new DiskSync();
  const profiles = new Profiles(options.profiles);
  const observer = dependencies.observer ?? NO_OBSERVER;
  const remote = new RemoteSigning({
    portal: options.remote?.portal,
    profiles,
    observer,
    clock,
    log,
    timeout: (options.remote ?? REMOTE_DEFAULTS).timeout,
  });
  const storage = new StorageMonitor({
    folders: storageFolders(layout),
    clock,
    log,
    changed: () => pipeline.wake(),
  });
  const webhooks = new JobWebhooks(options.webhooks ?? [], { system, store, clock, observer });
  const [newest] = await store.rows({ view: 'jobs', reverse: true, limit: 1 });
  const order = new OrderNumbers(clock, (newest?.key[0] as number | undefined) ?? 0, store.nodes?.slot);
  const events = new EventLog(common);
  const pipeline = new Pipeline({
    system,
    store,
    counts,
    clock,
    log,
    remote,
    held: () => storage.held !== null,
    maxConcurrency: options.maxConcurrency,
    pollEvery: options.pollEvery,
    nodes: store.nodes,
  });
  remote.onChange(() => pipeline.wake());
  const remotePoll = new RemotePoll(
    {
      ...common,
      ...{ counts, pipeline, remote },
      processing: layout.processing,
      allProcessing: layout.allProcessing,
    },
    options.remote ?? REMOTE_DEFAULTS,
  );
  const uploads = new Uploads(layout.input, ids, disk);
  const maker = new JobFactory({ system, order, ids, announceEnds: webhooks.areConfigured });
  const ends = new JobEnds(clock);
  const jobs = new JobService({
    system,
    store,
    counts,
    names: new NameIndex(store, () => counts.count()),
    ends,
    maker,
    profiles,
    uploads,
    uploadKeys: new UploadKeys(common),
    layout,
    faults,
    secrets: options.secretKey && new SecretBox(options.secretKey, ids),
  });
  const intake = new FolderIntake({ ...common, maker, plan: (request) => jobs.plan(request) });
  const operations = new OperationService({
    ...common,
    counts,
    jobs,
    clear: (jobIds) => clearTheseJobs({ system, clock }, jobIds),
  });
  const bulk = new BulkService({
    ...common,
    counts,
    jobs,
    clear: () =>
      clearJobs({ system, store, counts, clock, record: (event) => events.record(event, ids.uuid()) }),
  });
  const statistics = new StatisticsService(common);
  const folders = new Folders(options.folders, {
    ...{ system, clock, log, isShared: store.nodes !== undefined },
    enqueueFile: (folder, file) => intake.enqueueStable(folder, file),
  });
  const { maxConcurrency } = options;
  const control = new PipelineService({ ...common, counts, storage, maxConcurrency });
  const folderControl = new FolderService({
    folders,
    enqueueFile: (folder, file) => intake.enqueueByRescan(folder, file),
    rescanned: (report) => events.record(rescanEvent(report, clock.now()), ids.uuid()),
  });
  const observers = [(step: Step, _isOwn: boolean) => counts.move(step.counters)];
  return {
    definitions,
    handlers: {
      ...jobHandlers({
        pool,
        certificates: certificateChecks(options, profiles, dependencies, 'operator'),
        clock,
        log,
        disk,
        storage,
        layout,
        remote,
        record: (event, id) => events.record(event, id),
        enqueueWebhooks: webhooks.handlers.enqueueWebhooks,
        outputCollision: options.outputCollision,
        secrets: options.secretKey && new SecretBox(options.secretKey, ids),
      }),
      callJobWebhook: webhooks.handlers.callJobWebhook,
      operate: operateHandler(operations),
    },
    observe(step, isOwn) {
      for (const observe of observers) observe(step, isOwn);
    },
    async open(runtime) {
      await store.nodes?.countersInOrder('jobs/', (counters) => counts.reset(counters));
      const recovery = await recover({ system, store, counts, layout, log });
      if (recovery.failed + recovery.orphans > 0)
        await events.record(recoveryEvent(recovery, clock.now()), ids.uuid());
      const health = new HealthModel();
      health.add(
        databaseProbe(store, system),
        shardsProbe(() => runtime.stats().shards),
        storage.probe,
        foldersProbe(folders),
        () => [licenseCheck(options.license)],
        () => (options.notices ?? []).map(({ name, says }) => degraded(name, says)),
        profilesProbe(profiles, clock),
        remoteProbe(remote, counts),
        poolProbe(dependencies.pool),
      );
      const inspection = new InspectionService({ runtime, pool: dependencies.pool, events, clock, ids });
      observers.push((step, isOwn) => {
        inspection.changes.observe();
        // Each node counts its own work in its metrics.
        if (isOwn) notifyObserver(observer, step);
        jobs.observe(step);
        statistics.observe(step);
        observeStep(step, pipeline, folders, isOwn);
      });
      const retention = new JobRetention({
        ...common,
        counts,
        record: (event) => events.record(event, ids.uuid()),
        keepJobs: options.keepJobs,
      });
      const singletons = new Singletons(dependencies);
      return {
        ...{ jobs, bulk, operations, retention, statistics, events, webhooks, health, inspection, recovery },
        profiles: new ProfileViews(profiles),
        pipeline: control,
        folders: folderControl,
        validation: new FileValidations({ uploads, pool, clock }),

        /** Starts watching folders and claiming jobs. */
        async start(): Promise<void> {
          await storage.start();
          await singletons.run('folders', () => folders.start());
          await pipeline.start();
          await singletons.run('remote-poll', () => remotePoll.start());
          await singletons.run('retention', () => retention.start());
        },

        /** True while the pipeline claims nothing. */
        get paused(): boolean {
          return pipeline.paused;
        },

        /** Jobs in any of these states; all when undefined. */
        count(states?: readonly JobState[]): number {
          return counts.count(states);
        },

        /** Jobs in Processing or Verifying. */
        inFlight(): number {
          return counts.inFlight();
        },

        /** Stops accepting work; waits up to `grace` milliseconds for jobs in flight. */
        async drain(grace: number): Promise<void> {
          const until = clock.elapsed() + grace;
          for (const waiting of [ends, inspection.changes]) waiting.stop();
          await singletons.stop();
          const quiet = Promise.all([
            folders.stop(),
            pipeline.stop(),
            remotePoll.stop(),
            retention.stop(),
            storage.stop(),
          ]);
          // The deadline also ends a call to a slow portal.
          let stopWaiting = () => {};
          const deadline = new Promise<void>((resolve) => {
            stopWaiting = clock.after(grace, resolve);
          });
          await Promise.race([quiet, deadline]);
          stopWaiting();
          await singletons.release();
          webhooks.close();
          // Jobs that wait for disk space are not awaited.
          while (pipeline.working() > 0 && storage.held === null && clock.elapsed() < until)
            await clock.sleep(DRAIN_CHECK_MS);
        },
      } satisfies BatchService & HostedService & { inFlight(): number };
    },
  } satisfies ServicePlan;
}
