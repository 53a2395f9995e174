/**
 * Builds the batch service from store, actors, pool, pipeline and folders, and defines their start and stop order.
 * Source: docs/batch-values.md §7.
 */
import { type Clock, Retryable, type Step } from '@sealwright/runtime';
import type { ValidationReport } from '@sealwright/signatures';
import type { ProfileView } from '../../contracts/batch/statistics.ts';
import type { JobState } from '../../machines/batch/job-context.ts';
import type { FolderName } from '../../machines/ids.ts';
import { Refusal } from '../../machines/refusals.ts';
import type { ServicePlan, ServiceRuntime } from '../hosting/service-plan.ts';
import type { SigningPool } from '../pool/pool.ts';
import { CertificateChecks } from '../shared/certificate-checks.ts';
import { DiskSync } from '../shared/disk-sync.ts';
import { OrderNumbers } from '../shared/order-numbers.ts';
import { type Profile, Profiles } from '../shared/profiles.ts';
import { SecretBox } from '../shared/secret-box.ts';
import { Singletons } from '../shared/singletons.ts';
import { StepWaits } from '../shared/step-waits.ts';
import { uploadName } from '../shared/storage-layout.ts';
import { SparseIndexes } from '../shared/tables/sparse-index.ts';
import { AccessKeys } from './access/access-keys.ts';
import { EndedSessions } from './access/ended-sessions.ts';
import { UsedAnswers } from './access/used-answers.ts';
import { type BatchOptions, REMOTE_DEFAULTS } from './batch-options.ts';
import { jobHandlers } from './effects/index.ts';
import { FolderService } from './folders/folder-control.ts';
import { FolderIntake } from './folders/folder-intake.ts';
import { Folders } from './folders/folders.ts';
import {
  authoritiesProbe,
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
import { type BatchRuntime, JobCounts } from './job-records/job-counts.ts';
import { BulkService } from './jobs/bulk-jobs.ts';
import { InputSweep } from './jobs/input-sweep.ts';
import { JobColumns } from './jobs/job-columns.ts';
import { JobFactory } from './jobs/job-factory.ts';
import { JobRetention } from './jobs/job-retention.ts';
import { JobUploads } from './jobs/job-uploads.ts';
import { JobService } from './jobs/jobs.ts';
import { StatisticsService } from './jobs/statistics.ts';
import { UploadKeys } from './jobs/upload-keys.ts';
import { type Upload, Uploads } from './jobs/uploads.ts';
import { BucketOriginals } from './objects/bucket-originals.ts';
import { JobObjects } from './objects/job-objects.ts';
import { type BatchObserver, NO_OBSERVER, notifyObserver, observeStep } from './observer.ts';
import { OperationService, operateHandler } from './operations.ts';
import { Authorities } from './pipeline/authorities.ts';
import { degraded, HealthModel } from './pipeline/health.ts';
import { InputWaits } from './pipeline/input-waits.ts';
import { Pipeline } from './pipeline/pipeline.ts';
import { PipelineService } from './pipeline/pipeline-control.ts';
import { RemotePoll } from './pipeline/remote-poll.ts';
import { StorageMonitor, storageFolders } from './pipeline/storage-monitor.ts';
import { recover, recoveryEvent } from './recovery.ts';
import { definitions } from './registry.ts';
import { RemoteSigning } from './remote/remote-signing.ts';
import { JobWebhooks } from './webhooks/job-webhooks.ts';

/** Validates uploaded files: writes them under a temporary name, validates them in the pool and removes them. */
class FileValidations {
  constructor(
    private readonly uploads: Pick<Uploads, 'open'>,
    private readonly pool: Pick<SigningPool, 'run'>,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /** Refusals: `job.path-too-long`. */
  open(fileName: string): Promise<Upload> {
    return this.uploads.open(fileName, false);
  }

  /**
   * Resolves with the report, and its XML form of ETSI TS 119 102-2. The caller aborts the upload afterwards. Refusals:
   * `upload.format-unsupported` for a file that cannot be read, `service.busy`.
   */
  async validate(
    upload: Upload,
    {
      fileName,
      files,
      format,
      password,
      certificates,
    }: {
      readonly fileName: string;
      /** Files in the upload: the signed file, then the content of a detached signature. */
      readonly files: readonly { readonly name: string; readonly length: number }[];
      readonly format: ValidationReport['format'] | undefined;
      /** Opens the file when it is an encrypted PDF; never stored. */
      readonly password?: string | undefined;
      /** PEM of certificates that the file may lack. */
      readonly certificates?: string | undefined;
    },
  ): Promise<{ readonly report: ValidationReport; readonly xml: string }> {
    const { pool, clock } = this;
    const answer = await pool.run({
      task: 'validate',
      documentId: 'validation',
      path: uploadName(upload.path),
      fileName,
      ...(files.length > 1 && { files }),
      format: format ?? null,
      ...(password !== undefined && { password }),
      ...(certificates !== undefined && { certificates }),
      at: clock.now(),
    });
    if (answer.ok) return answer.result;
    if (answer.code.startsWith('pool.')) throw new Retryable('service.busy', answer.message);
    throw new Refusal('upload.format-unsupported', answer.message, { errors: { file: [answer.message] } });
  }
}

/** API views of the signing profiles. Source: docs/batch-values.md §15. */
class ProfileViews {
  constructor(private readonly profiles: Profiles) {}

  /** In the order of the configuration. */
  list(): readonly ProfileView[] {
    const unnamed = this.profiles.find(undefined)?.name;
    return this.profiles.all.map((profile) => ({
      name: profile.name,
      format: profile.format ?? null,
      method: profile.method,
      verify: profile.verify,
      encrypt: profile.encrypt,
      validateCertificate: profile.method === 'Local' && profile.validateCertificate === true,
      certificate: certificateOf(profile),
      default: profile.name === unnamed,
    }));
  }
}

/** The certificate of a local profile; null for a remote one, whose participants bring their own. */
function certificateOf(profile: Profile): ProfileView['certificate'] {
  if (profile.method !== 'Local' || profile.facts === undefined) return null;
  const { source, subject, thumbprint, notAfter } = profile.facts;
  return { source, subject, thumbprint, notAfter };
}

function quietTimes(folders: BatchOptions['folders']): ReadonlyMap<FolderName, number> {
  return new Map(
    folders.flatMap(({ name, settings: { stability } }) =>
      stability.quietMs === undefined ? [] : [[name, stability.quietMs] as const],
    ),
  );
}

/** Requests that wait for the ends of jobs; further ones are answered at once. */
const MAX_WAITING = 1000;
/** Interval at which a stop checks for jobs in flight, milliseconds. */
const DRAIN_CHECK_MS = 20;

/** The batch service, opened. `inspection` inspects the actors of all services of the runtime. */
export type Batch = Awaited<ReturnType<Awaited<ReturnType<typeof planBatch>>['open']>>;

/** Builds the service; the runtime it works on is created from the plan. */
export async function planBatch(
  options: BatchOptions,
  service: ServiceRuntime,
  pool: SigningPool,
  observer: BatchObserver = NO_OBSERVER,
) {
  const { system, store, clock, ids, log } = service;
  const { layout } = options;
  const { portal, ...remoteOptions }: NonNullable<BatchOptions['remote']> = options.remote ?? REMOTE_DEFAULTS;
  const counts = new JobCounts(await store.counters('jobs/'));
  const objects = options.objects && new JobObjects(options.objects, service, layout);
  const originals = options.inputBuckets && new BucketOriginals(options.inputBuckets, ids, layout.processing);
  const runtime: BatchRuntime = { ...service, counts, objects, originals };
  const disk = new DiskSync();
  const profiles = new Profiles(options.profiles);
  const secrets = options.secretKey && new SecretBox(options.secretKey, ids);
  const remote = new RemoteSigning({
    runtime,
    portal,
    configured: profiles,
    observer,
    timeout: remoteOptions.timeout,
  });
  const storage = new StorageMonitor(runtime, storageFolders(layout), () => pipeline.wake());
  const indexes = new SparseIndexes(store);
  const webhooks = new JobWebhooks(options.webhooks ?? [], runtime, observer, indexes);
  const [newest] = await store.rows({ view: 'jobs', reverse: true, limit: 1 });
  const order = new OrderNumbers(clock, (newest?.key[0] as number | undefined) ?? 0, store.nodes?.slot);
  const events = new EventLog(runtime, indexes);
  const inputWaits = new InputWaits(service, originals, () => pipeline.wake(), quietTimes(options.folders));
  const authorities = new Authorities(runtime, profiles, options.trust, () => pipeline.wake());
  const pipeline: Pipeline = new Pipeline({
    runtime,
    remote,
    storage,
    maxConcurrency: options.maxConcurrency,
    pollEvery: options.pollEvery,
    outages: inputWaits,
    authorities,
  });
  remote.onChange(() => pipeline.wake());
  const remotePoll = new RemotePoll({ runtime, pipeline, remote, layout, options: remoteOptions });
  const uploads = new Uploads(layout.input, ids, disk, objects);
  const maker = new JobFactory(runtime, order, webhooks.areConfigured);
  const waits = new StepWaits(clock, MAX_WAITING);
  const keys = new UploadKeys(runtime);
  const columns = new JobColumns(store, counts, { root: layout.root, ids, clock });
  const jobs = new JobService({
    runtime,
    columns,
    waits,
    maker,
    profiles,
    layout,
    uploads: new JobUploads({ runtime, maker, profiles, uploads, uploadKeys: keys, secrets }),
  });
  const intake = new FolderIntake(runtime, maker, jobs.uploads);
  const operations = new OperationService(runtime, jobs, indexes);
  const statistics = new StatisticsService(runtime);
  const folders = new Folders(options.folders, runtime, intake);
  const access = {
    keys: new AccessKeys(service),
    ended: new EndedSessions(service),
    used: new UsedAnswers(service),
  };
  const observers = [
    (step: Step, _isOwn: boolean) => counts.move(step.counters),
    (step: Step) => indexes.observe(step),
    (step: Step) => access.keys.observe(step),
    (step: Step) => access.ended.observe(step),
  ];
  return {
    definitions,
    handlers: {
      ...jobHandlers({
        pool,
        clock,
        log,
        disk,
        storage,
        layout,
        objects,
        originals,
        remote,
        events,
        secrets,
        certificates: new CertificateChecks(runtime, profiles, options.trust, 'operator'),
        authorities,
        enqueueWebhooks: webhooks.handlers.enqueueWebhooks,
        outputCollision: options.outputCollision,
      }),
      callJobWebhook: webhooks.handlers.callJobWebhook,
      operate: operateHandler(operations),
    },
    observe(step, isOwn) {
      for (const observe of observers) observe(step, isOwn);
    },
    async open(host) {
      await store.nodes?.countersInOrder('jobs/', (counters) => {
        counts.reset(counters);
        columns.reset();
      });
      await access.keys.open(options.fromFiles?.keys ?? []);
      await access.ended.open(options.fromFiles?.ended ?? []);
      const recovery = await recover(runtime, layout);
      await objects?.moveAllErrors();
      if (recovery.failed + recovery.orphans > 0) await events.record(recoveryEvent(recovery, clock.now()));
      const health = new HealthModel();
      health.add(
        databaseProbe(store, system),
        shardsProbe(() => host.stats().shards),
        storage.probe,
        foldersProbe(folders),
        () => [licenseCheck(options.license)],
        () => (options.notices ?? []).map(({ name, says }) => degraded(name, says)),
        profilesProbe(profiles, clock, options.keyTrouble),
        authoritiesProbe(authorities),
        remoteProbe(remote, counts),
        poolProbe(pool),
      );
      const inspection = new InspectionService(runtime, host, pool, events);
      observers.push((step, isOwn) => {
        // Each node counts its own work in its metrics.
        if (isOwn) notifyObserver(observer, step);
        jobs.observe(step);
        statistics.observe(step);
        inputWaits.observe(step);
        observeStep(step, pipeline, folders, isOwn);
      });
      const retention = new JobRetention(runtime, events, options.keepJobs);
      const sweep = objects && new InputSweep(runtime, objects);
      const singletons = new Singletons(runtime);
      return {
        access,
        jobs,
        operations,
        retention,
        statistics,
        events,
        health,
        inspection,
        recovery,
        webhooks: webhooks.deliveries,
        bulk: new BulkService(runtime, jobs, events),
        profiles: new ProfileViews(profiles),
        pipeline: new PipelineService(runtime, options.maxConcurrency, storage),
        folders: new FolderService(clock, folders, intake, events),
        validation: new FileValidations(uploads, pool, clock),

        /** Starts watching folders and claiming jobs. */
        async start(): Promise<void> {
          await storage.start();
          await singletons.run('folders', () => folders.start());
          await pipeline.start();
          await singletons.run('remote-poll', () => remotePoll.start());
          await singletons.run('retention', () => retention.start());
          void columns.prepare().then(() => columns.kept?.keepAtIntervals());
          if (sweep) await singletons.run('input-sweep', () => sweep.start());
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
          for (const waiting of [waits, inspection.changes]) waiting.stop();
          await singletons.stop();
          inputWaits.stop();
          authorities.stop();
          const quiet = Promise.all([
            folders.stop(),
            pipeline.stop(),
            remotePoll.stop(),
            retention.stop(),
            sweep?.stop(),
            storage.stop(),
            columns.kept?.keep(),
          ]);
          // The deadline also ends a call to a slow portal.
          let stopWaiting = () => {};
          const deadline = new Promise<void>((resolve) => {
            stopWaiting = clock.after(grace, resolve);
          });
          await Promise.race([quiet, deadline]);
          stopWaiting();
          columns.close();
          await singletons.release();
          webhooks.close();
          // Jobs that wait for disk space are not awaited.
          while (pipeline.working() > 0 && storage.held === null && clock.elapsed() < until)
            await clock.sleep(DRAIN_CHECK_MS);
        },
      };
    },
  } satisfies ServicePlan;
}
