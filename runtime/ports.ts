/**
 * The faces of the runtime: what it needs from outside (store, clock, ids) and the data that crosses them.
 * Everything is plain data, so that a store in another process can implement the same contract.
 */
import type { MessagePort } from 'node:worker_threads';

/** Names one actor; says nothing about where it lives. */
export interface ActorAddress {
  readonly kind: string;
  readonly id: string;
}

/** Counts the committed steps of one actor; 0 = the actor does not exist yet. */
export type Revision = number;

/** Milliseconds since the epoch, UTC. */
export type Millis = number;

/** JSON-safe value: what may be stored. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A message to an actor. The host stamps `at`; machines never ask for the time. */
export interface ActorEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The persisted form of an actor between two messages. */
export interface StoredActor {
  readonly address: ActorAddress;
  readonly revision: Revision;
  /** Version of the machine that wrote the snapshot. */
  readonly version: number;
  /** Name of the machine's state, for lists and inspection. */
  readonly state: string;
  readonly context: Json;
  /** Armed deadlines by name. */
  readonly timers: { readonly [name: string]: Millis };
  /** Ids of the last consumed messages, oldest first, at most `CONSUMED_KEPT`. */
  readonly consumed: readonly string[];
  /** Journal lines written so far. */
  readonly journalLength: number;
  /** Present once supervision has given the actor up; it accepts nothing until restarted. */
  readonly stopped: { readonly at: Millis; readonly error: string } | null;
}

/** How many consumed message ids an actor remembers. */
export const CONSUMED_KEPT = 32;

/** One line of an actor's history. */
export interface JournalLine {
  /** From 1 per actor. */
  readonly id: number;
  readonly at: Millis;
  readonly state: string;
  readonly message: string;
  /** Type of the event that caused it. */
  readonly cause: string;
}

/** `<kind>/<id>/<revision>/<index>`: the same for every try of the same effect. */
export type EffectKey = string;

/** Work a committed step asked for. */
export interface StoredEffect {
  readonly key: EffectKey;
  readonly actor: ActorAddress;
  /** `do` names the handler; the rest is its input. */
  readonly effect: { readonly do: string; readonly [field: string]: Json };
  /** Not before this time. */
  readonly dueAt: Millis;
  /** Tries that have failed so far. */
  readonly failures: number;
  readonly lastError: string | null;
  /** The queue it waits in, apart from all others. Absent: the common one. */
  readonly lane?: string;
}

/** One entry of an ordered list. Keys sort by their parts: numbers before strings, ascending. */
export interface Row {
  readonly view: string;
  readonly key: readonly (string | number)[];
  readonly value: Json;
}

/** Where an actor is counted in the census: `<version of its machine>/<state>`. */
export type CensusPlace = string;

/** Everything one step decided. Stored as one unit or not at all. */
export interface Step {
  /** The actor as it is after the step (its `revision` is `basedOn + 1`). */
  readonly actor: StoredActor;
  /** Revision the step was computed from; 0 = the actor must not exist yet. */
  readonly basedOn: Revision;
  readonly journal: readonly JournalLine[];
  readonly effects: readonly StoredEffect[];
  /** The effect whose outcome this step consumed; absent in the store = duplicate, nothing is written. */
  readonly settles: EffectKey | null;
  /** True: every effect of this actor that is still pending is dropped (before `effects` are added). */
  readonly dropsEffects: boolean;
  readonly timers: {
    readonly arm: readonly { readonly name: string; readonly due: Millis; readonly event: ActorEvent }[];
    /** Name and due time of armed deadlines to forget. */
    readonly disarm: readonly { readonly name: string; readonly due: Millis }[];
  };
  readonly rows: { readonly put: readonly Row[]; readonly remove: readonly Omit<Row, 'value'>[] };
  /** Unique names taken and given back, e.g. `path:<hash>`. A name held by another actor refuses the step. */
  readonly names: { readonly take: readonly string[]; readonly release: readonly string[] };
  /** Counters and by how much they move. A counter that reaches 0 is removed. */
  readonly counters: { readonly [name: string]: number };
  /**
   * How the actor moves in the census, which the store keeps (`census.ts`); null = it stays where it is. A place that is
   * null: it was in none, or is in none any more.
   */
  readonly moved: { readonly from: CensusPlace | null; readonly to: CensusPlace | null } | null;
  /** The actor is at its end: it and its journal are removed instead of written; `effects` is empty. */
  readonly ends?: true;
  /** Number of the call from another thread that asked for it: that thread hears of the step with it. Not stored. */
  readonly call?: number | undefined;
}

export type Committed =
  /** Visible now; `durable` resolves once a power cut cannot undo it. */
  | { readonly ok: true; readonly durable: Promise<void> }
  | { readonly ok: false; readonly because: 'stale' | 'duplicate' }
  | { readonly ok: false; readonly because: 'taken'; readonly name: string; readonly holder: ActorAddress };

/** A range of one view. */
export interface RowQuery {
  readonly view: string;
  /** Only rows whose key starts with these parts. @default [] */
  readonly prefix?: readonly (string | number)[];
  /** Descending order. @default false */
  readonly reverse?: boolean;
  /** Only rows that come later than this key in the order asked for; no row need have it. It starts with `prefix`. */
  readonly after?: readonly (string | number)[];
  /** Rows to skip. @default 0 */
  readonly offset?: number;
  readonly limit: number;
}

/**
 * Where actors, their effects, timers, rows and names live.
 * One contract suite (`test/contract/store.ts`) runs against every implementation.
 * Reads see every commit that has resolved.
 */
export interface ActorStore {
  load(actor: ActorAddress): Promise<StoredActor | undefined>;
  /** Actors of one kind in the order of their ids, those behind `after`. */
  actors(query: {
    readonly kind: string;
    readonly after?: string;
    readonly limit: number;
  }): Promise<readonly StoredActor[]>;
  /**
   * Resolves when visible to reads; concurrent commits share one transaction and one flush. Rejects with a `Fatal`
   * (`store.key-too-long`, `store.key-unsortable`: texts in keys have at most 400 bytes of UTF-8) that concerns this
   * step alone, or with a `Retryable` (`store.unavailable`), after which the step may or may not be stored.
   */
  commit(step: Step): Promise<Committed>;
  /** Lines `after` < id, oldest first. */
  journal(
    actor: ActorAddress,
    options?: { readonly after?: number; readonly limit?: number },
  ): Promise<readonly JournalLine[]>;
  rows(query: RowQuery): Promise<readonly Row[]>;
  /** Every counter whose name starts with `prefix`. */
  counters(prefix: string): Promise<{ readonly [name: string]: number }>;
  /** Holder of a unique name. */
  holder(name: string): Promise<ActorAddress | undefined>;

  /**
   * Leases up to `limit` effects of one lane that are due and not leased, earliest due first. A lease ends with this
   * process. @param lane missing = those without a lane
   */
  leaseEffects(now: Millis, limit: number, lane?: string): Promise<readonly StoredEffect[]>;
  /**
   * Up to `limit` lanes in ascending order whose names begin with `prefix`, only those that have an effect which is
   * not leased, with the time at which the earliest of these is due. What is leased of a lane is passed over one by one.
   */
  lanes(query: {
    readonly prefix: string;
    /** Only lanes that sort after this one. */
    readonly after?: string;
    readonly limit: number;
  }): Promise<readonly { readonly lane: string; readonly due: Millis }[]>;
  /** Gives a leased effect back for a later try and counts a failure. Resolves when visible; a settled effect is left alone. */
  deferEffect(key: EffectKey, until: Millis, error: string): Promise<void>;
  /**
   * For a start: where the wall clock was set back since, effects wait for times further ahead than was ever meant. Those
   * that have not failed are due at `now` then, the others after the longest pause there is.
   */
  hastenEffects(now: Millis): Promise<void>;
  /** Earliest time at which an unleased effect without a lane is due. */
  nextEffectDue(): Promise<Millis | undefined>;
  pendingEffects(actor: ActorAddress): Promise<readonly StoredEffect[]>;
  /** Effects that failed at least once and wait for their next try, in the order of their keys, behind `after`. */
  troubledEffects(query: {
    readonly after?: EffectKey;
    readonly limit: number;
  }): Promise<readonly StoredEffect[]>;
  /** How many there are of these. */
  troubledCount(): Promise<number>;

  /** Deadlines due by `now`, earliest first. They stay until a step disarms them. */
  dueTimers(now: Millis, limit: number): Promise<readonly StoredTimer[]>;
  nextTimerDue(): Promise<Millis | undefined>;

  /**
   * Lets another thread of this process load and commit. `tell` hears of every group of steps it has written, in the
   * order of the store, by its serial number. `revoke` lets it commit nothing more, and resolves once `tell` has heard
   * of all that it did. Missing: only one thread may use this store.
   */
  share?(tell: (written: { readonly serial: number; readonly steps: readonly Step[] }) => void): {
    readonly store: SharedStore;
    readonly revoke: () => Promise<void>;
  };
  /** Durable up to here. */
  flushed(): Promise<void>;
  /** Why the store takes no steps, for good: it is closed, or what writes is lost. Undefined while it takes them. */
  refusal(): string | undefined;
  /** Engine and place of the data, for people; its size on disk, where it has one. */
  describe(): { readonly engine: string; readonly location: string; readonly bytes?: number };
  close(): Promise<void>;
}

/** What another thread needs to use the store; `port` is to be transferred there. */
export interface SharedStore {
  readonly folder: string;
  readonly port: MessagePort;
}

export interface StoredTimer {
  readonly actor: ActorAddress;
  readonly name: string;
  readonly due: Millis;
  readonly event: ActorEvent;
}

/** Time, passed in: nothing outside `runtime/clock.ts` asks the system. */
export interface Clock {
  now(): Millis;
  /** Monotonic milliseconds with fraction, for durations. */
  elapsed(): number;
  /** Runs `task` once after `delay` milliseconds; the returned function cancels it. */
  after(delay: Millis, task: () => void): () => void;
  sleep(delay: Millis, signal?: AbortSignal): Promise<void>;
}

/** Fresh ids and random bytes, passed in. */
export interface Ids {
  /** UUID v4, lower case. */
  uuid(): string;
  bytes(length: number): Buffer;
}

/** Writes one structured line; never throws, never blocks. */
export interface Log {
  /** False where debug lines go nowhere, so that nobody need make them. @default true */
  readonly debugging?: boolean;
  debug(text: string, properties?: LogProperties): void;
  info(text: string, properties?: LogProperties): void;
  warn(text: string, properties?: LogProperties): void;
  error(text: string, properties?: LogProperties): void;
}
export type LogProperties = { readonly [name: string]: string | number | boolean | null | undefined };
