/**
 * How a service comes to the common runtime: which actors it has, who does the work they ask for, and how it is opened
 * once the runtime of all services is there.
 */
import type {
  ActorDefinition,
  ActorStore,
  Clock,
  EffectHandler,
  Faults,
  Ids,
  Log,
  Runtime,
  Step,
} from '../runtime/index.ts';
import type { SigningPool } from './pool/pool.ts';

/** What every service is given. */
export interface ServiceParts {
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly faults: Faults;
  readonly pool: SigningPool;
}

/** What a service brings to the common runtime. */
export interface ServicePlan<Service extends HostedService = HostedService> {
  readonly definitions: readonly ActorDefinition[];
  readonly handlers: { readonly [name: string]: EffectHandler };
  /** Sees each committed step before its sender is answered, those before `open` too. Synchronous; must be quick. */
  observe(step: Step): void;
  /** Recovers the last run. The service answers requests from here on; nothing is begun before its `start`. */
  open(runtime: Runtime): Promise<Service>;
}

export interface HostedService {
  /** The runtime does stored work from here on. */
  start(): Promise<void>;
  /** Takes nothing new from the call on; resolves when nothing of its own is under way, at most `grace` milliseconds later. */
  quiet(grace: number): Promise<void>;
}
