/** Metrics of jobs by committed steps: counters and histograms. Source: docs/batch-values.md §11. */
import { Counter, Histogram, type Registry } from 'prom-client';
import type { BatchObserver, Stage } from '../../actors/index.ts';
import { JOB_FORMATS } from '../../contracts/batch/words.ts';
import { DISAGREEMENT_CODE } from '../../machines/batch/job-context.ts';

const SIGNING_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const POLL_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const STAGES: readonly Stage[] = ['queue', 'stage', 'sign', 'verify', 'encrypt', 'publish'];
const OPERATIONS = ['upload', 'create', 'poll', 'download', 'cancel'] as const;

/** Verdicts of the second implementation. */
const VERDICTS = ['agrees', 'disagrees', 'not-comparable'] as const;

/** Label of uploads, which belong to no folder. */
const UPLOAD = '(upload)';

const COUNTERS = {
  enqueued: { name: 'batch_jobs_enqueued_total', help: 'Jobs made, by input folder.', labels: ['folder'] },
  completed: { name: 'batch_jobs_completed_total', help: 'Jobs that reached Completed.', labels: [] },
  failed: { name: 'batch_jobs_failed_total', help: 'Jobs that reached Failed.', labels: [] },
  canceled: { name: 'batch_jobs_canceled_total', help: 'Jobs canceled by an operator.', labels: [] },
  pauses: { name: 'batch_pipeline_pause_total', help: 'Times the pipeline was paused.', labels: [] },
  resumes: { name: 'batch_pipeline_resume_total', help: 'Times the pipeline was resumed.', labels: [] },
  encrypted: { name: 'batch_files_encrypted_total', help: 'Encryption envelopes published.', labels: [] },
  dispatched: {
    name: 'batch_jobs_dispatched_to_remote_total',
    help: 'Jobs handed to the remote portal.',
    labels: ['profile'],
  },
  apiErrors: {
    name: 'batch_remote_api_errors_total',
    help: 'Failed calls of the remote portal.',
    labels: ['op'],
  },
  unverified: {
    name: 'batch_jobs_verify_skipped_total',
    help: 'Jobs published without verification.',
    labels: ['profile'],
  },
  independent: {
    name: 'batch_independent_verifications_total',
    help: 'Outputs that a second implementation was asked about, by its verdict.',
    labels: ['profile', 'verdict'],
  },
  badCertificates: {
    name: 'batch_cert_validation_failed_total',
    help: 'Jobs that failed because their certificate was not valid.',
    labels: ['profile'],
  },
  diverged: {
    name: 'batch_inputs_diverged_total',
    help: 'Inputs rewritten while their job was running.',
    labels: ['profile'],
  },
  threadsLost: {
    name: 'batch_actor_threads_lost_total',
    help: 'Threads that hosted actors, were lost and replaced.',
    labels: [],
  },
  unaccepted: {
    name: 'batch_actor_messages_unaccepted_total',
    help: 'Outcomes of effects, messages between actors, and deadlines that the actor did not accept; they are dropped.',
    labels: ['what'],
  },
  webhookCalls: {
    name: 'batch_webhook_calls_total',
    help: 'Attempts to call a webhook for the end of a job, by outcome.',
    labels: ['outcome'],
  },
  webhookDeliveries: {
    name: 'batch_webhook_deliveries_total',
    help: 'Ended webhook deliveries for the ends of jobs: Delivered, or Failed after the last attempt.',
    labels: ['status'],
  },
} as const;

type Counters = {
  readonly [Key in keyof typeof COUNTERS]: Counter<(typeof COUNTERS)[Key]['labels'][number]>;
};

export interface MetricsSubjects {
  /** Names of the configured input folders and profiles; their series start at 0. */
  readonly folders: readonly string[];
  readonly profiles: readonly { readonly name: string; readonly remote: boolean }[];
  /** Metrics of the process itself; false keeps them out of tests that compare. @default true */
  readonly process?: boolean;
}

/** Counts what the observer is told. */
export function createJobMetrics(registry: Registry, subjects: MetricsSubjects): BatchObserver {
  const registers = [registry];
  const counters = Object.fromEntries(
    Object.entries(COUNTERS).map(([key, { name, help, labels }]) => [
      key,
      new Counter({ name, help, labelNames: [...labels], registers }),
    ]),
  ) as Counters;
  const times = createHistograms(registers);
  startAtZero(counters, times, subjects);
  return observerOf(counters, times);
}

type Times = ReturnType<typeof createHistograms>;

function createHistograms(registers: Registry[]) {
  return {
    signing: new Histogram({
      name: 'batch_signing_duration_seconds',
      help: 'From the claim of a job to its published output.',
      buckets: SIGNING_BUCKETS,
      labelNames: ['format'],
      registers,
    }),
    stages: new Histogram({
      name: 'batch_stage_duration_seconds',
      help: 'Parts of a job.',
      buckets: SIGNING_BUCKETS,
      labelNames: ['stage'],
      registers,
    }),
    waits: new Histogram({
      name: 'batch_queue_wait_seconds',
      help: 'From being queued to being claimed.',
      buckets: SIGNING_BUCKETS,
      registers,
    }),
    polls: new Histogram({
      name: 'batch_remote_poll_duration_seconds',
      help: 'One pass over the jobs that wait for a signer.',
      buckets: POLL_BUCKETS,
      registers,
    }),
  };
}

function startAtZero(counters: Counters, times: Times, subjects: MetricsSubjects): void {
  for (const what of ['outcome', 'tell', 'deadline'] as const) counters.unaccepted.inc({ what }, 0);
  for (const folder of [...subjects.folders, UPLOAD]) counters.enqueued.inc({ folder }, 0);
  for (const { name: profile, remote } of subjects.profiles) {
    for (const series of [counters.unverified, counters.badCertificates, counters.diverged])
      series.inc({ profile }, 0);
    for (const verdict of VERDICTS) counters.independent.inc({ profile, verdict }, 0);
    if (remote) counters.dispatched.inc({ profile }, 0);
  }
  for (const op of OPERATIONS) counters.apiErrors.inc({ op }, 0);
  for (const outcome of ['delivered', 'failed']) counters.webhookCalls.inc({ outcome }, 0);
  for (const status of ['Delivered', 'Failed']) counters.webhookDeliveries.inc({ status }, 0);
  for (const format of JOB_FORMATS) times.signing.zero({ format });
  for (const stage of STAGES) times.stages.zero({ stage });
}

function observerOf(counters: Counters, times: Times): BatchObserver {
  return {
    enqueued: (folder) => counters.enqueued.inc({ folder: folder ?? UPLOAD }),
    stageCompleted(stage, took) {
      times.stages.observe({ stage }, took / 1000);
      if (stage === 'queue') times.waits.observe(took / 1000);
    },
    completed(job) {
      counters.completed.inc();
      times.signing.observe({ format: job.format }, job.took / 1000);
      if (job.encrypted) counters.encrypted.inc();
      if (!job.verified) counters.unverified.inc({ profile: job.profile });
      if (job.independent) counters.independent.inc({ profile: job.profile, verdict: job.independent });
    },
    failed({ profile, code }) {
      counters.failed.inc();
      if (code === DISAGREEMENT_CODE) counters.independent.inc({ profile, verdict: 'disagrees' });
      if (code !== null && /^(?:certificate|key)\./.test(code)) counters.badCertificates.inc({ profile });
    },
    canceled: () => counters.canceled.inc(),
    diverged: (profile) => counters.diverged.inc({ profile }),
    paused: () => counters.pauses.inc(),
    resumed: () => counters.resumes.inc(),
    webhookCalled: (delivered) => counters.webhookCalls.inc({ outcome: delivered ? 'delivered' : 'failed' }),
    webhookEnded: (status) => counters.webhookDeliveries.inc({ status }),
    threadLost: () => counters.threadsLost.inc(),
    unaccepted: (what) => counters.unaccepted.inc({ what }),
    dispatched: (profile) => counters.dispatched.inc({ profile }),
    callFailed: (op) => counters.apiErrors.inc({ op }),
    polled: (took) => times.polls.observe(took / 1000),
  };
}
