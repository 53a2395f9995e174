/**
 * Health of the process: one list of named checks for `GET /api/ready`, the metric `batch_health_check`, the alert
 * rules, the operator pages and `sealwright doctor`.
 *
 * Source: docs/batch-values.md §0, §3.
 */

import type { HealthStatus } from '../../../contracts/batch/component-states.ts';

/** One check. `GET /api/ready`, metrics, alert rules, pages and `doctor` use the same names. */
export interface HealthCheck {
  readonly name: string;
  /**
   * `Degraded`: the component fails and the rest works, so `GET /api/ready` answers 200. `Unhealthy`: the service cannot
   * work (503). Source: docs/batch-values.md §3.
   */
  readonly status: HealthStatus;
  /** Reason or finding, for operators. */
  readonly detail: string | null;
  /** Text for unauthenticated callers: without paths, certificates and system errors. @default null */
  readonly publicDetail?: string;
}

/** Checks one component on each readiness request; must be cheap. Empty: the component is not in use. */
export type HealthProbe = () => readonly HealthCheck[] | Promise<readonly HealthCheck[]>;

/** Runs the probes of all components; the only source of health. */
export class HealthModel {
  readonly #probes: HealthProbe[] = [];

  /** Adds probes; their order is the order of the checks. */
  add(...probes: readonly HealthProbe[]): void {
    this.#probes.push(...probes);
  }

  async checks(): Promise<readonly HealthCheck[]> {
    const lists = await Promise.all(this.#probes.map((probe) => probe()));
    return lists.flat();
  }
}

/** A Healthy check; `detail` is for operators, `publicDetail` for all callers. */
export function healthy(name: string, detail: string | null = null, publicDetail?: string): HealthCheck {
  return { name, status: 'Healthy', detail, ...(publicDetail !== undefined && { publicDetail }) };
}

/** A check of an optional component: `GET /api/ready` answers 200. */
export function degraded(name: string, detail: string): HealthCheck {
  return { name, status: 'Degraded', detail };
}

/** A check of a required component: `GET /api/ready` answers 503. */
export function unhealthy(name: string, detail: string): HealthCheck {
  return { name, status: 'Unhealthy', detail };
}
