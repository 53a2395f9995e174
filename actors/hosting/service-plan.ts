/**
 * Plan of a service for the common runtime: its actor definitions, its effect handlers and the function that opens it
 * once the runtime exists.
 */
import type {
  Actor,
  ActorStore,
  Calls,
  Clock,
  Faults,
  HandledEffect,
  Ids,
  Log,
  Runtime,
  Step,
} from '@sealwright/runtime';

/** The common runtime and what comes with it: one object for all classes of a service. */
export interface ServiceRuntime {
  /** Not to be called before the runtime is created. */
  readonly actors: Calls;
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly faults: Faults;
}

/** Definitions and handlers that a service adds to the common runtime. */
export interface ServicePlan<Service extends HostedService = HostedService> {
  readonly definitions: readonly Actor[];
  readonly handlers: readonly HandledEffect<unknown>[];
  /**
   * Sees each committed step of its kinds, of all nodes, before its sender is answered, those before `open` too.
   * Synchronous; must be quick. `isOwn`: this process committed it.
   */
  observe(step: Step, isOwn: boolean): void;
  /** Recovers the last run. The service answers requests from here on; nothing is begun before its `start`. */
  open(runtime: Runtime): Promise<Service>;
}

export interface HostedService {
  /** The runtime does stored work from here on. */
  start(): Promise<void>;
  /** Accepts no new work; resolves when its work in progress has ended, at most `grace` milliseconds later. */
  drain(grace: number): Promise<void>;
}
