/**
 * Metrics of the batch service and `GET /api/metrics`. Counters and histograms come from committed steps; gauges are
 * computed on each scrape.
 *
 * Source: docs/batch-values.md §0, §11.
 */
import { Counter, collectDefaultMetrics, Registry } from 'prom-client';
import type { Batch, BatchObserver } from '../../actors/index.ts';
import type { OperatorActivity } from '../../actors/portal/api.ts';
import { readMetrics } from '../../contracts/batch/system.ts';
import type { RequestObserver } from '../core/request/request-outcome.ts';
import type { AnyRoute } from '../core/router.ts';
import { handle } from './handle.ts';
import { createJobMetrics, type MetricsSubjects } from './job-metrics.ts';
import { createPortalMetrics, type PortalMetrics } from './portal-metrics.ts';
import { createServiceGauges, readService } from './service-gauges.ts';

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

/**
 * Gauges of the library that are named as counters (https://github.com/prometheus/client_js/issues/283);
 * `nodejs_active_resources` and similar metrics have the same values.
 */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

export interface BatchMetrics {
  readonly observer: BatchObserver;
  readonly request: RequestObserver;
  /** Metrics of the portal, which has no endpoint of its own. */
  readonly portalRequest: RequestObserver;
  readonly portalSigned: PortalMetrics['signed'];
  readonly portalVisited: PortalMetrics['visited'];
  /** Text exposition, format 0.0.4. */
  expose(service: Batch, portal?: Pick<OperatorActivity, 'load'>): Promise<string>;
  /** Names of all metrics, for tests. */
  names(): readonly string[];
}

export function createBatchMetrics(subjects: MetricsSubjects, now: () => number): BatchMetrics {
  const registry = new Registry();
  if (subjects.process ?? true) {
    collectDefaultMetrics({ register: registry });
    for (const name of MISNAMED) registry.removeSingleMetric(name);
  }
  const observer = createJobMetrics(registry, subjects);
  const gauges = createServiceGauges(registry);
  const portal = createPortalMetrics(registry, now);
  return {
    observer,
    request: createRequestCounter('batch_http_requests_total', 'Answered requests.', registry),
    portalRequest: createRequestCounter(
      'portal_http_requests_total',
      'Answered requests of the portal.',
      registry,
    ),
    portalSigned: portal.signed,
    portalVisited: portal.visited,
    async expose(service, activity) {
      if (activity !== undefined) await portal.read(activity);
      await readService(gauges, service, now);
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
