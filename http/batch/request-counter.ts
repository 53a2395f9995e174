/** Counts replies by route and status; the metrics library is called only when metrics are read. */
import { Counter, type Registry } from 'prom-client';
import type { RequestObserver } from '../core/request/request-outcome.ts';

export function createRequestCounter(name: string, help: string, registry: Registry): RequestObserver {
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
