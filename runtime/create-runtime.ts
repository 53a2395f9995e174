/**
 * The runtime as programs use it: opens and migrates the store, starts, and answers with the types of the actors. All
 * work is that of `buildRuntime`.
 */
import { ActorCalls } from './calls.ts';
import type { DeadLetter, DeadLetterLimits } from './effects/dead-letters.ts';
import { RESTART_BOUNDS, type RestartLimit } from './host/supervisor.ts';
import {
  checkedLimit,
  type EffectQuery,
  type Page,
  type PageQuery,
  type PendingEffect,
  type PendingTimer,
  type TimerQuery,
} from './inspection/pending-work.ts';
import type { Actor, StateOf, View } from './model/actor.ts';
import type { Calls } from './model/calls.ts';
import { systemClock } from './model/clock.ts';
import type {
  ActorDefinition,
  EffectHandler,
  HandledEffect,
  NamedEffect,
  Unaccepted,
} from './model/definition.ts';
import { describeFailure, Fatal, Retryable } from './model/failures.ts';
import type { Faults } from './model/faults.ts';
import { systemIds } from './model/ids.ts';
import type { Activity, Metrics } from './model/metrics.ts';
import { numberProblem } from './model/options.ts';
import type {
  ActorAddress,
  Clock,
  Ids,
  Log,
  LogProperties,
  Millis,
  Step,
  StoreSource,
} from './model/ports.ts';
import type { Tracing } from './model/tracing.ts';
import { type BuiltRuntime, buildRuntime } from './runtime.ts';
import type { ShardOptions } from './shards/sharded-host.ts';
import { assertHandlers, migrateStore } from './step/migrate.ts';
import type { Followed } from './watch.ts';

/** Recurring messages of a program. */
export interface Schedules {
  readonly actor: Actor;
  /**
   * Makes the stored schedules those of this program.
   * @param kinds those of the actors of this program
   * @throws {Fatal} `runtime.options`
   */
  store(
    built: Pick<BuiltRuntime, 'system' | 'store'>,
    kinds: ReadonlySet<string>,
    now: Millis,
  ): Promise<void>;
}

export interface CreateOptions {
  readonly store: StoreSource;
  readonly actors: readonly Actor[];
  /** Handlers of the effects that actors declare without one (`declareEffect`). @default none */
  readonly handlers?: readonly HandledEffect<unknown>[];
  /** Recurring messages; `schedules` of the entry of this name makes them. @default none */
  readonly schedules?: Schedules;
  /** @default the clock of the system; with PostgreSQL that of the database */
  readonly clock?: Clock;
  /** @default random ids */
  readonly ids?: Ids;
  /** @default warnings and errors, on standard error */
  readonly log?: Log;
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
  /**
   * Path of the file that records the effects in progress: those that were at two crashes in a row run one at a time,
   * and one that then crashes the process is set aside. False: none. @default beside a store on LMDB
   */
  readonly crashJournal?: string | false;
  /** Time that effects have to end when the runtime stops, milliseconds. @default 10,000 */
  readonly stopGraceMs?: Millis;
  /** Armed fault points, for tests. @default none */
  readonly faults?: Faults;
  /** Hosts actors on threads; made by `shards` of the entry of this name. @default on this thread */
  readonly shards?: ShardOptions;
  /** Traces of sends, steps, effects and messages; `openTelemetry` of the entry `otel` makes them. @default none */
  readonly tracing?: Tracing;
  /** Counters of messages, effects and restarts; `openTelemetryMetrics` of the entry `otel` makes them. @default none */
  readonly metrics?: Metrics;
  /**
   * Called with each committed step before its sender is answered. Synchronous; must be quick. `isOwn`: this process
   * committed it.
   */
  readonly onCommitted?: (step: Step, isOwn: boolean) => void;
  /** Bounds of the outcomes and messages of actors that nobody accepted; false: none are kept. @default 1000, for 30 days */
  readonly deadLetters?: DeadLetterLimits | false;
  /** Called with the receiver of an outcome, a message of an actor or a deadline that it did not accept. */
  readonly onUnaccepted?: (receiver: ActorAddress, what: Unaccepted) => void;
}

/**
 * A started runtime. Its calls reject with `Retryable` where a later repetition may help, with `Fatal`, and with what a
 * machine throws.
 */
export interface Runtime extends Calls {
  /**
   * Calls `listener` after each step of the actors but the one that ends them, in the order of their steps, also of other
   * nodes; those that nodes commit while this one has lost its lease are left out. Synchronous; must be quick; an error is
   * logged. Returns a function that ends it.
   */
  subscribe<Definition extends Actor>(
    actor: Definition,
    followed: string | Followed<StateOf<Definition>>,
    listener: (view: View<Definition>) => void,
  ): () => void;
  /** Runs the effects of an actor again that were set aside, by whichever node. False when there is none. */
  retry(actor: Actor, id: string): Promise<boolean>;
  /** Deadlines of all actors and nodes, earliest first. A page reads 1,000 of them at most. */
  timers(query?: TimerQuery): Promise<Page<PendingTimer>>;
  /** Pending effects of all actors and nodes, by kind, id and revision. A page reads 1,000 of them at most. */
  effects(query?: EffectQuery): Promise<Page<PendingEffect>>;
  /** Messages of actors, and outcomes of effects, that their receivers did not accept. */
  readonly deadLetters: {
    /** Oldest first. */
    list(query?: PageQuery): Promise<Page<DeadLetter>>;
    /**
     * Sends a letter to its receiver again, which consumes it once. `gone`: there is no such letter. It stays where the
     * receiver does not take it.
     */
    replay(
      id: string,
    ): Promise<'accepted' | 'not-accepted' | 'duplicate' | 'stopped' | 'unknown-actor' | 'taken' | 'gone'>;
    /** False when there is no such letter. */
    drop(id: string): Promise<boolean>;
  };
  /** Inspects actors of all kinds, for pages of operators. */
  readonly inspector: BuiltRuntime['inspector'];
  /** Current activity, for metrics. */
  readonly stats: BuiltRuntime['stats'];
  /**
   * Takes nothing new, waits for effects in progress as long as `stopGraceMs`, closes the store. Always resolves:
   * handlers that ignore their signal are abandoned, and their effects repeated after the next start.
   */
  stop(): Promise<void>;
}

/**
 * Opens the store, migrates the actors of earlier versions, starts.
 * @throws {Fatal} `runtime.options`, `actor.kind-twice`, `effect.name-twice`, `effect.unhandled`, `store.no-path` and other codes of stores
 */
export async function createRuntime(options: CreateOptions): Promise<Runtime> {
  assertOptions(options);
  const { clock: ownClock = systemClock, ids = systemIds, log = CONSOLE_LOG, schedules } = options;
  const actors = schedules === undefined ? options.actors : [...options.actors, schedules.actor];
  const handlers = handlersOf(actors, options.handlers);
  const version = actors
    .map((actor) => `${actor.kind}@${actor.version}`)
    .sort()
    .join(' ');
  const { faults } = options;
  const store = await options.store.open({ clock: ownClock, log, version, ...(faults && { faults }) });
  try {
    const clock = store.nodes?.clock ?? ownClock;
    await assertHandlers(store, handlers);
    await migrateStore(store, actors, { log, now: clock.now(), version });
    const { crashJournal = options.store.crashJournal, shards, tracing, metrics } = options;
    const { onCommitted, onUnaccepted } = options;
    const { deadLetters = {} } = options;
    const { effects, messagesAtOnce, cachedActors, restarts, stopGraceMs = STOP_GRACE_MS } = options;
    const built = buildRuntime({
      store,
      clock,
      ids,
      log,
      handlers,
      definitions: actors,
      options: {
        ...(effects?.atOnce !== undefined && { effectsInFlight: effects.atOnce }),
        ...(effects?.timeoutMs !== undefined && { effectTimeLimitMs: effects.timeoutMs }),
        ...(messagesAtOnce !== undefined && { messagesInFlight: messagesAtOnce }),
        ...(cachedActors !== undefined && { cachedActors }),
        ...(restarts !== undefined && { restarts }),
      },
      ...(typeof crashJournal === 'string' && { crashJournal }),
      ...(shards !== undefined && { shards }),
      ...(faults !== undefined && { faults }),
      ...(tracing !== undefined && { tracing }),
      ...(metrics !== undefined && { metrics }),
      ...(onCommitted !== undefined && { onCommitted }),
      ...(onUnaccepted !== undefined && { onUnaccepted }),
      ...(deadLetters !== false && { deadLetters }),
    });
    try {
      const kinds = new Set(options.actors.map(({ kind }) => kind));
      // Before the start: a schedule that ends has no more run.
      await schedules?.store(built, kinds, clock.now());
    } catch (error) {
      await built.stop(0);
      throw error;
    }
    built.start();
    store.nodes?.started();
    const unobserve = metrics?.observe(() => activityOf(built));
    return new StartedRuntime(built, { log, stopGraceMs, unobserve });
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Throws `runtime.options`, before the store is opened. */
function assertOptions(options: CreateOptions): void {
  const { store, actors, effects, restarts, deadLetters } = options;
  const isStore = typeof store?.open === 'function';
  const isList =
    Array.isArray(actors) && actors.every((actor) => typeof actor === 'object' && actor !== null);
  const problem =
    (isStore ? undefined : '`store` is none: give `lmdb(folder)`, `postgres(url)` or `memory()`.') ??
    (isList ? undefined : '`actors` is no list of what `defineActor` returns.') ??
    numberProblem(options, { messagesAtOnce: [1], cachedActors: [0], stopGraceMs: [0] }) ??
    numberProblem(effects, { atOnce: [1], timeoutMs: [1] }, 'effects.') ??
    numberProblem(restarts, RESTART_BOUNDS, 'restarts.') ??
    numberProblem(deadLetters || {}, { atMost: [1], forMs: [1] }, 'deadLetters.');
  if (problem !== undefined) throw new Fatal('runtime.options', problem);
}

const STOP_GRACE_MS = 10_000;

async function activityOf(built: BuiltRuntime): Promise<Activity> {
  const kinds: { [kind: string]: { accepted: number; refused: number; restarts: number } } =
    Object.create(null);
  const reports = await built.reports();
  for (const { traffic } of reports)
    for (const [kind, { accepted, refused, restarts }] of Object.entries(traffic)) {
      const sum = kinds[kind] ?? { accepted: 0, refused: 0, restarts: 0 };
      kinds[kind] = sum;
      sum.accepted += accepted;
      sum.refused += refused;
      sum.restarts += restarts;
    }
  const mailboxes = reports.flatMap((report) => report.mailboxes.map(([, depth]) => depth));
  return { kinds, mailboxes, effectsInFlight: built.stats().effectsInFlight };
}

class StartedRuntime extends ActorCalls implements Runtime {
  #stopped: Promise<void> | undefined;
  #isClosed = false;

  constructor(
    private readonly built: BuiltRuntime,
    private readonly ending: {
      readonly log: Log;
      readonly stopGraceMs: Millis;
      readonly unobserve: (() => void) | undefined;
    },
  ) {
    super(built.actors.connection);
  }

  async retry(actor: Actor, id: string) {
    return this.built.runAgain(this.checked(actor, id));
  }

  subscribe<Definition extends Actor>(
    actor: Definition,
    followed: string | Followed,
    listener: (view: View<Definition>) => void,
  ) {
    this.receiver(actor, '');
    return this.built.watch.subscribe(
      actor,
      typeof followed === 'string' ? { id: followed } : followed,
      listener,
    );
  }

  async timers(query?: TimerQuery) {
    this.assertOpen();
    return this.built.inspector.timers(query);
  }

  async effects(query?: EffectQuery) {
    this.assertOpen();
    return this.built.inspector.effects(query);
  }

  readonly deadLetters: Runtime['deadLetters'] = {
    list: async (query = {}) => {
      this.assertOpen();
      return (await this.built.letters?.list(query.after, checkedLimit(query))) ?? { items: [] };
    },
    replay: async (id) => {
      this.assertRunning();
      const outcome = await this.built.letters?.replay(id);
      if (outcome?.accepted) return 'accepted';
      return outcome === undefined || outcome.reason === 'exists' ? 'gone' : outcome.reason;
    },
    drop: async (id) => {
      this.assertRunning();
      return (await this.built.letters?.drop(id)) ?? false;
    },
  };

  get inspector() {
    return this.built.inspector;
  }

  stats() {
    return this.built.stats();
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const { built } = this;
    const { log, stopGraceMs, unobserve } = this.ending;
    unobserve?.();
    try {
      await built.stop(stopGraceMs);
      await built.store.flushed();
    } catch (error) {
      log.error(
        'The runtime did not stop in order; nothing that was answered is lost.',
        describeFailure(error),
      );
    }
    this.#isClosed = true;
    await built.store
      .close()
      .catch((error: unknown) => log.error('The store could not be closed.', describeFailure(error)));
  }

  protected override assertRunning(): void {
    if (this.#stopped !== undefined) throw new Retryable('runtime.stopping', 'The runtime is stopping.');
  }

  protected override assertOpen(): void {
    if (this.#isClosed) throw new Retryable('runtime.stopping', 'The runtime has stopped.');
  }
}

/**
 * Returns the handlers by the names that stored effects have. Throws `effect.name-twice`, `effect.unhandled`.
 */
export function handlersOf(
  actors: readonly ActorDefinition[],
  handled: readonly HandledEffect<unknown>[] = [],
): { readonly [name: string]: EffectHandler } {
  const handlers: { [name: string]: EffectHandler } = Object.create(null);
  const declared = actors.flatMap(({ effects = [] }) => effects);
  const partitionings = new Map<string, NamedEffect<unknown>['partitioning']>();
  for (const { name, handler, partitioning } of [...handled, ...declared]) {
    const isOther = handler !== undefined && handlers[name] !== undefined && handlers[name] !== handler;
    // Threads know the declarations of their actors, this one the handlers: both must give the same partition.
    if (isOther || (partitionings.has(name) && partitionings.get(name) !== partitioning))
      throw new Fatal('effect.name-twice', `Two effects have the name "${name}".`);
    partitionings.set(name, partitioning);
    if (handler !== undefined) handlers[name] = handler;
  }
  for (const { kind, effects = [] } of actors)
    for (const { name } of effects)
      if (handlers[name] === undefined)
        throw new Fatal(
          'effect.unhandled',
          `${kind}: the effect "${name}" has no handler. Give \`createRuntime\` one in \`handlers\`.`,
        );
  return handlers;
}

function line(text: string, properties: LogProperties = {}): string {
  return `${text} ${JSON.stringify(properties)}\n`;
}

const CONSOLE_LOG: Log = {
  debugging: false,
  debug: () => {},
  info: () => {},
  warn: (text, properties) => void process.stderr.write(line(text, properties)),
  error: (text, properties) => void process.stderr.write(line(text, properties)),
};
