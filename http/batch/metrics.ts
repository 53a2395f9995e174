/**
 * Metrics of the batch service and `GET /api/metrics`. Counters and histograms come from committed steps; gauges are
 * computed on each scrape, so they are correct directly after a restart.
 *
 * Source: docs/batch-values.md §0, §11.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Batch, BatchObserver, Stage } from '../../actors/index.ts';
import type { OperatorActivity } from '../../actors/portal/api.ts';
import { readMetrics } from '../../contracts/batch/system.ts';
import { HEALTH_STATUSES } from '../../contracts/batch/words.ts';
import { DELIVERY_STATUSES, MAIL_STATUSES } from '../../contracts/deliveries.ts';
import { DOCUMENT_STATUSES } from '../../contracts/portal/words.ts';
import { DISAGREEMENT_CODE, type JobFormat } from '../../machines/batch/job-context.ts';
import type { RequestObserver } from '../core/request/request-outcome.ts';
import type { AnyRoute } from '../core/router.ts';
import { handle } from './handle.ts';

/** Counts replies by route and status; the metrics library is called only when metrics are read. */
function createRequestCounter(name: string, help: string, registry: Registry): RequestObserver {
  const counts = new Map<string, Map<number, number>>();
  new Counter({
    name,
    help,
    labelNames: ['route', 'status'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [route, byStatus] of counts)
        for (const [status, count] of byStatus) this.inc({ route, status: String(status) }, count);
    },
  });
  return ({ route, status }) => {
    let byStatus = counts.get(route);
    if (byStatus === undefined) {
      byStatus = new Map();
      counts.set(route, byStatus);
    }
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  };
}

const SIGNATURE_KINDS = ['electronic', 'certificate', 'approval'] as const;
const BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Metrics of the portal, which has no endpoint of its own. Read from the store on each request. */
interface PortalMetrics {
  signed(kind: string, took: number): void;
  read(portal: Pick<OperatorActivity, 'load'>): Promise<void>;
}

function createPortalMetrics(registry: Registry, now: () => number): PortalMetrics {
  const registers = [registry];
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  const documents = gauge('portal_documents', 'Documents by status.', ['status']);
  const mails = gauge(
    'portal_mails',
    'E-mails by status: Waiting after a failed attempt, Failed after the last.',
    ['status'],
  );
  const oldestMail = gauge(
    'portal_mail_oldest_waiting_seconds',
    'Age of the oldest e-mail that is not sent and not given up; 0 when there is none.',
  );
  const calls = gauge(
    'portal_webhook_deliveries',
    'Webhook deliveries by status; Failed after the last attempt.',
    ['status'],
  );
  const oldestCall = gauge(
    'portal_webhook_oldest_pending_seconds',
    'Age of the oldest webhook delivery that waits for an attempt; 0 when there is none.',
  );
  const signing = new Histogram({
    name: 'portal_signing_duration_seconds',
    help: 'Time to put an accepted signature into its document, without the wait before.',
    labelNames: ['kind'],
    buckets: BUCKETS,
    registers,
  });
  for (const kind of SIGNATURE_KINDS) signing.zero({ kind });
  const set = (into: Gauge, states: readonly string[], counts: { readonly [state: string]: number }) => {
    for (const status of new Set([...states, ...Object.keys(counts)]))
      into.set({ status }, counts[status] ?? 0);
  };
  const age = (at: number | null) => (at === null ? 0 : Math.max(0, now() - at) / 1000);
  return {
    signed: (kind, took) => signing.observe({ kind }, took / 1000),
    async read(portal) {
      const load = await portal.load();
      set(documents, DOCUMENT_STATUSES, load.documents);
      set(mails, MAIL_STATUSES, load.mails.counts);
      set(calls, DELIVERY_STATUSES, load.webhooks.counts);
      oldestMail.set(age(load.mails.oldestWaiting));
      oldestCall.set(age(load.webhooks.oldestWaiting));
    },
  };
}

const SIGNING_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const POLL_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const FORMATS: readonly JobFormat[] = ['Pades', 'Cades', 'Xades'];
const STAGES: readonly Stage[] = ['queue', 'stage', 'sign', 'verify', 'encrypt', 'publish'];
const OPERATIONS = ['upload', 'create', 'poll', 'download', 'cancel'] as const;

/** Verdicts of the second implementation. */
const VERDICTS = ['agrees', 'disagrees', 'not-comparable'] as const;

/**
 * Gauges of the library that are named as counters (https://github.com/prometheus/client_js/issues/283);
 * `nodejs_active_resources` and similar metrics have the same values.
 */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Label of uploads, which belong to no folder. */
const UPLOAD = '(upload)';

export interface MetricsSubjects {
  /** Names of the configured input folders and profiles; their series start at 0. */
  readonly folders: readonly string[];
  readonly profiles: readonly { readonly name: string; readonly remote: boolean }[];
  /** Metrics of the process itself; false keeps them out of tests that compare. @default true */
  readonly process?: boolean;
}

export interface BatchMetrics {
  readonly observer: BatchObserver;
  readonly request: RequestObserver;
  /** Metrics of the portal, which has no endpoint of its own. */
  readonly portalRequest: RequestObserver;
  readonly portalSigned: PortalMetrics['signed'];
  /** Text exposition, format 0.0.4. */
  expose(service: Batch, portal?: Pick<OperatorActivity, 'load'>): Promise<string>;
  /** Names of all metrics, for tests. */
  names(): readonly string[];
}

export function createBatchMetrics(subjects: MetricsSubjects, now: () => number): BatchMetrics {
  const registry = new Registry();
  const registers = [registry];
  if (subjects.process ?? true) {
    collectDefaultMetrics({ register: registry });
    for (const name of MISNAMED) registry.removeSingleMetric(name);
  }
  const counter = <Label extends string>(name: string, help: string, labels: readonly Label[] = []) =>
    new Counter({ name, help, labelNames: [...labels], registers });
  const gauge = <Label extends string>(name: string, help: string, labels: readonly Label[] = []) =>
    new Gauge({ name, help, labelNames: [...labels], registers });
  const histogram = <Label extends string>(
    name: string,
    help: string,
    buckets: number[],
    labels: readonly Label[] = [],
  ) => new Histogram({ name, help, buckets, labelNames: [...labels], registers });

  const enqueued = counter('batch_jobs_enqueued_total', 'Jobs made, by input folder.', ['folder']);
  const completed = counter('batch_jobs_completed_total', 'Jobs that reached Completed.');
  const failed = counter('batch_jobs_failed_total', 'Jobs that reached Failed.');
  const canceled = counter('batch_jobs_canceled_total', 'Jobs canceled by an operator.');
  const pauses = counter('batch_pipeline_pause_total', 'Times the pipeline was paused.');
  const resumes = counter('batch_pipeline_resume_total', 'Times the pipeline was resumed.');
  const encrypted = counter('batch_files_encrypted_total', 'Encryption envelopes published.');
  const dispatched = counter('batch_jobs_dispatched_to_remote_total', 'Jobs handed to the remote portal.', [
    'profile',
  ]);
  const apiErrors = counter('batch_remote_api_errors_total', 'Failed calls of the remote portal.', ['op']);
  const unverified = counter('batch_jobs_verify_skipped_total', 'Jobs published without verification.', [
    'profile',
  ]);
  const independent = counter(
    'batch_independent_verifications_total',
    'Outputs that a second implementation was asked about, by its verdict.',
    ['profile', 'verdict'],
  );
  const badCertificates = counter(
    'batch_cert_validation_failed_total',
    'Jobs that failed because their certificate was not valid.',
    ['profile'],
  );
  const diverged = counter('batch_inputs_diverged_total', 'Inputs rewritten while their job was running.', [
    'profile',
  ]);
  const threadsLost = counter(
    'batch_actor_threads_lost_total',
    'Threads that hosted actors, were lost and replaced.',
  );
  const unaccepted = counter(
    'batch_actor_messages_unaccepted_total',
    'Outcomes of effects, messages between actors, and deadlines that the actor did not accept; they are dropped.',
    ['what'],
  );
  for (const what of ['outcome', 'tell', 'deadline'] as const) unaccepted.inc({ what }, 0);
  const webhookCalls = counter(
    'batch_webhook_calls_total',
    'Attempts to call a webhook for the end of a job, by outcome.',
    ['outcome'],
  );
  const webhookDeliveries = counter(
    'batch_webhook_deliveries_total',
    'Ended webhook deliveries for the ends of jobs: Delivered, or Failed after the last attempt.',
    ['status'],
  );
  const webhooksPending = gauge(
    'batch_webhook_deliveries_pending',
    'Webhook deliveries for the ends of jobs that wait for an attempt.',
  );
  const request = createRequestCounter('batch_http_requests_total', 'Answered requests.', registry);
  const portalRequest = createRequestCounter(
    'portal_http_requests_total',
    'Answered requests of the portal.',
    registry,
  );
  const signing = histogram(
    'batch_signing_duration_seconds',
    'From the claim of a job to its published output.',
    SIGNING_BUCKETS,
    ['format'],
  );
  const stages = histogram('batch_stage_duration_seconds', 'Parts of a job.', SIGNING_BUCKETS, ['stage']);
  const waits = histogram('batch_queue_wait_seconds', 'From being queued to being claimed.', SIGNING_BUCKETS);
  const polls = histogram(
    'batch_remote_poll_duration_seconds',
    'One pass over the jobs that wait for a signer.',
    POLL_BUCKETS,
  );
  const portal = createPortalMetrics(registry, now);
  const actorsStopped = gauge('batch_actors_stopped', 'Actors given up after too many failures.');
  const effectsFailing = gauge('batch_effects_failing', 'Effects that failed and wait for their next try.');
  const effectsSetAside = gauge(
    'batch_effects_set_aside',
    'Effects that do not run because the process died while they ran alone.',
  );
  const poolHung = gauge('batch_pool_hung', 'Tasks of the pool that take longer than a task should.');
  const queued = gauge('batch_jobs_queued', 'Jobs that wait to be claimed.');
  const oldestQueued = gauge(
    'batch_oldest_queued_seconds',
    'Seconds that the job at the head of the queue has waited; 0 when none waits.',
  );
  const paused = gauge('batch_pipeline_paused', '1 while the pipeline is paused.');
  const heldGauge = gauge(
    'batch_pipeline_held',
    '1 while the pipeline is held for lack of room or a folder that cannot be written.',
  );
  const inFlight = gauge('batch_jobs_in_flight', 'Jobs in Processing or Verifying.');
  const awaiting = gauge('batch_jobs_awaiting_remote', 'Jobs that wait for a signer.');
  const stopped = gauge('batch_watcher_stopped', '1 for a watcher that has stopped.', ['folder']);
  const healthCheck = gauge(
    'batch_health_check',
    'Checks of GET /api/ready: 1 for the status that the check has, 0 for the others.',
    ['check', 'status'],
  );
  const expiry = gauge('batch_certificate_expiry_seconds', 'Seconds until the certificate ends.', [
    'profile',
  ]);

  for (const folder of [...subjects.folders, UPLOAD]) enqueued.inc({ folder }, 0);
  for (const { name: profile, remote } of subjects.profiles) {
    for (const series of [unverified, badCertificates, diverged]) series.inc({ profile }, 0);
    for (const verdict of VERDICTS) independent.inc({ profile, verdict }, 0);
    if (remote) dispatched.inc({ profile }, 0);
  }
  for (const op of OPERATIONS) apiErrors.inc({ op }, 0);
  for (const outcome of ['delivered', 'failed']) webhookCalls.inc({ outcome }, 0);
  for (const status of ['Delivered', 'Failed']) webhookDeliveries.inc({ status }, 0);
  for (const format of FORMATS) signing.zero({ format });
  for (const stage of STAGES) stages.zero({ stage });

  return {
    observer: {
      enqueued: (folder) => enqueued.inc({ folder: folder ?? UPLOAD }),
      stageCompleted(stage, took) {
        stages.observe({ stage }, took / 1000);
        if (stage === 'queue') waits.observe(took / 1000);
      },
      completed(job) {
        completed.inc();
        signing.observe({ format: job.format }, job.took / 1000);
        if (job.encrypted) encrypted.inc();
        if (!job.verified) unverified.inc({ profile: job.profile });
        if (job.independent) independent.inc({ profile: job.profile, verdict: job.independent });
      },
      failed({ profile, code }) {
        failed.inc();
        if (code === DISAGREEMENT_CODE) independent.inc({ profile, verdict: 'disagrees' });
        if (code !== null && /^(?:certificate|key)\./.test(code)) badCertificates.inc({ profile });
      },
      canceled: () => canceled.inc(),
      diverged: (profile) => diverged.inc({ profile }),
      paused: () => pauses.inc(),
      resumed: () => resumes.inc(),
      webhookCalled: (delivered) => webhookCalls.inc({ outcome: delivered ? 'delivered' : 'failed' }),
      webhookEnded: (status) => webhookDeliveries.inc({ status }),
      threadLost: () => threadsLost.inc(),
      unaccepted: (what) => unaccepted.inc({ what }),
      dispatched: (profile) => dispatched.inc({ profile }),
      callFailed: (op) => apiErrors.inc({ op }),
      polled: (took) => polls.observe(took / 1000),
    },
    request,
    portalRequest,
    portalSigned: portal.signed,
    async expose(service, activity) {
      if (activity !== undefined) await portal.read(activity);
      webhooksPending.set((await service.webhooks.counts()).Pending);
      const { stopped: givenUp, failing, hung, setAside } = await service.inspection.stoppedActors();
      actorsStopped.set(givenUp);
      effectsFailing.set(failing);
      poolHung.set(hung);
      effectsSetAside.set(setAside);
      queued.set(service.count(['Queued']));
      const oldest = await service.pipeline.oldestQueuedAt();
      oldestQueued.set(oldest === null ? 0 : Math.max(0, now() - oldest) / 1000);
      const state = await service.pipeline.state();
      paused.set(state.paused ? 1 : 0);
      heldGauge.set(state.held === null ? 0 : 1);
      inFlight.set(state.jobsInFlight);
      awaiting.set(service.count(['AwaitingSigner']));
      for (const { name, status } of await service.folders.list()) {
        stopped.set({ folder: name }, status === 'Stopped' ? 1 : 0);
      }
      healthCheck.reset();
      for (const { name, status } of await service.health.checks())
        for (const each of HEALTH_STATUSES)
          healthCheck.set({ check: name, status: each }, each === status ? 1 : 0);
      for (const { name, certificate } of service.profiles.list()) {
        if (certificate) expiry.set({ profile: name }, (certificate.notAfter - now()) / 1000);
      }
      return registry.metrics();
    },
    names: () => registry.getMetricsAsArray().map(({ name }) => name),
  };
}

/** @param requireKey `Metrics:RequireApiKey` */
export function metricsRoutes(expose: () => Promise<string>, requireKey: boolean): readonly AnyRoute[] {
  return [
    handle({ ...readMetrics, auth: requireKey ? 'operator' : 'anonymous' }, async () => ({
      kind: 'asset',
      status: 200,
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      body: await expose(),
      headers: [],
    })),
  ];
}
