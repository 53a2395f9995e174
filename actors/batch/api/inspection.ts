/** Statistics, health and inspection of actors, as the HTTP layer calls them. */

import type {
  ActorPage,
  ActorQuery,
  ActorReport,
  KindReport,
  MachineChart,
} from '@sealwright/runtime/inspect';
import type { RuntimeView } from '../../../contracts/batch/runtime.ts';
import type { StatisticsSeries, StatisticsView } from '../../../contracts/batch/statistics.ts';
import type { HEALTH_STATUSES } from '../../../contracts/batch/words.ts';
import type { Millis } from '../../../machines/ids.ts';

/** Ends of jobs and durations of their stages, by interval. */
export type EndedSeries = Omit<StatisticsSeries, 'oldestQueuedAt'>;

export interface Statistics {
  /** @param window length of the time that ends now, milliseconds; cleared jobs are not counted */
  over(window: Millis): Promise<StatisticsView>;
  /** @param intervals number of equal parts of the window, 1 to 96 */
  series(window: Millis, intervals: number): Promise<EndedSeries>;
}

/**
 * State of one component. `Degraded`: the component fails and the rest works, so `GET /api/ready` answers 200.
 * `Unhealthy`: the service cannot work (503). Source: docs/batch-values.md §3.
 */
export type HealthStatus = (typeof HEALTH_STATUSES)[number];

/** One check. `GET /api/ready`, metrics, alert rules, pages and `doctor` use the same names. */
export interface HealthCheck {
  readonly name: string;
  readonly status: HealthStatus;
  /** Reason or finding, for operators. */
  readonly detail: string | null;
  /** Text for unauthenticated callers: without paths, certificates and system errors. @default null */
  readonly publicDetail?: string;
}

export interface Health {
  checks(): Promise<readonly HealthCheck[]>;
}

/** Inspects the actors of all services of the process. */
export interface ActorInspection {
  kinds(): Promise<readonly KindReport[]>;
  /** Counts stopped actors, failing effects and stalled tasks. */
  stoppedActors(): Promise<{
    readonly stopped: number;
    readonly failing: number;
    /** Stalled tasks of the pool. */
    readonly hung: number;
    /** Effects set aside because the process died while they ran alone. */
    readonly setAside: number;
  }>;
  /** The states of an actor kind; undefined for an unknown kind. */
  states(kind: string): readonly string[] | undefined;
  /** States and transitions of an actor kind; undefined for an unknown kind. */
  chart(kind: string): MachineChart | undefined;
  /** Undefined for an unknown kind. */
  list(query: ActorQuery): Promise<ActorPage | undefined>;
  actor(address: { readonly kind: string; readonly id: string }): Promise<ActorReport | undefined>;
  /**
   * Restarts a stopped actor from its last committed state, or runs an effect that was set aside again. Records
   * operator and reason. `unknown`: no such actor; `running`: it is not stopped.
   */
  restart(
    address: { readonly kind: string; readonly id: string },
    by: { readonly operator: string; readonly reason: string },
  ): Promise<'restarted' | 'running' | 'unknown'>;
  runtime(): Promise<RuntimeView>;
  readonly changes: {
    /**
     * Resolves with the current version when it differs from `known`, and after `within` milliseconds at the latest.
     * A version is a short text that changes with each step.
     */
    wait(known: string, within: Millis): Promise<string>;
    /** As `wait`; all callers receive the same version at the same time, on average one in `interval` milliseconds. */
    waitShared(known: string, within: Millis, interval: Millis): Promise<string>;
    /** The current version. */
    readonly version: string;
    /** True if what was read at the version `read` includes all steps of the version `asked`. */
    includes(read: string, asked: string): boolean;
  };
  /** Asks a node to finish its work and end. False when there is no node of this name. */
  drain(node: string, operator: string): Promise<boolean>;
}
