/** Puts the runtime together from its parts. */
import type { ActorDefinition, ActorSystem, EffectHandler, StepOutcome } from './definition.ts';
import { describeFailure, Fatal } from './failures.ts';
import { Faults } from './faults.ts';
import { type ActorHost, Host, type HostParts, type HostReport, type ShardLife } from './host.ts';
import { Inspector } from './inspect.ts';
import { commonQueue, LaneQueue } from './lanes.ts';
import { checkMachine } from './machine-shape.ts';
import { Outbox, type OutboxParts, TELL_EFFECT } from './outbox.ts';
import type { ActorAddress, ActorStore, Clock, Ids, Log, Millis, Step, StoredEffect } from './ports.ts';
import { ShardedHost } from './shards/sharded-host.ts';
import { type RestartLimit, Supervisor } from './supervisor.ts';
import { Timers } from './timers.ts';

export interface RuntimeOptions {
  /** Effects in work at once. Whole number, at least 1; more wait in the store. @default 64 */
  readonly effectsInFlight?: number;
  /** Recently used actors kept in memory. 0 keeps none. @default 1024 */
  readonly cachedActors?: number;
  readonly restarts?: RestartLimit;
}

export interface RuntimeParts {
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly faults?: Faults;
  readonly definitions: readonly ActorDefinition[];
  /** Who does which effect, by its `do`. `tell` is built in. */
  readonly handlers: { readonly [name: string]: EffectHandler };
  /** Sees each committed step before its sender is answered. Synchronous; must be quick. */
  readonly onCommitted?: (step: Step) => void;
  readonly options?: RuntimeOptions;
  /** Actors live on threads of their own; missing = on this one. */
  readonly shards?: ShardOptions;
}

/** Threads that host actors. */
export interface ShardOptions {
  /** Whole number, at least 2. */
  readonly count: number;
  /** URL of the module that exports, as `shardParts`, the definitions of above and the lanes of the handlers. */
  readonly parts: string;
  /** Fault points to arm on each of them, as text. */
  readonly faults: string;
  /** Most megabytes of heap of one. @default 512 */
  readonly memory?: number;
  /** Milliseconds without an answer after which one is stuck and replaced. @default 2000 */
  readonly patience?: number;
  /** Threads of one shard that may be lost. @default 10 within a minute */
  readonly losses?: RestartLimit;
  /** Told of each thread that is lost and replaced. */
  readonly onReplaced?: () => void;
  /** Told when a shard loses its threads again and again: only a new process can go on. */
  readonly onLost: (why: string) => void;
}

export interface Runtime {
  readonly system: ActorSystem & {
    /** Lets a stopped actor go on from where it was. `not-accepted` when it is not stopped. */
    restart(address: ActorAddress): Promise<StepOutcome>;
  };
  /** Looks at actors while they live. */
  readonly inspector: Inspector;
  /** For reads: lists, counters, journals, names. */
  readonly store: ActorStore;
  /**
   * Starts effects and deadlines, those left from an earlier life first. Actors take messages before that too:
   * recovery tells them what happened while nothing else moves.
   */
  start(): void;
  /**
   * Starts no more effects and deadlines and waits for those in work; after `grace` milliseconds their signals are
   * aborted, and what ends after that is done again after the next start. The store stays open: it is the caller's.
   * @default no limit
   */
  stop(grace?: Millis): Promise<void>;
  /** What is going on, for metrics. */
  stats(): {
    readonly awakeActors: number;
    readonly effectsInFlight: number;
    /** One for each thread that hosts actors. */
    readonly shards: readonly ShardLife[];
  };
  /** Ends the thread of a shard as a crash would, for proofs; missing when actors live on this thread. */
  readonly crashShard?: (index: number) => Promise<void>;
  /** What each thread that hosts actors is doing. */
  reports(): Promise<readonly HostReport[]>;
}

/** Throws `machine.unsupported`, `actor.kind-twice`, `effect.reserved`, `runtime.options`. */
export function createRuntime(parts: RuntimeParts): Runtime {
  const { store, clock, ids, log, handlers } = parts;
  const faults = parts.faults ?? new Faults();
  const options = fillOptions(parts.options ?? {});
  if (TELL_EFFECT in handlers) throw new Fatal('effect.reserved', `The effect "${TELL_EFFECT}" is built in.`);
  const definitions = byKind(parts.definitions);
  const committed = (step: Step): void => {
    for (const { lane, effect } of step.effects) {
      (lane === undefined ? outbox : laned.get(effect.do))?.wake();
    }
    if (step.timers.arm.length > 0) timers.committed(step);
    parts.onCommitted?.(step);
  };
  const effects = laneFunctions(handlers);
  const host: ActorHost =
    parts.shards === undefined
      ? new Host({
          store,
          clock,
          log,
          faults,
          supervisor: new Supervisor(options.restarts),
          definitions,
          effects,
          cached: options.cachedActors,
          committed,
        })
      : new ShardedHost({
          ...parts.shards,
          store,
          clock,
          log,
          setup: {
            effects: [...effects.keys()],
            cached: options.cachedActors,
            restarts: options.restarts,
            faults: parts.shards.faults,
          },
          committed,
        });
  const common: Omit<OutboxParts, 'queue' | 'inFlight'> = {
    store,
    clock,
    ids,
    log,
    faults,
    handlers,
    deliver: (address, event, delivery) => host.deliver(address, event, delivery),
    settle: (address, effect) => host.settle(address, effect),
  };
  const outbox = new Outbox({ ...common, queue: commonQueue(store), inFlight: options.effectsInFlight });
  const laned = new Map<string, Outbox>();
  for (const [name, { lanes }] of Object.entries(handlers)) {
    if (lanes === undefined) continue;
    const queue = new LaneQueue(store, name, lanes.perLane);
    laned.set(name, new Outbox({ ...common, queue, inFlight: lanes.atOnce }));
  }
  const outboxes = [outbox, ...laned.values()];
  const timers = new Timers({ store, clock, log, faults, host });
  return {
    store,
    inspector: new Inspector({ store, definitions, host }),
    system: {
      create: (address, input) => host.create(address, input),
      tell: (address, event, tellOptions) => host.tell(address, event, tellOptions),
      read: (address) => host.read(address),
      restart: async (address) => {
        const outcome = await host.restart(address);
        timers.unpark(address);
        return outcome;
      },
    },
    start: () => {
      for (const one of outboxes) one.start();
      timers.start();
      store.hastenEffects(clock.now()).then(
        () => {
          for (const one of outboxes) one.wake();
        },
        (error) => log.warn('Effects whose time lies too far ahead wait for it.', describeFailure(error)),
      );
    },
    stop: async (grace) => {
      await Promise.all([timers.stop(), ...outboxes.map((one) => one.stop(grace))]);
      if (host instanceof ShardedHost) await host.close();
    },
    reports: () => host.reports(),
    ...(host instanceof ShardedHost && { crashShard: (index: number) => host.crash(index) }),
    stats: () => ({
      awakeActors: host.awake,
      effectsInFlight: outboxes.reduce((sum, { running }) => sum + running, 0),
      shards: host.lives(),
    }),
  };
}

function fillOptions(given: RuntimeOptions) {
  const filled = {
    effectsInFlight: given.effectsInFlight ?? 64,
    cachedActors: given.cachedActors ?? 1024,
    restarts: given.restarts ?? {},
  };
  if (!Number.isInteger(filled.effectsInFlight) || filled.effectsInFlight < 1) {
    throw new Fatal('runtime.options', 'effectsInFlight must be a whole number of at least 1.');
  }
  if (!Number.isInteger(filled.cachedActors) || filled.cachedActors < 0) {
    throw new Fatal('runtime.options', 'cachedActors must be a whole number of at least 0.');
  }
  return filled;
}

/** Every effect somebody does, with the function that names its lane. */
function laneFunctions(handlers: RuntimeParts['handlers']): HostParts['effects'] {
  const effects = new Map<string, ((effect: StoredEffect['effect']) => string) | null>([[TELL_EFFECT, null]]);
  for (const [name, { lanes }] of Object.entries(handlers)) {
    for (const bound of lanes === undefined ? [] : [lanes.atOnce, lanes.perLane]) {
      if (Number.isInteger(bound) && bound >= 1) continue;
      throw new Fatal('runtime.options', `The lanes of "${name}" must take at least 1 effect at once.`);
    }
    effects.set(name, lanes === undefined ? null : (effect) => lanes.of(effect));
  }
  return effects;
}

function byKind(definitions: readonly ActorDefinition[]): ReadonlyMap<string, ActorDefinition> {
  const kinds = new Map<string, ActorDefinition>();
  for (const definition of definitions) {
    if (kinds.has(definition.kind))
      throw new Fatal('actor.kind-twice', `Two definitions of "${definition.kind}".`);
    if (definition.kind.includes('/'))
      throw new Fatal('actor.kind-malformed', `"${definition.kind}" holds a slash.`);
    checkMachine(definition);
    kinds.set(definition.kind, definition);
  }
  return kinds;
}
