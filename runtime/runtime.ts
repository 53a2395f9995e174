/** Composes the runtime. */
import { ActorCalls } from './calls.ts';
import { CrashJournal, type MarkedEffect } from './effects/crash-journal.ts';
import { type DeadLetterLimits, DeadLetters } from './effects/dead-letters.ts';
import { isolationQueue, runExclusive } from './effects/isolation.ts';
import { Outboxes } from './effects/outbox.ts';
import type { ActorHost, HostReport, ShardStatus } from './host/actor-host.ts';
import { Host, type HostDependencies } from './host/host.ts';
import { type RestartLimit, Supervisor } from './host/supervisor.ts';
import { Inspector } from './inspection/inspect.ts';
import { ASKED, SET_ASIDE } from './model/backoff.ts';
import type {
  ActorDefinition,
  CommittedActor,
  EffectHandler,
  HostedSystem,
  SendOptions,
  StepOutcome,
  Unaccepted,
} from './model/definition.ts';
import { describeFailure, Fatal } from './model/failures.ts';
import { Faults } from './model/faults.ts';
import { assertStorable } from './model/machine-shape.ts';
import { malformedAddress, malformedInput, malformedMessage } from './model/message-checks.ts';
import type { Metrics } from './model/metrics.ts';
import { numberProblem } from './model/options.ts';
import type {
  ActorAddress,
  ActorEvent,
  ActorStore,
  Clock,
  Ids,
  Json,
  Log,
  Millis,
  Step,
  StoredEffect,
} from './model/ports.ts';
import { SEND_EFFECT } from './model/requests.ts';
import type { Tracing } from './model/tracing.ts';
import { ShardedHost, type ShardOptions } from './shards/sharded-host.ts';
import { Timers } from './timers/timers.ts';
import { Watch } from './watch.ts';

/** Refuses malformed addresses and messages before they reach an actor, which they would otherwise count against. */
class CheckedSystem implements HostedSystem {
  constructor(
    private readonly host: ActorHost,
    private readonly timers: Timers,
    private readonly tracing: Tracing | undefined,
  ) {}

  create(address: ActorAddress, input: unknown): Promise<StepOutcome> {
    const { host, tracing } = this;
    const malformed = malformedAddress(address) ?? malformedInput(input);
    if (malformed !== undefined) return Promise.reject(malformed);
    if (tracing === undefined) return host.create(address, input as Json);
    return tracing.span(`create ${address.kind}`, { 'actor.id': address.id }, 'caller', (trace) =>
      host.create(address, input as Json, { trace }),
    );
  }

  send(address: ActorAddress, event: ActorEvent, options?: SendOptions): Promise<StepOutcome> {
    const { host, tracing } = this;
    const malformed = malformedAddress(address) ?? malformedMessage(event, options?.id);
    if (malformed !== undefined) return Promise.reject(malformed);
    if (tracing === undefined) return host.send(address, event, options);
    const attributes = { 'actor.id': address.id, 'event.type': event.type };
    return tracing.span(`send ${address.kind}`, attributes, 'caller', (trace) =>
      host.deliver(address, event, { ...options, trace }),
    );
  }

  read(address: ActorAddress): Promise<CommittedActor | undefined> {
    const malformed = malformedAddress(address);
    return malformed === undefined ? this.host.read(address) : Promise.reject(malformed);
  }

  async restart(address: ActorAddress): Promise<StepOutcome> {
    const outcome = await this.host.restart(address);
    this.timers.unpark(address);
    return outcome;
  }

  end(address: ActorAddress): Promise<StepOutcome> {
    return this.host.end(address);
  }
}

/** Choices of the program. */
export interface RuntimeSettings {
  /**
   * Calls that services were built on, whose handlers the runtime needs. They go on while the runtime stops, as those of an
   * `EffectRun`. @default none
   */
  readonly calls?: ActorCalls;
  readonly effects?: {
    /** Effects in progress at once; more wait in the store. @default 64 */
    readonly atOnce?: number;
    /** Time limit of an attempt of effects that have none of their own, milliseconds. @default one hour */
    readonly timeoutMs?: Millis;
  };
  /** Messages between actors in delivery at once, beside the effects. @default 64 */
  readonly messagesAtOnce?: number;
  /** Recently used actors kept in memory. @default 1024 */
  readonly cachedActors?: number;
  /** Throwing steps after which an actor is stopped. @default more than 5 within a minute */
  readonly restarts?: RestartLimit;
  /** Armed fault points, for tests. @default none */
  readonly faults?: Faults;
  /** Hosts actors on threads; made by `shards` of the entry of this name. @default on this thread */
  readonly shards?: ShardOptions;
  /** Traces of sends, steps, effects and messages; `@sealwright/opentelemetry` makes them. @default none */
  readonly tracing?: Tracing;
  /**
   * Called with each committed step before its sender is answered. Synchronous; must be quick. `isOwn`: this process
   * committed it.
   */
  readonly onCommitted?: (step: Step, isOwn: boolean) => void;
  /** Called with the receiver of an outcome, a message of an actor or a deadline that it did not accept. */
  readonly onUnaccepted?: (receiver: ActorAddress, what: Unaccepted) => void;
  /** Called when an operator asked this node to drain. May be called again. */
  readonly onDraining?: () => void;
}

export interface RuntimeDependencies extends RuntimeSettings {
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly definitions: readonly ActorDefinition[];
  /** Handlers of effects, by their `do`. `tell`, which sends a message to an actor, is built in. */
  readonly handlers: { readonly [name: string]: EffectHandler };
  /** Keeps outcomes and messages of actors that nobody accepts. @default none are kept */
  readonly deadLetters?: DeadLetterLimits | undefined;
  /** True: stored actors may be of earlier versions, each of which is migrated before its next step. @default false */
  readonly isTool?: boolean;
  /** Path of the file that records the effects in progress; missing: they are not recorded. */
  readonly crashJournal?: string | undefined;
  /** @default none */
  readonly metrics?: Pick<Metrics, 'attempt'>;
}

export interface BuiltRuntime {
  /** They go on while the runtime stops, until `requests` resolves. */
  readonly actors: ActorCalls;
  readonly system: HostedSystem;
  /** Followers of its steps. */
  readonly watch: Watch;
  /** Inspects actors. */
  readonly inspector: Inspector;
  /** Undefined where none are kept. */
  readonly letters: DeadLetters | undefined;
  /** For reads: lists, counters, journals, names. */
  readonly store: ActorStore;
  /**
   * Starts effects and deadlines, pending ones first. Actors accept messages before that: recovery sends them what
   * happened while nothing else runs. A later call looks for deadlines and effects that are due by a clock that was moved.
   */
  start(): void;
  /**
   * Starts no more effects and deadlines and waits for those in progress; after `grace` milliseconds their signals are
   * aborted, and a second later handlers that go on are abandoned. Effects that have not ended by then are repeated
   * after the next start; that is no failed attempt. Once `requests` resolves too, actors accept no messages, and no step
   * follows the end of the stop. The store stays open: the caller owns it.
   * @param grace default: no limit
   * @param requests those in progress that send messages; must resolve. Default: none
   */
  stop(grace?: Millis, requests?: Promise<unknown>): Promise<void>;
  /** Quarantined effects: the process crashed while they ran alone. */
  setAside(): readonly MarkedEffect[];
  /** Releases the quarantined effects of an actor, and those set aside, of any node. False when there is none. */
  runAgain(address: ActorAddress): Promise<boolean>;
  /** Current activity, for metrics. */
  stats(): {
    readonly awakeActors: number;
    readonly effectsInFlight: number;
    /** One entry for each thread that hosts actors. */
    readonly shards: readonly ShardStatus[];
  };
  /** Ends the thread of a shard as a crash does, for tests; missing when actors are hosted by this thread. */
  readonly crashShard?: (index: number) => Promise<void>;
  /** Activity of each thread that hosts actors. */
  reports(): Promise<readonly HostReport[]>;
}

/**
 * Builds the runtime. Throws `machine.unsupported`, `actor.kind-twice`, `actor.malformed`, `effect.reserved`,
 * `runtime.options`.
 */
export function buildRuntime(dependencies: RuntimeDependencies): BuiltRuntime {
  const { store, clock, ids, log, handlers } = dependencies;
  const faults = dependencies.faults ?? new Faults();
  const { effects: { atOnce = 64, timeoutMs = 3_600_000 } = {}, messagesAtOnce = 64 } = dependencies;
  if (SEND_EFFECT in handlers) throw new Fatal('effect.reserved', `The effect "${SEND_EFFECT}" is built in.`);
  const definitions = byKind(dependencies.definitions);
  const watch = new Watch(store, clock, log);
  const observed = (step: Step, isOwn: boolean): void => {
    watch.committed(step);
    dependencies.onCommitted?.(step, isOwn);
  };
  const committed = (step: Step): void => {
    outboxes.committed(step.effects);
    if (step.timers.arm.length > 0) timers.committed(step);
    observed(step, true);
  };
  const host = createHost(dependencies, { definitions, faults, committed });
  const journal = openCrashJournal(dependencies);
  const letters = createDeadLetters(dependencies, host);
  const onUnaccepted = unacceptedObserver(dependencies, letters);
  const timers = new Timers({ store, clock, log, faults, host, onUnaccepted });
  const system = new CheckedSystem(host, timers, dependencies.tracing);
  const { calls = new ActorCalls() } = dependencies;
  const outboxes = new Outboxes(
    {
      store,
      clock,
      ids,
      log,
      faults,
      handlers,
      journal,
      isolate: isolationQueue(clock),
      tracing: dependencies.tracing,
      metrics: dependencies.metrics,
      context: { calls, clock, log },
      deliver: (address, event, delivery) => host.deliver(address, event, delivery),
      settle: (address, effect, letter) => host.settle(address, effect, letter),
      keepsLetters: letters && true,
      timeLimitMs: timeoutMs,
      onUnaccepted,
    },
    atOnce,
    messagesAtOnce,
  );
  followNodes(dependencies, { definitions, host, outboxes, timers, committed, observed });
  calls.connect({ system, store, watch, clock, has: (kind) => definitions.has(kind) });
  return {
    store,
    letters,
    inspector: new Inspector(store, definitions, host),
    actors: calls,
    system,
    watch,
    ...lifeOf(dependencies, { host, journal, outboxes, timers, letters, watch }),
    reports: () => host.reports(),
    ...(host instanceof ShardedHost && { crashShard: (index: number) => host.crash(index) }),
    stats: () => ({
      awakeActors: host.awake,
      effectsInFlight: outboxes.running,
      shards: host.shardStatus(),
    }),
  };
}

function createDeadLetters(
  { store, clock, log, deadLetters }: RuntimeDependencies,
  host: ActorHost,
): DeadLetters | undefined {
  return (
    deadLetters &&
    new DeadLetters({
      store,
      clock,
      log,
      deliver: (to, event, delivery) => host.deliver(to, event, delivery),
      limits: deadLetters,
    })
  );
}

/** Reports what actors do not accept to the observer and to the dead letters. */
function unacceptedObserver(
  { log, onUnaccepted }: RuntimeDependencies,
  letters: DeadLetters | undefined,
): (receiver: ActorAddress, what: Unaccepted) => void {
  return (receiver, what) => {
    try {
      onUnaccepted?.(receiver, what);
    } catch (error) {
      // The message is dropped all the same, not delivered again.
      log.error('An observer of what actors do not accept threw.', describeFailure(error));
    }
    if (what !== 'deadline') letters?.noted();
  };
}

interface LifeDependencies {
  readonly host: ActorHost;
  readonly journal: CrashJournal | undefined;
  readonly outboxes: Outboxes;
  readonly timers: Timers;
  readonly letters: DeadLetters | undefined;
  readonly watch: Watch;
}

/** Start and end of the work, and the release of what a crash has set aside. */
function lifeOf(
  dependencies: RuntimeDependencies,
  { host, journal, outboxes, timers, letters, watch }: LifeDependencies,
): Pick<BuiltRuntime, 'start' | 'stop' | 'setAside' | 'runAgain'> {
  let isStarted = false;
  let isStopping = false;
  // One after the other: a second call must see what the first one has released, which runs already.
  let releasing: Promise<unknown> = Promise.resolve();
  return {
    setAside: () => journal?.setAside ?? [],
    runAgain(address) {
      const released = releasing.then(() => releaseSetAside(dependencies, journal, address));
      releasing = released.catch(() => {});
      void releasing.then(() => outboxes.wakeAndRearm());
      return released;
    },
    start: () => {
      if (!isStarted) startOutboxes(dependencies, journal, outboxes, () => isStopping);
      isStarted = true;
      timers.start();
      letters?.start();
      rescheduleLateEffects(dependencies, outboxes);
    },
    stop: async (grace, requests) => {
      isStopping = true;
      watch.close();
      await Promise.all([timers.stop(), outboxes.stop(grace), letters?.stop(), requests]);
      await host.close();
      journal?.close();
    },
  };
}

interface HostOptions {
  readonly definitions: ReadonlyMap<string, ActorDefinition>;
  readonly faults: Faults;
  readonly committed: (step: Step) => void;
}

/** Creates the host of the actors: on this thread, or on shard threads. Throws `runtime.options`. */
function createHost(
  dependencies: RuntimeDependencies,
  { definitions, faults, committed }: HostOptions,
): ActorHost {
  const { store, clock, ids, log, handlers, shards, tracing, isTool = false } = dependencies;
  const { cachedActors: cached = 1024, restarts = {} } = dependencies;
  const effects = partitionFunctions(handlers, [...definitions.values()]);
  if (shards !== undefined) {
    const setup = { effects: [...effects.keys()], cached, restarts, faults: shards.faults };
    return new ShardedHost(shards, { store, clock, log, setup, definitions, committed, tracing });
  }
  return new Host({
    store,
    clock,
    ids,
    log,
    faults,
    tracing,
    supervisor: new Supervisor(restarts),
    definitions,
    effects,
    cached,
    // With several nodes, an effect may be needed by another node, which this one cannot ask.
    ...(store.nodes ? { isShared: true, node: store.nodes.slot } : { isNeeded: needFunctions(handlers) }),
    mayBeOld: store.nodes !== undefined || isTool,
    committed,
  });
}

function openCrashJournal({ crashJournal, log }: RuntimeDependencies): CrashJournal | undefined {
  if (crashJournal === undefined) return undefined;
  return new CrashJournal(crashJournal, (error) =>
    log.warn('Effects under way cannot be marked.', describeFailure(error)),
  );
}

interface NodeFollowers extends Pick<HostOptions, 'definitions' | 'committed'> {
  readonly host: ActorHost;
  readonly outboxes: Outboxes;
  readonly timers: Timers;
  readonly observed: (step: Step, isOwn: boolean) => void;
}

/** Observes the steps of all nodes, the end of others, and requests to drain this one, where the store has nodes. */
function followNodes(
  { store, onDraining }: RuntimeDependencies,
  { definitions, host, outboxes, timers, committed, observed }: NodeFollowers,
): void {
  store.nodes?.follow({
    committed: (step, isOwn) => {
      // Steps outside the runtime, such as those of the history, have no observers.
      if (!definitions.has(step.actor.address.kind)) return;
      if (isOwn) {
        committed(step);
        return;
      }
      if (host instanceof Host) host.forget(step.actor.address);
      if (step.settles !== null) outboxes.settledElsewhere();
      observed(step, false);
    },
    adopted: () => {
      outboxes.wakeAndRearm();
      timers.wake();
    },
    draining: () => onDraining?.(),
  });
}

/** Starts the outboxes; an effect that may crash the process runs first and alone. */
function startOutboxes(
  { store, clock, log }: RuntimeDependencies,
  journal: CrashJournal | undefined,
  outboxes: Outboxes,
  isStopping: () => boolean,
): void {
  const start = (): void => {
    if (!isStopping()) outboxes.start();
  };
  if (journal === undefined) start();
  else void runExclusive(journal, store, { clock, log, outbox: outboxes.common }).then(start);
}

/**
 * Makes the effects of an actor due that were quarantined or set aside, on whichever node; they run on this one. False
 * when there is none.
 */
async function releaseSetAside(
  { store, clock }: RuntimeDependencies,
  journal: CrashJournal | undefined,
  address: ActorAddress,
): Promise<boolean> {
  const now = clock.now();
  const setAside = (await store.pendingEffects(address)).filter(({ lastError }) =>
    lastError?.startsWith(SET_ASIDE),
  );
  const quarantined = new Set(journal?.release(address));
  for (const key of quarantined) await store.deferEffect(key, now, ASKED);
  let isReleased = quarantined.size > 0;
  for (const { key, dueAt } of setAside) {
    if (quarantined.has(key)) continue;
    // One that is due runs already; its lease would be lost, and it would run twice at once.
    if (dueAt <= now || (await store.takeEffect(key, now, ASKED))) isReleased = true;
  }
  return isReleased;
}

/** Corrects due times after the wall clock was set back. */
function rescheduleLateEffects({ store, clock, log }: RuntimeDependencies, outboxes: Outboxes): void {
  store.rescheduleAfterClockRegression(clock.now()).then(
    () => outboxes.wake(),
    (error) => log.warn('Effects whose time lies too far ahead wait for it.', describeFailure(error)),
  );
}

/**
 * Maps each effect to the function for its partition: those that actors declare, and those with a handler. Throws
 * `runtime.options`.
 */
function partitionFunctions(
  handlers: RuntimeDependencies['handlers'],
  definitions: readonly ActorDefinition[],
): HostDependencies['effects'] {
  const effects = new Map<string, ((effect: StoredEffect['effect']) => string) | null>([[SEND_EFFECT, null]]);
  const declared = definitions.flatMap((definition) => definition.effects ?? []);
  for (const [name, { partitioning }] of [
    ...declared.map((effect) => [effect.name, effect] as const),
    ...Object.entries(handlers),
  ]) {
    const problem = numberProblem(partitioning, { atOnce: [1], perPartition: [1] }, `${name}.partitioning.`);
    if (problem !== undefined) throw new Fatal('runtime.options', problem);
    effects.set(name, partitioning === undefined ? null : (effect) => partitioning.partitionOf(effect));
  }
  return effects;
}

/** Maps effects to the `isNeeded` of their handlers, where there is one. */
function needFunctions(handlers: RuntimeDependencies['handlers']): NonNullable<HostDependencies['isNeeded']> {
  const functions = new Map<string, (effect: StoredEffect['effect']) => boolean>();
  for (const [name, handler] of Object.entries(handlers))
    if (handler.isNeeded !== undefined) functions.set(name, (effect) => handler.isNeeded?.(effect) ?? true);
  return functions;
}

/** Throws `actor.kind-twice`, `actor.malformed`, `machine.unsupported`. */
function byKind(definitions: readonly ActorDefinition[]): ReadonlyMap<string, ActorDefinition> {
  const kinds = new Map<string, ActorDefinition>();
  for (const definition of definitions) {
    if (kinds.has(definition.kind))
      throw new Fatal('actor.kind-twice', `Two definitions of "${definition.kind}".`);
    assertStorable(definition);
    kinds.set(definition.kind, definition);
  }
  return kinds;
}
