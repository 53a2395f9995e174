/** Statistics, health and inspection of actors, as the HTTP layer calls them. */

import type { ActorPage, ActorQuery, ActorReport, KindReport, MachineChart } from '@sealwright/runtime';
import type { Millis } from '../../../machines/ids.ts';

/** Milliseconds; null where nothing was counted. */
export interface StageStatistics {
  readonly count: number;
  readonly avgMs: number | null;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly maxMs: number | null;
}

/** Source: docs/batch-values.md §15. */
export interface StatisticsView {
  readonly since: Millis;
  readonly completed: number;
  readonly failed: number;
  readonly canceled: number;
  /** Completed jobs whose output is encrypted. */
  readonly encrypted: number;
  readonly perStage: {
    readonly queueWait: StageStatistics;
    readonly sign: StageStatistics;
    readonly verify: StageStatistics;
    readonly output: StageStatistics;
  };
  readonly perMethod: { readonly Local: number; readonly RemoteSigner: number };
  /** Jobs completed in the last minute. */
  readonly throughputPerMinute: number;
  /** Jobs completed per minute since the process started. */
  readonly lifetimePerMinute: number;
}

/** Ended jobs by equal intervals, oldest first. */
export interface StatisticsSeries {
  readonly since: Millis;
  /** Length of one interval. */
  readonly interval: Millis;
  readonly completed: readonly number[];
  readonly failed: readonly number[];
  readonly canceled: readonly number[];
}

export interface Statistics {
  /** @param window length of the time that ends now, milliseconds; cleared jobs are not counted */
  over(window: Millis): Promise<StatisticsView>;
  /** @param intervals number of equal parts of the window, 1 to 96 */
  series(window: Millis, intervals: number): Promise<StatisticsSeries>;
}

/**
 * State of one component. `Degraded`: the component fails and the rest works, so `GET /api/ready` answers 200.
 * `Unhealthy`: the service cannot work (503). Source: docs/batch-values.md §3.
 */
export type HealthStatus = (typeof HEALTH_STATUSES)[number];

export const HEALTH_STATUSES = ['Healthy', 'Degraded', 'Unhealthy'] as const;

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

/** Quantiles of durations, milliseconds. */
export interface Quantiles {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** One process of the service, where several run on one store. */
export interface NodeView {
  /** `Runtime:NodeName`. */
  readonly name: string;
  readonly version: string;
  /** True for the node that answers. */
  readonly isThis: boolean;
  readonly startedAt: Millis;
  /** Milliseconds since its last heartbeat; beyond the lease the others take over its work. */
  readonly silentMs: number;
  readonly leaseMs: number;
  /** Fencing token of its session. */
  readonly session: number;
  readonly draining: boolean;
  /** Components that run on this node alone. */
  readonly leases: readonly string[];
  /** Effects in progress. */
  readonly effectsInFlight: number;
  /** Age of the steps of other nodes that it had read at its last heartbeat, milliseconds. */
  readonly lagMs: number;
  /** Duration of its last read of them from the database, milliseconds. */
  readonly storeMs: number;
}

/** State of the process: event loop, shards, pool and store. */
export interface RuntimeView {
  /** In the order of their names; empty where one process has the store to itself. */
  readonly nodes: readonly NodeView[];
  /** Delay of the timers of the main thread. */
  readonly eventLoopDelay: Quantiles;
  /** Share of time in which the event loop of the main thread was busy, since the read before, 0 to 1. */
  readonly eventLoopUtilisation: number;
  /** Effects in progress. */
  readonly effectsInFlight: number;
  /** Threads that host actors; with one shard the main thread alone. */
  readonly shards: readonly {
    readonly shard: number;
    /** `main`, or the number of the worker thread; null while a lost thread is being replaced. */
    readonly thread: string | null;
    /** Threads lost since the process started, and the cause of the last loss. */
    readonly losses: number;
    readonly lastLoss: {
      readonly at: Millis;
      readonly why: string;
      /** Kind and id of the actor whose step was being computed; null for none. */
      readonly actor: string | null;
    } | null;
    /** Actors with a message in progress or waiting, and the length of the longest mailbox. */
    readonly awakeActors: number;
    readonly deepestMailbox: number;
    /** Time from the hand-over of a step to its durability, over the last steps. */
    readonly commit: Quantiles;
    /** Share of time in which the event loop of the thread was busy, since the read before, 0 to 1. */
    readonly utilisation: number;
    /** Delay of the timers of the thread. */
    readonly eventLoopDelay: Quantiles;
  }[];
  readonly pool: {
    readonly threads: number;
    /** Threads that run tasks. */
    readonly busy: number;
    /** Tasks that wait for a thread. */
    readonly waiting: number;
    /** Share of thread time spent working since the start, 0 to 1. */
    readonly utilisation: number;
    /** Tasks past their expected duration, oldest first. */
    readonly stalled: readonly {
      readonly task: string;
      /** Id of the job or document. */
      readonly subject: string;
      /** `computing`: the thread does not respond; `waiting`: it responds. */
      readonly state: 'computing' | 'waiting';
      readonly runningMs: number;
      /** Time limit of the task, measured from its start. */
      readonly deadlineMs: number;
    }[];
  };
  readonly store: {
    readonly engine: string;
    /** Size on disk; null for a store without one. */
    readonly bytes: number | null;
  };
  readonly memory: { readonly residentBytes: number; readonly heapBytes: number };
  readonly uptimeSeconds: number;
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
