/** Definitions of actor kinds and of effect handlers. */
import type { AnyStateMachine } from 'xstate';
import type {
  ActorAddress,
  ActorEvent,
  ActorStore,
  Clock,
  EffectKey,
  Json,
  Log,
  Millis,
  Row,
  StoredActor,
} from './ports.ts';

export type WithoutTime<Message> = Message extends unknown ? Omit<Message, 'at'> : never;

interface UntypedMessage {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** An actor as its definition sees it: state and context. */
export interface ActorView<Context = unknown> {
  readonly id: string;
  readonly state: string;
  readonly context: Context;
}

/** An actor as `ActorSystem.read` returns it. */
export interface CommittedActor<Context = unknown> extends ActorView<Context> {
  readonly revision: number;
  readonly stopped: boolean;
}

/**
 * One kind of actor. `rows`, `names` and `counters` are pure functions of the actor; each step stores the difference
 * between their results before and after it.
 *
 * Besides those that change the context, the runtime knows these actions of a machine:
 * - the `action` of an effect and those that `tell` makes, which store it with the state;
 * - `note`, `erase` and `dropEffects`;
 * - XState's `emit`, which gives an event to observers of committed steps, and is not stored;
 * - XState's own delayed transitions (`after`), which become stored deadlines.
 */
// biome-ignore lint/suspicious/noExplicitAny: lists of definitions hold kinds of all contexts.
export interface ActorDefinition<Context = any> {
  readonly kind: string;
  readonly machine: AnyStateMachine;
  /** Incremented whenever the stored shape of the context or the set of states changes. */
  readonly version: number;
  /** Migrations by the version they start from. */
  readonly migrations?: { readonly [from: number]: Migration<Context> };
  readonly rows?: (actor: ActorView<Context>) => readonly Row[];
  /** Unique names that the actor holds in this state. */
  readonly names?: (actor: ActorView<Context>) => readonly string[];
  /** The actor's contribution to each counter in this state. */
  readonly counters?: (actor: ActorView<Context>) => { readonly [name: string]: number };
  /**
   * True for an actor that has ended: the step that ends it removes it with its history, rows, names, counters, timers
   * and pending effects. Such a step cannot request effects. @default never
   */
  readonly ends?: (actor: ActorView<Context>) => boolean;
  /** States after which few steps follow, if any. An actor in one of them may be stored in a smaller form. @default none */
  readonly restsIn?: readonly string[];
  /** True: its journal has texts that may have to be erased, so that each line gets a salt. @default false */
  readonly isErasable?: boolean;
  /** Members of the context that inspection redacts, in addition to those with secret names. @default none */
  readonly secrets?: readonly string[];
  /** The parent of this actor, for inspection. Pure. @default none */
  readonly parent?: (actor: ActorView<Context>) => ActorAddress | undefined;
  /**
   * Returns actors that name this one as their parent, newest first where the order is known. Called on inspection
   * only; reads ranges of at most `limit` rows and single actors. May include actors that have ended or never started.
   * @default none
   */
  readonly children?: (
    actor: ActorView<Context>,
    store: Pick<ActorStore, 'load' | 'rows'>,
    limit: number,
  ) => Promise<readonly ActorAddress[]>;
  /** Maximum number of messages waiting for one actor. @default 256 */
  readonly mailboxLimit?: number;
  /**
   * Ids of consumed messages that an actor remembers: a repetition within so many later messages with ids is recognised.
   * Messages of other actors have ids. They are stored with each step. Whole number from 1 to 10,000. @default 32
   */
  readonly idWindow?: number;
  /** Effects that the machine asks for by their `action`. @default none */
  readonly effects?: readonly NamedEffect<unknown>[];
}

/** An effect of actors: `declareEffect` makes one, or `defineEffect` with its handler. */
export interface NamedEffect<Outcome> {
  readonly name: string;
  readonly partitioning: EffectPartitioning | undefined;
  /** Absent: it is among the `handlers` of the runtime. */
  readonly handler?: EffectHandler;
  /** For types alone. */
  readonly outcome?: Outcome;
}

/** An effect with its handler. */
export interface HandledEffect<Outcome> extends NamedEffect<Outcome> {
  readonly handler: EffectHandler;
}

/** Returns the context of a stored actor of this kind; undefined for an actor of another kind. */
export function contextOf<Context>(
  { kind }: ActorDefinition<Context>,
  actor: Pick<StoredActor, 'address' | 'context'>,
): Context | undefined {
  return actor.address.kind === kind ? (actor.context as Context) : undefined;
}

/** Migration from one version to the next. Pure. */
// biome-ignore lint/suspicious/noExplicitAny: lists of definitions hold kinds of all contexts.
export interface Migration<Context = any> {
  /** Returns the actor as the next version stores it. The state must be one of that version. */
  migrate(actor: { readonly state: string; readonly context: { readonly [member: string]: Json } }): {
    readonly state: string;
    readonly context: Json;
  };
  /**
   * Rows, names and counters that the old version had stored for the actor. @default those of the current definition
   * for the migrated actor, for changes that leave them unchanged
   */
  facts?(actor: ActorView<Context>): {
    readonly rows?: readonly Row[];
    readonly names?: readonly string[];
    readonly counters?: { readonly [name: string]: number };
  };
}

/** One attempt of one effect. */
export interface EffectAttempt {
  /** Idempotency key: the same for every attempt. */
  readonly key: EffectKey;
  readonly actor: ActorAddress;
  /** Failed attempts before this one. */
  readonly failures: number;
  /**
   * Aborted when a time limit has passed or the heartbeat is late, and when the runtime stops and its grace period is over.
   */
  readonly signal: AbortSignal;
  /** Says that the attempt lives, where the effect has `heartbeatMs`. Costs next to nothing. */
  readonly heartbeat?: () => void;
}

/**
 * Limits for effects that may take long, such as calls to external servers: they wait and run apart from all other
 * effects, in partitions that take turns, so that a slow partition delays neither other partitions nor other effects.
 * The partitioning of a handler is permanent: effects stored in a partition are leased only by it.
 */
// biome-ignore lint/suspicious/noExplicitAny: see EffectHandler.
export interface EffectPartitioning<Effect = any> {
  /** Effects of the handler in progress at once, in addition to those of others. Whole number, at least 1. */
  readonly atOnce: number;
  /** Effects of one partition in progress at once. Whole number, at least 1. */
  readonly perPartition: number;
  /**
   * Returns the partition of an effect, at most 200 characters. Effects of one partition start in the order of due
   * time. Pure.
   */
  partitionOf(effect: Effect): string;
}

/** Services of the runtime that every effect handler receives. */
export interface EffectContext {
  /** `EffectRun.runtime`. */
  readonly calls: object;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Handler of one kind of effect, run at least once per key. `run` resolves with the message for the actor, or with null
 * when the actor does not need the result: the effect is then removed a moment later without a step, and is repeated
 * if the process ends before that. It rejects with a `Fatal` to give up at once; any other error is retried later, up to
 * `tries`. Then `failed` makes the message; an effect without `failed` is set aside.
 * @typeParam Effect the effect's members as the machine asks for them
 * @typeParam Message messages of the actor that asks for the effect
 */
// biome-ignore lint/suspicious/noExplicitAny: tables of handlers hold effects of all types.
export interface EffectHandler<Effect = any, Message = UntypedMessage> {
  /**
   * Required state of the step before the effect starts: `visible` = readable (a repetition after a crash does no
   * harm); `durable` = survives a power failure (for irreversible effects).
   */
  readonly after: 'visible' | 'durable';
  /**
   * Maximum number of attempts. After the last one `failed` makes the message; without
   * `failed` the effect is set aside: it stays stored, and runs again after the next start, or when an operator asks.
   * @default Infinity
   */
  readonly tries?: number;
  /**
   * Time limit of one attempt, milliseconds. Then its signal is aborted, and a second later it is abandoned: the
   * attempt has failed (`effect.time-limit`, retryable), and its outcome, should it still come, is not used.
   * @default that of the runtime
   */
  readonly timeLimitMs?: Millis;
  /**
   * Longest time between two calls of `EffectAttempt.heartbeat`, milliseconds; then the attempt ends as at its time limit
   * (`effect.no-heartbeat`). @default none
   */
  readonly heartbeatMs?: Millis;
  /** @default none: the effects share the slots of the runtime (`effects.atOnce`) */
  readonly partitioning?: EffectPartitioning<Effect>;
  /**
   * Returns false when nobody needs the effect at this moment: the step is then stored without it. Asked where the
   * handler is in the one process and thread that computes steps; true in case of doubt. @default true
   */
  isNeeded?(effect: Effect): boolean;
  run(effect: Effect, attempt: EffectAttempt, context: EffectContext): Promise<Message | null>;
  /**
   * Returns the message for the actor in place of another attempt, when the node that ran the effect ended. @default the
   * effect runs again
   */
  interrupted?(): Message;
  failed?(effect: Effect, failure: { readonly code: string; readonly message: string }): Message;
}

/** The outcome of one message. An accepted one survives a power failure where the store does. */
// biome-ignore lint/suspicious/noExplicitAny: see ActorSystem.
export type StepOutcome<Context = any> =
  | {
      readonly accepted: true;
      readonly actor: ActorView<Context>;
      readonly revision: number;
    }
  /** The machine does not accept this event in this state; nothing changed. */
  | {
      readonly accepted: false;
      readonly reason: 'not-accepted' | 'duplicate' | 'stopped';
      readonly actor: CommittedActor<Context>;
    }
  | { readonly accepted: false; readonly reason: 'unknown-actor' | 'exists' }
  | {
      readonly accepted: false;
      readonly reason: 'taken';
      readonly name: string;
      readonly holder: ActorAddress;
    };

/** Kinds of what an actor may not accept: the outcome of its effect, a message of an actor, its deadline. */
export type Unaccepted = 'outcome' | 'tell' | 'deadline';

/** Options of one message. */
export interface SendOptions {
  /** A message with an id is consumed once; a repetition returns `duplicate`. */
  readonly id?: string;
}

/** The actors by their addresses, without types; programs use `Calls`. */
export interface ActorSystem {
  /**
   * Creates an actor in its machine's initial state. Its creation time, where the machine needs it, is part of `input`.
   * Rejects with errors of the machine and of the store.
   */
  create(address: ActorAddress, input: unknown): Promise<StepOutcome>;
  /**
   * Sends one message, which makes one step; the host sets `at` of the event. Rejects with `Retryable`: `mailbox.full`
   * (too many messages wait), `store.unavailable` (the step may or may not be stored: give the message an `id` where a
   * repetition does harm); and with the error of the step, which changed nothing and counts against the actor's restart
   * limit.
   */
  send(address: ActorAddress, event: ActorEvent, options?: SendOptions): Promise<StepOutcome>;
  /** Returns the actor as last committed. Never waits for the mailbox. */
  // biome-ignore lint/suspicious/noExplicitAny: the kind is known by its name alone.
  read(address: ActorAddress): Promise<CommittedActor<any> | undefined>;
}

export interface HostedSystem extends ActorSystem {
  /** Restarts a stopped actor in its last state. `not-accepted` when it is not stopped. */
  restart(address: ActorAddress): Promise<StepOutcome>;
  /** Ends an actor in any state, as `ActorDefinition.ends` does. */
  end(address: ActorAddress): Promise<StepOutcome>;
}

export type { Millis };
