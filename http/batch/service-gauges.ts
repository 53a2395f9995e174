/** Gauges of the batch service, computed on each scrape: they are correct directly after a restart. */
import { Gauge, type Registry } from 'prom-client';
import type { Batch } from '../../actors/index.ts';
import { HEALTH_STATUSES } from '../../contracts/batch/component-states.ts';
import { jobStatesIn } from '../../contracts/batch/words.ts';

const GAUGES = {
  webhooksPending: {
    name: 'batch_webhook_deliveries_pending',
    help: 'Webhook deliveries for the ends of jobs that wait for an attempt.',
    labels: [],
  },
  actorsStopped: {
    name: 'batch_actors_stopped',
    help: 'Actors given up after too many failures.',
    labels: [],
  },
  effectsFailing: {
    name: 'batch_effects_failing',
    help: 'Effects that failed and wait for their next try.',
    labels: [],
  },
  effectsSetAside: {
    name: 'batch_effects_set_aside',
    help: 'Effects that do not run because the process died while they ran alone.',
    labels: [],
  },
  poolHung: {
    name: 'batch_pool_hung',
    help: 'Tasks of the pool that take longer than a task should.',
    labels: [],
  },
  queued: { name: 'batch_jobs_queued', help: 'Jobs that wait to be claimed.', labels: [] },
  oldestQueued: {
    name: 'batch_oldest_queued_seconds',
    help: 'Seconds that the job at the head of the queue has waited; 0 when none waits.',
    labels: [],
  },
  paused: { name: 'batch_pipeline_paused', help: '1 while the pipeline is paused.', labels: [] },
  held: {
    name: 'batch_pipeline_held',
    help: '1 while the pipeline is held for lack of room or a folder that cannot be written.',
    labels: [],
  },
  inFlight: {
    name: 'batch_jobs_in_flight',
    help: `Jobs in ${jobStatesIn('in-flight').join(' or ')}.`,
    labels: [],
  },
  awaiting: { name: 'batch_jobs_awaiting_remote', help: 'Jobs that wait for a signer.', labels: [] },
  stopped: { name: 'batch_watcher_stopped', help: '1 for a watcher that has stopped.', labels: ['folder'] },
  healthCheck: {
    name: 'batch_health_check',
    help: 'Checks of GET /api/ready: 1 for the status that the check has, 0 for the others.',
    labels: ['check', 'status'],
  },
  expiry: {
    name: 'batch_certificate_expiry_seconds',
    help: 'Seconds until the certificate ends.',
    labels: ['profile'],
  },
} as const;

type Gauges = { readonly [Key in keyof typeof GAUGES]: Gauge<(typeof GAUGES)[Key]['labels'][number]> };

export function createServiceGauges(registry: Registry): Gauges {
  return Object.fromEntries(
    Object.entries(GAUGES).map(([key, { name, help, labels }]) => [
      key,
      new Gauge({ name, help, labelNames: [...labels], registers: [registry] }),
    ]),
  ) as Gauges;
}

export async function readService(gauges: Gauges, service: Batch, now: () => number): Promise<void> {
  gauges.webhooksPending.set((await service.webhooks.counts()).Pending);
  const { stopped: givenUp, failing, hung, setAside } = await service.inspection.stoppedActors();
  gauges.actorsStopped.set(givenUp);
  gauges.effectsFailing.set(failing);
  gauges.poolHung.set(hung);
  gauges.effectsSetAside.set(setAside);
  gauges.queued.set(service.count(['Queued']));
  const oldest = await service.pipeline.oldestQueuedAt();
  gauges.oldestQueued.set(oldest === null ? 0 : Math.max(0, now() - oldest) / 1000);
  const state = await service.pipeline.state();
  gauges.paused.set(state.paused ? 1 : 0);
  gauges.held.set(state.held === null ? 0 : 1);
  gauges.inFlight.set(state.jobsInFlight);
  gauges.awaiting.set(service.count(['AwaitingSigner']));
  for (const { name, status } of await service.folders.list()) {
    gauges.stopped.set({ folder: name }, status === 'Stopped' ? 1 : 0);
  }
  gauges.healthCheck.reset();
  for (const { name, status } of await service.health.checks())
    for (const each of HEALTH_STATUSES)
      gauges.healthCheck.set({ check: name, status: each }, each === status ? 1 : 0);
  for (const { name, certificate } of service.profiles.list()) {
    if (certificate) gauges.expiry.set({ profile: name }, (certificate.notAfter - now()) / 1000);
  }
}
