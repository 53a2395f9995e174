/**
 * What the runtime is told about one kind of actor and about the effects actors ask for.
 */
import type { AnyStateMachine } from 'xstate';
import type { ActorAddress, ActorStore, EffectKey, Json, Millis, Row } from './ports.ts';

/** An actor as its definition sees it: where it stands and what it knows. */
export interface ActorView {
  readonly id: string;
  readonly state: string;
  // biome-ignore lint/suspicious/noExplicitAny: the context's type belongs to the machine; each definition narrows it.
  readonly context: any;
}

/**
 * One kind of actor. `rows`, `names` and `counters` are pure functions of the actor; each step stores the
 * difference between what they say before and after it.
 *
 * The machine asks for things through four actions the runtime knows:
 * - `{ type: 'effect', params: { do, … } }`  store this work with the state (`do: 'tell'` with `to` and `event` is
 *   built in: a message to another actor, consumed there once);
 * - `{ type: 'note', params: { message } }`  write a journal line; with `state`, of a state only passed through;
 * - `{ type: 'dropEffects' }`                forget this actor's pending effects;
 * - XState's own delayed transitions (`after`), which become stored deadlines.
 */
export interface ActorDefinition {
  readonly kind: string;
  readonly machine: AnyStateMachine;
  /** Raised whenever the stored shape of the context or the set of states changes. */
  readonly version: number;
  /** How actors stored by earlier versions become ones of the next: by the version they come from. */
  readonly migrations?: { readonly [from: number]: Migration };
  readonly rows?: (actor: ActorView) => readonly Row[];
  /** Unique names held while the actor is like this. */
  readonly names?: (actor: ActorView) => readonly string[];
  /** What this actor adds to each counter while it is like this. */
  readonly counters?: (actor: ActorView) => { readonly [name: string]: number };
  /**
   * True for an actor that is at its end: the step that makes it so removes it with its history, rows, names, counters,
   * timers and pending effects. Such a step may not ask for effects. @default never
   */
  readonly ends?: (actor: ActorView) => boolean;
  /** Members of the context that are never shown, beside those whose names say so. @default none */
  readonly secrets?: readonly string[];
  /** The actor this one was made by or lives for, for people who look at it. Pure. @default none */
  readonly parent?: (actor: ActorView) => ActorAddress | undefined;
  /**
   * Actors that name this one as their parent, newest first where that is known: asked for when somebody looks, from ranges
   * of at most `limit` rows and single actors. Those that have ended, or never began, may be among them. @default none
   */
  readonly children?: (
    actor: ActorView,
    store: Pick<ActorStore, 'load' | 'rows'>,
    limit: number,
  ) => Promise<readonly ActorAddress[]>;
  /** Messages that may wait for one actor. @default 256 */
  readonly mailboxLimit?: number;
}

/** One version's step to the next. Pure. */
export interface Migration {
  /** The actor as the next version would have stored it. The state must be one of that version. */
  migrate(actor: { readonly state: string; readonly context: Json }): {
    readonly state: string;
    readonly context: Json;
  };
  /**
   * Rows, names and counters the old version had stored for the actor. @default what the definition of now says of the
   * migrated actor, for changes that leave them as they are
   */
  facts?(actor: ActorView): {
    readonly rows?: readonly Row[];
    readonly names?: readonly string[];
    readonly counters?: { readonly [name: string]: number };
  };
}

/** One try of one effect. */
export interface EffectTry {
  /** The same for every try: who sees it again finds its own earlier result. */
  readonly key: EffectKey;
  readonly actor: ActorAddress;
  /** Tries that have failed before this one. */
  readonly failures: number;
  /** Aborted when the runtime stops and its grace is over. */
  readonly signal: AbortSignal;
}

/**
 * Bounds for work that may take long through no fault of ours, such as calls to other people's servers: it waits and
 * runs apart from all other work, in lanes that take turns, so that a slow lane holds up neither other lanes nor
 * anything else. A handler that has lanes keeps them: work stored in a lane is looked for nowhere else.
 */
// biome-ignore lint/suspicious/noExplicitAny: see EffectHandler.
export interface EffectLanes<Effect = any> {
  /** Effects of the handler in work at once, besides those of all others. Whole number, at least 1. */
  readonly atOnce: number;
  /** Of one lane. Whole number, at least 1. */
  readonly perLane: number;
  /** Pure: the lane of an effect, at most 200 characters. Within a lane what is due first starts first. */
  of(effect: Effect): string;
}

/**
 * Does one kind of stored work, at least once per key. `run` resolves with the message that goes back to the
 * actor; it rejects with a `Retryable` to be tried again later, and with anything else to give up, in which case
 * `failed` makes the message. Work without `failed` is never given up: every failure is tried again later.
 */
// biome-ignore lint/suspicious/noExplicitAny: each handler narrows the effect it is registered for.
export interface EffectHandler<Effect = any> {
  /**
   * What has to be true before it starts: `visible` = the step can be read (a redo after a crash does no harm);
   * `durable` = a power cut cannot undo the step (anything that cannot be taken back).
   */
  readonly after: 'visible' | 'durable';
  /** Tries in all before giving up. @default Infinity for Retryable failures */
  readonly tries?: number;
  /** @default none: the work shares the slots of the runtime (`RuntimeOptions.effectsInFlight`) */
  readonly lanes?: EffectLanes<Effect>;
  run(
    effect: Effect,
    attempt: EffectTry,
  ): Promise<{ readonly type: string; readonly [field: string]: unknown }>;
  failed?(
    effect: Effect,
    failure: { readonly code: string; readonly message: string },
  ): {
    readonly type: string;
    readonly [field: string]: unknown;
  };
}

/** The outcome of one message. */
export type StepOutcome =
  | {
      readonly accepted: true;
      readonly actor: ActorView;
      readonly revision: number;
      /** Resolves once a power cut cannot undo the step. */
      readonly durable: Promise<void>;
    }
  /** The machine does not want this event in this state; nothing changed. */
  | {
      readonly accepted: false;
      readonly because: 'not-accepted' | 'duplicate' | 'stopped';
      readonly actor: ActorView;
    }
  | { readonly accepted: false; readonly because: 'unknown-actor' | 'exists' }
  | {
      readonly accepted: false;
      readonly because: 'taken';
      readonly name: string;
      readonly holder: ActorAddress;
    };

/** Options of one message. */
export interface TellOptions {
  /** A message with an id is consumed once; again = `duplicate`. */
  readonly id?: string;
}

/** What actors/ and http/ may ask of the runtime. */
export interface ActorSystem {
  /**
   * Brings an actor to life from its machine's initial state. What the machine is to know of the time of its birth
   * belongs into `input`. Rejects with what the machine throws and with what the store rejects with.
   */
  create(address: ActorAddress, input: Json): Promise<StepOutcome>;
  /**
   * One message, one step; `at` of the event is set by the host. Rejects with `Retryable`: `mailbox.full` (too many
   * wait), `store.unavailable` (the step may or may not be stored: give the message an `id` where telling it twice
   * would hurt); and with what a step threw, which changed nothing and counts against the actor's restart limit.
   */
  tell(
    address: ActorAddress,
    event: { readonly type: string; readonly [field: string]: unknown },
    options?: TellOptions,
  ): Promise<StepOutcome>;
  /** The actor as last committed. Never waits behind the mailbox. */
  read(
    address: ActorAddress,
  ): Promise<(ActorView & { readonly revision: number; readonly stopped: boolean }) | undefined>;
}

export type { Millis };
