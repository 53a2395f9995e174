/**
 * The batch service: store, actors, pool, pipeline and folders, and their start and stop order.
 * Source: docs/batch-values.md §7.
 */
import type { Runtime, Step } from '@sealwright/runtime';
import type { JobState } from '../../machines/batch/job-context.ts';
import type { HostedService, ServicePlan, ServiceRuntime } from '../hosting/service-plan.ts';
import type { SigningPool } from '../pool/pool.ts';
import { Singletons } from '../shared/coordination/singletons.ts';
import { CertificateChecks } from '../shared/signing/certificate-checks.ts';
import type { BatchOptions } from './batch-options.ts';
import { jobHandlers } from './effects/index.ts';
import { FileValidations } from './file-validations.ts';
import { FolderService } from './folders/folder-control.ts';
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
import { BulkService } from './jobs/bulk-jobs.ts';
import { InputSweep } from './jobs/input-sweep.ts';
import { JobRetention } from './jobs/job-retention.ts';
import type { JobService } from './jobs/jobs.ts';
import { type BatchObserver, NO_OBSERVER, notifyObserver, observeStep } from './observer.ts';
import { operateHandler } from './operations.ts';
import { degraded, HealthModel } from './pipeline/health.ts';
import { PipelineService } from './pipeline/pipeline-control.ts';
import { ProfileViews } from './profile-views.ts';
import { type RecoveryReport, recover, recoveryEvent } from './recovery.ts';
import { definitions } from './registry.ts';
import { type BatchWiring, createWiring } from './wiring.ts';

/** Interval at which a stop checks for jobs in flight, milliseconds. */
const DRAIN_CHECK_MS = 20;

/** Builds the service; the runtime it works on is created from the plan. */
export async function planBatch(
  options: BatchOptions,
  service: ServiceRuntime,
  pool: SigningPool,
  observer: BatchObserver = NO_OBSERVER,
): Promise<ServicePlan<Batch>> {
  const parts = await createWiring(options, service, observer);
  const { runtime, access } = parts;
  let opened: Batch | undefined;
  return {
    definitions,
    handlers: handlersOf(parts, pool),
    observe(step, isOwn) {
      runtime.counts.move(step.counters);
      access.keys.observe(step);
      access.ended.observe(step);
      opened?.observe(step, isOwn);
    },
    async open(host) {
      const recovery = await recoverParts(parts);
      opened = new Batch(parts, { host, pool, recovery });
      return opened;
    },
  };
}

function handlersOf(parts: BatchWiring, pool: SigningPool): ServicePlan['handlers'] {
  const { options, runtime, claims, webhooks } = parts;
  return [
    ...jobHandlers({
      pool,
      clock: runtime.clock,
      log: runtime.log,
      disk: parts.disk,
      storage: claims.storage,
      layout: options.layout,
      objects: runtime.objects,
      originals: runtime.originals,
      remote: claims.remote,
      events: parts.events,
      secrets: parts.secrets,
      certificates: new CertificateChecks(runtime, parts.profiles, options.trust, 'operator'),
      authorities: claims.authorities,
      outputCollision: options.outputCollision,
    }),
    ...webhooks.handlers,
    operateHandler(parts.jobs.operations),
  ];
}

/** Recovers the last run. */
async function recoverParts({
  options,
  runtime,
  access,
  jobs,
  events,
}: BatchWiring): Promise<RecoveryReport> {
  await runtime.store.nodes?.countersInOrder('jobs/', (counters) => {
    runtime.counts.reset(counters);
    jobs.columns.reset();
  });
  await access.keys.open(options.fromFiles?.keys ?? []);
  await access.ended.open(options.fromFiles?.ended ?? []);
  const recovery = await recover(runtime, options.layout);
  await runtime.objects?.moveAllErrors();
  if (recovery.failed + recovery.orphans > 0)
    await events.record(recoveryEvent(recovery, runtime.clock.now()));
  return recovery;
}

/** The batch service, opened. */
export class Batch implements HostedService {
  readonly #parts: BatchWiring;
  readonly #singletons: Singletons;
  readonly #sweep: InputSweep | undefined;

  readonly access: BatchWiring['access'];
  readonly events: BatchWiring['events'];
  readonly jobs: JobService;
  readonly operations: BatchWiring['jobs']['operations'];
  readonly statistics: BatchWiring['jobs']['statistics'];
  readonly webhooks: BatchWiring['webhooks']['deliveries'];
  readonly bulk: BulkService;
  readonly retention: JobRetention;
  readonly profiles: ProfileViews;
  readonly pipeline: PipelineService;
  readonly folders: FolderService;
  readonly validation: FileValidations;
  readonly health: HealthModel;
  /** Inspects the actors of all services of the runtime. */
  readonly inspection: InspectionService;
  readonly recovery: RecoveryReport;

  constructor(
    parts: BatchWiring,
    {
      host,
      pool,
      recovery,
    }: { readonly host: Runtime; readonly pool: SigningPool; readonly recovery: RecoveryReport },
  ) {
    const { options, runtime, claims, jobs, events } = parts;
    this.#parts = parts;
    this.#singletons = new Singletons(runtime);
    this.#sweep = runtime.objects && new InputSweep(runtime, runtime.objects);
    this.access = parts.access;
    this.events = events;
    this.jobs = jobs.service;
    this.operations = jobs.operations;
    this.statistics = jobs.statistics;
    this.webhooks = parts.webhooks.deliveries;
    this.bulk = new BulkService(runtime, jobs.service, events);
    this.retention = new JobRetention(runtime, events, options.keepJobs);
    this.profiles = new ProfileViews(parts.profiles);
    this.pipeline = new PipelineService(runtime, options.maxConcurrency, claims.storage);
    this.folders = new FolderService(runtime.clock, parts.folders, parts.intake, events);
    this.validation = new FileValidations(jobs.files, pool, runtime.clock);
    this.health = healthOf(parts, host, pool);
    this.inspection = new InspectionService(runtime, host, pool, events);
    this.recovery = recovery;
  }

  /** Sees each committed step; see `ServicePlan.observe`. */
  observe(step: Step, isOwn: boolean): void {
    const { observer, jobs, claims, folders } = this.#parts;
    // Each node counts its own work in its metrics.
    if (isOwn) notifyObserver(observer, step);
    jobs.service.observe(step);
    jobs.statistics.observe(step);
    claims.inputWaits.observe(step);
    observeStep(step, claims.pipeline, folders, isOwn);
  }

  /** Starts watching folders and claiming jobs. */
  async start(): Promise<void> {
    const { claims, folders, jobs } = this.#parts;
    await claims.storage.start();
    await this.#singletons.run('folders', () => folders.start());
    await claims.pipeline.start();
    await this.#singletons.run('remote-poll', () => claims.remotePoll.start());
    await this.#singletons.run('retention', () => this.retention.start());
    void jobs.columns.prepare();
    const sweep = this.#sweep;
    if (sweep) await this.#singletons.run('input-sweep', () => sweep.start());
  }

  /** True while the pipeline claims nothing. */
  get paused(): boolean {
    return this.#parts.claims.pipeline.paused;
  }

  /** Jobs in any of these states; all when undefined. */
  count(states?: readonly JobState[]): number {
    return this.#parts.runtime.counts.count(states);
  }

  /** Jobs in Processing or Verifying. */
  inFlight(): number {
    return this.#parts.runtime.counts.inFlight();
  }

  /** Stops accepting work; waits up to `grace` milliseconds for jobs in flight. */
  async drain(grace: number): Promise<void> {
    const { runtime, claims, jobs, webhooks } = this.#parts;
    const { clock } = runtime;
    const until = clock.elapsed() + grace;
    for (const waiting of [jobs.waits, this.inspection.changes]) waiting.stop();
    await this.#singletons.stop();
    claims.inputWaits.stop();
    claims.authorities.stop();
    // The deadline also ends a call to a slow portal.
    let stopWaiting = () => {};
    const deadline = new Promise<void>((resolve) => {
      stopWaiting = clock.after(grace, resolve);
    });
    await Promise.race([this.#stopParts(), deadline]);
    stopWaiting();
    jobs.columns.close();
    await this.#singletons.release();
    webhooks.close();
    // Jobs that wait for disk space are not awaited.
    while (claims.pipeline.working() > 0 && claims.storage.held === null && clock.elapsed() < until)
      await clock.sleep(DRAIN_CHECK_MS);
  }

  async #stopParts(): Promise<void> {
    const { claims, folders } = this.#parts;
    await Promise.all([
      folders.stop(),
      claims.pipeline.stop(),
      claims.remotePoll.stop(),
      this.retention.stop(),
      this.#sweep?.stop(),
      claims.storage.stop(),
    ]);
  }
}

function healthOf(parts: BatchWiring, host: Runtime, pool: SigningPool): HealthModel {
  const { options, runtime, claims, profiles, folders } = parts;
  const health = new HealthModel();
  health.add(
    databaseProbe(runtime.store, runtime.actors),
    shardsProbe(() => host.stats().shards),
    claims.storage.probe,
    foldersProbe(folders),
    () => [licenseCheck(options.license)],
    () => (options.notices ?? []).map(({ name, says }) => degraded(name, says)),
    profilesProbe(profiles, runtime.clock, options.keyTrouble),
    authoritiesProbe(claims.authorities),
    remoteProbe(claims.remote, runtime.counts),
    poolProbe(pool),
  );
  return health;
}
