/**
 * The runtime as programs use it: opens and migrates the store, starts, and answers with the types of the actors. All
 * work is that of `buildRuntime`, which is not public.
 */
import { ActorCalls } from './calls.ts';
import type { MarkedEffect } from './effects/crash-journal.ts';
import type { DeadLetter, DeadLetterLimits } from './effects/dead-letters.ts';
import type { HostReport } from './host/actor-host.ts';
import { RESTART_BOUNDS } from './host/supervisor.ts';
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
import type { ActorDefinition, EffectHandler, HandledEffect, NamedEffect } from './model/definition.ts';
import { describeFailure, Fatal, Retryable } from './model/failures.ts';
import { systemIds } from './model/ids.ts';
import type { Activity, Metrics } from './model/metrics.ts';
import { numberProblem } from './model/options.ts';
import type { ActorStore, Clock, Ids, Log, LogProperties, Millis, StoreSource } from './model/ports.ts';
import { type BuiltRuntime, buildRuntime, type RuntimeSettings } from './runtime.ts';
import { assertHandlers, keepBeforeUpgrade, migrateStore } from './step/migrate.ts';
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

export interface CreateOptions extends RuntimeSettings {
  /** An opened one is closed by its owner, after the runtime has stopped. */
  readonly store: StoreSource | ActorStore;
  readonly actors: readonly Actor[];
  /** Handlers of the effects that actors declare without one (`declareEffect`). @default none */
  readonly handlers?: readonly HandledEffect<unknown>[];
  /**
   * When effects and deadlines start: `later` with `start()`, after a recovery that sends messages while nothing else runs;
   * `never` for a tool beside the program that these actors belong to: effects need no handler, whatever messages ask for
   * waits for that program, and an actor of an earlier version is migrated before its next step, no other. @default now
   */
  readonly start?: 'now' | 'later' | 'never';
  /**
   * Actors that the store may hold and this program does not run, as those of a part that is switched off. They are migrated;
   * their effects and deadlines wait. @default none
   */
  readonly dormant?: readonly Actor[];
  /** Recurring messages; `schedules` of the entry of this name makes them. @default none */
  readonly schedules?: Schedules;
  /** @default the clock of the system; with PostgreSQL that of the database */
  readonly clock?: Clock;
  /** @default random ids */
  readonly ids?: Ids;
  /** @default warnings and errors, on standard error */
  readonly log?: Log;
  /**
   * Path of the file that records the effects in progress: those that were at two crashes in a row run one at a time,
   * and one that then crashes the process is set aside. False: none. @default beside a store on LMDB
   */
  readonly crashJournal?: string | false;
  /** Time that effects have to end when the runtime stops, milliseconds. @default 10,000 */
  readonly stopGraceMs?: Millis;
  /** Counters of messages, effects and restarts; `@sealwright/opentelemetry` makes them. @default none */
  readonly metrics?: Metrics;
  /** Bounds of the outcomes and messages of actors that nobody accepted; false: none are kept. @default 1000, for 30 days */
  readonly deadLetters?: DeadLetterLimits | false;
}

export interface StopOptions {
  /** Time that effects have to end, milliseconds. @default `CreateOptions.stopGraceMs` */
  readonly graceMs?: Millis;
  /** Settles when no request sends messages any more; until then they are taken. @default none */
  readonly requests?: Promise<unknown>;
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
  /** Starts effects and deadlines, pending ones first, where `CreateOptions.start` is `later`. A second call starts nothing again. */
  start(): void;
  /** Actors that were brought to the versions of this program, or got a deadline that is new in their state. */
  readonly migrated: number;
  /** Runs the effects of an actor again that were set aside, by whichever node. False when there is none. */
  retry(actor: Actor, id: string): Promise<boolean>;
  /** Effects that this process set aside, since it crashed twice while they ran. */
  setAside(): readonly MarkedEffect[];
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
  /** Activity of each thread that hosts actors. */
  reports(): Promise<readonly HostReport[]>;
  /**
   * Takes nothing new, waits for effects in progress as long as `stopGraceMs`, closes the store that it has opened. Always
   * resolves: handlers that ignore their signal are abandoned, and their effects repeated after the next start, which is no
   * failed attempt.
   */
  stop(options?: StopOptions): Promise<void>;
}

/**
 * Opens the store, migrates the actors of earlier versions, starts.
 * @throws {Fatal} `runtime.options`, `actor.kind-twice`, `effect.name-twice`, `effect.unhandled`, `store.no-path` and other codes of stores
 */
export async function createRuntime(options: CreateOptions): Promise<Runtime> {
  assertOptions(options);
  const { store: given, clock: ownClock = systemClock, log = CONSOLE_LOG, faults } = options;
  const { schedules, metrics, start = 'now', stopGraceMs = STOP_GRACE_MS } = options;
  const isTool = start === 'never';
  const actors = schedules === undefined ? options.actors : [...options.actors, schedules.actor];
  const handlers = isTool ? {} : handlersOf(actors, options.handlers);
  const version = actors
    .map((actor) => `${actor.kind}@${actor.version}`)
    .sort()
    .join(' ');
  const isOwn = 'open' in given;
  const store = isOwn
    ? await given.open({ clock: ownClock, log, version, ...(faults && { faults }) })
    : given;
  try {
    const clock = store.nodes?.clock ?? ownClock;
    // A tool migrates an actor before it sends to it.
    if (isTool) await keepBeforeUpgrade(store, actors, log);
    const migrated = isTool
      ? 0
      : await takeOver(store, { actors, handlers, dormant: options.dormant ?? [], log, now: clock.now() });
    const { crashJournal = isOwn ? given.crashJournal : undefined, deadLetters = {} } = options;
    const built = buildRuntime({
      ...options,
      store,
      clock,
      ids: options.ids ?? systemIds,
      log,
      handlers,
      definitions: actors,
      isTool,
      crashJournal: crashJournal || undefined,
      deadLetters: deadLetters || undefined,
    });
    try {
      const kinds = new Set(options.actors.map(({ kind }) => kind));
      // Before the start: a schedule that ends has no more run.
      if (!isTool) await schedules?.store(built, kinds, clock.now());
    } catch (error) {
      await built.stop(0);
      throw error;
    }
    const unobserve = metrics?.observe(() => activityOf(built));
    const runtime = new StartedRuntime(built, { log, migrated, isTool, stopGraceMs, isOwn, unobserve });
    if (start === 'now') runtime.start();
    return runtime;
  } catch (error) {
    if (isOwn) await store.close();
    throw error;
  }
}

/** Brings a store to the versions of the program. Returns the number of changed actors. Throws `store.no-path`. */
async function takeOver(
  store: ActorStore,
  {
    actors,
    handlers,
    dormant,
    log,
    now,
  }: {
    readonly actors: readonly Actor[];
    readonly handlers: object;
    readonly dormant: readonly Actor[];
    readonly log: Log;
    readonly now: Millis;
  },
): Promise<number> {
  await assertHandlers(store, handlers, new Set(dormant.map(({ kind }) => kind)));
  const { migrated, rearmed } = await migrateStore(store, [...actors, ...dormant], { log, now });
  return migrated + rearmed;
}

/** Throws `runtime.options`, before the store is opened. */
function assertOptions(options: CreateOptions): void {
  const { store, actors, handlers, dormant, effects, restarts, deadLetters, start = 'now' } = options;
  const { open, commit } = (store ?? {}) as Partial<StoreSource & ActorStore>;
  const isStore = typeof open === 'function' || typeof commit === 'function';
  const problem =
    (isStore ? undefined : '`store` is none: give `lmdb(folder)`, `postgres(url)` or `memory()`.') ??
    (isListOf(actors, 'kind') ? undefined : '`actors` is no list of what `defineActor` returns.') ??
    (isListOf(handlers ?? [], 'handler')
      ? undefined
      : '`handlers` is no list of what `handledBy` of effects returns.') ??
    (isListOf(dormant ?? [], 'kind') ? undefined : '`dormant` is no list of what `defineActor` returns.') ??
    (['now', 'later', 'never'].includes(start)
      ? undefined
      : `\`start\` is ${String(start)}, not now, later or never.`) ??
    numberProblem(options, { messagesAtOnce: [1], cachedActors: [0], stopGraceMs: [0] }) ??
    numberProblem(effects, { atOnce: [1], timeoutMs: [1] }, 'effects.') ??
    numberProblem(restarts, RESTART_BOUNDS, 'restarts.') ??
    numberProblem(deadLetters || {}, { atMost: [1], forMs: [1] }, 'deadLetters.');
  if (problem !== undefined) throw new Fatal('runtime.options', problem);
}

function isListOf(list: unknown, member: string): boolean {
  return Array.isArray(list) && list.every((one) => typeof one === 'object' && one !== null && member in one);
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
  #takesNothing = false;
  #isClosed = false;

  constructor(
    private readonly built: BuiltRuntime,
    private readonly given: {
      readonly log: Log;
      readonly migrated: number;
      /** True: it never starts. */
      readonly isTool: boolean;
      readonly stopGraceMs: Millis;
      /** True: the runtime has opened the store. */
      readonly isOwn: boolean;
      readonly unobserve: (() => void) | undefined;
    },
  ) {
    super(built.actors.connection);
  }

  get migrated() {
    return this.given.migrated;
  }

  start(): void {
    if (this.given.isTool)
      throw new Fatal(
        'runtime.options',
        "A runtime with `start: 'never'` runs neither effects nor deadlines.",
      );
    this.assertRunning();
    this.built.start();
    // The owner of an opened store says so itself.
    if (this.given.isOwn) this.built.store.nodes?.started();
  }

  setAside() {
    return this.built.setAside();
  }

  reports() {
    return this.built.reports();
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

  stop(options?: StopOptions): Promise<void> {
    this.#stopped ??= this.#stop(options);
    return this.#stopped;
  }

  async #stop({ graceMs, requests }: StopOptions = {}): Promise<void> {
    const { log, stopGraceMs, isOwn, unobserve } = this.given;
    const { store } = this.built;
    const takeNothing = () => {
      this.#takesNothing = true;
    };
    if (requests === undefined) takeNothing();
    unobserve?.();
    try {
      await this.built.stop(graceMs ?? stopGraceMs, requests?.then(takeNothing, takeNothing));
      await store.flushed();
    } catch (error) {
      log.error(
        'The runtime did not stop in order; nothing that was answered is lost.',
        describeFailure(error),
      );
    }
    this.#isClosed = true;
    if (!isOwn) return;
    await store
      .close()
      .catch((error: unknown) => log.error('The store could not be closed.', describeFailure(error)));
  }

  protected override assertRunning(): void {
    if (this.#takesNothing) throw new Retryable('runtime.stopping', 'The runtime is stopping.');
  }

  protected override assertOpen(): void {
    if (this.#isClosed) throw new Retryable('runtime.stopping', 'The runtime has stopped.');
  }
}

/**
 * Returns the handlers by the names that stored effects have. Throws `effect.name-twice`, `effect.unhandled`.
 */
function handlersOf(
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
