/**
 * Ports of the runtime: the interfaces it needs from outside (store, clock, ids) and the data that crosses them. All
 * data is plain, so that a store in another process can implement the same contract.
 */
import type { Faults } from './faults.ts';
import type { LeaseDeadline } from './lease-deadline.ts';

/** Identifies one actor, independently of its location. */
export interface ActorAddress {
  readonly kind: string;
  readonly id: string;
}

/** Number of committed steps of one actor; 0 = the actor does not exist yet. */
export type Revision = number;

/** Milliseconds since the epoch, UTC. */
export type Millis = number;

/** JSON-safe value that can be stored. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A message to an actor. The host sets `at`; machines never read the clock. */
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
  /** Ids of the last consumed messages, oldest first, at most `ActorDefinition.idWindow`. */
  readonly consumed: readonly string[];
  /** Journal lines written so far. */
  readonly journalLength: number;
  /** Hash of the last journal line; absent while no line has one. See `history/checkpoint.ts`. */
  readonly journalHash?: string;
  /** Time and error of a stopped actor, which accepts nothing until it is restarted; null for any other. */
  readonly stopped: { readonly at: Millis; readonly error: string } | null;
}

/** Number of consumed message ids an actor remembers by default. */
export const MAX_CONSUMED_IDS = 32;

/** One line of an actor's history. */
export interface JournalLine {
  /** From 1 per actor. */
  readonly id: number;
  readonly at: Millis;
  readonly state: string;
  readonly message: string;
  /** Type of the event that caused it. */
  readonly cause: string;
  /** Details, if the machine gave any. */
  readonly data?: JournalData;
  /** Base64url of 16 random bytes, where message and data can be erased: the hash of the line covers their `contentHash`. */
  readonly salt?: string;
  /** Of a line whose message, data and salt were erased: their `contentHash`; empty for a line that had no salt. */
  readonly erased?: string;
  /** `lineHash` over the line and the hash of the one before; absent in lines of earlier programs. Last member. */
  readonly hash?: string;
}

/** Named details of a journal line. */
export type JournalData = { readonly [name: string]: string | number | boolean | null };

/**
 * `<kind>/<id>/<revision>/<index>`: the same for every attempt of the same effect, and never that of another one. An
 * actor that was made anew, or restored from a backup, repeats revisions; so the effects of a step are numbered from a
 * random index. See docs/decisions/0158-keys-of-effects.md.
 */
export type EffectKey = string;

/** An effect requested by a committed step. */
export interface StoredEffect {
  readonly key: EffectKey;
  readonly actor: ActorAddress;
  /** `do` names the handler; the other members are its input. */
  readonly effect: { readonly do: string; readonly [field: string]: Json };
  /** Earliest start time. */
  readonly dueAt: Millis;
  /** Failed attempts. */
  readonly failures: number;
  readonly lastError: string | null;
  /** Name of the partition in which the effect waits. Absent: the common queue. */
  readonly partition?: string;
  /** True when the node that owned it ended before it was settled: another attempt may have begun. */
  readonly isTakenOver?: true;
}

/** One entry of an ordered list. Keys sort by their parts: numbers before strings, ascending. */
export interface Row {
  readonly view: string;
  readonly key: readonly (string | number)[];
  readonly value: Json;
}

/** Place of an actor in the state index: `<version of its machine>/<state>`. */
export type StateIndexEntry = string;

/** The result of one step. Stored as one unit or not at all. */
export interface Step {
  /** The actor after the step (its `revision` is `basedOn + 1`). */
  readonly actor: StoredActor;
  /** Revision the step was computed from; 0 = the actor must not exist yet. */
  readonly basedOn: Revision;
  /** New lines; also lines that take the place of those of their numbers, whose texts are erased. */
  readonly journal: readonly JournalLine[];
  readonly effects: readonly StoredEffect[];
  /** The effect whose outcome this step consumes; absent in the store = duplicate, nothing is written. */
  readonly settles: EffectKey | null;
  /** True: every pending effect of this actor is dropped (before `effects` are added). */
  readonly dropsEffects: boolean;
  readonly timers: {
    readonly arm: readonly { readonly name: string; readonly due: Millis; readonly event: ActorEvent }[];
    /** Name and due time of deadlines to remove. */
    readonly disarm: readonly { readonly name: string; readonly due: Millis }[];
  };
  readonly rows: { readonly put: readonly Row[]; readonly remove: readonly Omit<Row, 'value'>[] };
  /** Unique names acquired and released, e.g. `path:<hash>`. A name held by another actor refuses the step. */
  readonly names: { readonly take: readonly string[]; readonly release: readonly string[] };
  /** Counters and their increments. A counter that reaches 0 is removed. */
  readonly counters: { readonly [name: string]: number };
  /**
   * Move of the actor in the state index, which the store keeps (`derive.ts`); null = no move. A place that is
   * null: before its creation, or after its end.
   */
  readonly moved: { readonly from: StateIndexEntry | null; readonly to: StateIndexEntry | null } | null;
  /** The actor ends: it and its journal are removed instead of written; `effects` is empty. */
  readonly ends?: true;
  /** Events that the machine emitted (XState `emit`), for observers of committed steps. Not stored. */
  readonly events?: readonly ActorEvent[] | undefined;
  /**
   * Number of the call from another thread that requested the step: that thread matches the step by it. Not stored.
   */
  readonly call?: number | undefined;
}

export type Committed =
  /** Stored, visible, and safe from a power failure where the store is. */
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: 'stale' | 'duplicate' }
  | { readonly ok: false; readonly reason: 'taken'; readonly name: string; readonly holder: ActorAddress };

/** A page of what has an order: at most so many, after one of them. */
export interface AfterQuery<Key = string> {
  /** @default from the first */
  readonly after?: Key;
  readonly limit: number;
}

/** A range of one view. */
export interface RowQuery {
  readonly view: string;
  /** Only rows whose key starts with these parts. @default [] */
  readonly prefix?: readonly (string | number)[];
  /** Descending order. @default false */
  readonly reverse?: boolean;
  /** Only rows after this key in the requested order; no row need have it. It starts with `prefix`. */
  readonly after?: readonly (string | number)[];
  /** Rows to skip. @default 0 */
  readonly offset?: number;
  readonly limit: number;
}

/** An actor that has ended, as of a revision, if it is in one of these states. */
export interface RestingActor extends ActorAddress {
  readonly revision: Revision;
  readonly states: readonly string[];
}

/**
 * Storage of actors, their effects, timers, rows and names. One contract suite (`test/contract/store.ts`) runs against
 * every implementation. Reads see every resolved commit.
 */
export interface ActorStore {
  load(actor: ActorAddress): Promise<StoredActor | undefined>;
  /** Actors of one kind in the order of their ids, after `after`. */
  actors(query: AfterQuery & { readonly kind: string }): Promise<readonly StoredActor[]>;
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
  /** Returns the holder of a unique name. */
  holder(name: string): Promise<ActorAddress | undefined>;
  /** Names with their holders, in the order of the names, after `after`. */
  names(query: AfterQuery): Promise<readonly HeldName[]>;

  /**
   * Leases up to `limit` effects of one partition that are due and not leased, earliest due first. A lease ends with
   * this process.
   * @param partition missing = effects without a partition
   * @param inOrder true: the first effect of the partition alone, by its key, and none while another process has it; the
   *   partition has effects of one actor. Stores of one process need not look. @default false
   */
  leaseEffects(
    now: Millis,
    limit: number,
    partition?: string,
    inOrder?: boolean,
  ): Promise<readonly StoredEffect[]>;
  /**
   * Returns up to `limit` partitions with the prefix `prefix` that have an unleased effect, in ascending order, with
   * the earliest due time of these, after `after`. Skips the leased effects of a partition one by one.
   */
  partitions(
    query: AfterQuery & { readonly prefix: string },
  ): Promise<readonly { readonly partition: string; readonly due: Millis }[]>;
  /**
   * Releases a leased effect for a later attempt and counts a failure. Resolves when visible; a settled effect is
   * unchanged.
   */
  deferEffect(key: EffectKey, until: Millis, error: string): Promise<void>;
  /** Ends the leases of effects that did not run to their end because this process stops. Counts no failure. */
  releaseEffects(keys: readonly EffectKey[]): Promise<void>;
  /**
   * Removes effects whose handlers report nothing to the actor; ignores those that no longer exist. Resolves when
   * durable.
   */
  settleEffects(keys: readonly EffectKey[]): Promise<void>;
  /**
   * Corrects due times at a start after the wall clock was set back: effects that have not failed become due at `now`,
   * the others after the longest pause.
   */
  rescheduleAfterClockRegression(now: Millis): Promise<void>;
  /** Earliest due time of an unleased effect without a partition. */
  nextEffectDue(): Promise<Millis | undefined>;
  pendingEffects(actor: ActorAddress): Promise<readonly StoredEffect[]>;
  /** Effects that failed at least once and wait for their next attempt, in the order of their keys, after `after`. */
  failedEffects(query: AfterQuery<EffectKey>): Promise<readonly StoredEffect[]>;
  /** Number of these effects. */
  failedEffectCount(): Promise<number>;
  /** Effects of all actors and nodes, of one kind of actor if it is given, in the order of their keys, after `after`. */
  effects(query: AfterQuery<EffectKey> & { readonly kind?: string }): Promise<readonly ListedEffect[]>;
  /**
   * Makes an effect, of whichever node, one of this node, and due at `due`. `error` counts a failure; null counts none.
   * Resolves when visible; false when the effect is gone or leased.
   */
  takeEffect(key: EffectKey, due: Millis, error: string | null): Promise<boolean>;

  /** Deadlines due by `now`, earliest first. They stay until a step disarms them. */
  dueTimers(now: Millis, limit: number): Promise<readonly StoredTimer[]>;
  nextTimerDue(): Promise<Millis | undefined>;
  /** Deadlines of all actors and nodes, earliest first, after `after`. */
  timers(query: AfterQuery<Omit<StoredTimer, 'event'>>): Promise<readonly StoredTimer[]>;

  /**
   * Lets another thread of this process load and commit. `tell` receives every group of steps that it has written, in
   * store order, with its serial number. `revoke` ends its right to commit, and resolves once `tell` has received all
   * of its steps. Missing: only one thread can use this store.
   */
  shareWithThreads?(tell: (written: { readonly serial: number; readonly steps: readonly Step[] }) => void): {
    readonly store: SharedStore;
    readonly revoke: () => Promise<void>;
  };
  /** Present for a store that several processes can use at a time. */
  readonly nodes?: StoreNodes;
  /** Present for a store that is copied before its actors are migrated. */
  readonly upgradeCopy?: {
    /** Place of the last copy, if any. */
    readonly path?: string;
    /** Makes a copy before anything is written, unless an interrupted upgrade has made it. Returns its place. */
    make(): string;
    /** Ends the upgrade. */
    complete(): void;
  };
  /** Present for a store that makes ended actors and their journals small. They read as before; a step unpacks its actor. */
  readonly packing?: {
    /** False while another node packs, or one runs that could not read what is packed. Missing: always true. */
    begin?(): Promise<boolean>;
    /** Lets other nodes pack. */
    end?(): Promise<void>;
    /** Key of the row up to which the leaves of a node were packed. */
    doneUntil(node: string): Promise<Row['key'] | undefined>;
    /** Packs those that have not changed since these revisions, and records `until`, in one transaction. */
    pack(actors: readonly RestingActor[], node: string, until: Row['key']): Promise<void>;
    /**
     * Gives back the room that earlier writes have left within what is stored. One call at a time.
     * @param goesOn called often; waits a moment, false ends it
     */
    refill?(goesOn: () => Promise<boolean>): Promise<void>;
  };
  /** Resolves once all earlier commits are durable. */
  flushed(): Promise<void>;
  /**
   * Reason why the store permanently accepts no steps: it is closed, or its writer is lost. Undefined while it accepts
   * them.
   */
  refusal(): string | undefined;
  /**
   * Reason why no step can be stored at present, such as a full disk; undefined while one can. Answers within 5 s. Missing
   * where every failure is for good.
   */
  obstacle?(): Promise<string | undefined>;
  /** Engine and location of the data, for people; its size on disk, if any. */
  describe(): { readonly engine: string; readonly location: string; readonly bytes?: number };
  close(): Promise<void>;
}

/** A place for actors; `lmdb`, `postgres` and `memory` of the entries of these names make one. */
export interface StoreSource {
  /** @param given.version names the definitions of this program for the other nodes */
  open(given: {
    readonly clock: Clock;
    readonly log: Log;
    readonly version: string;
    /** See `CreateOptions.faults`. */
    readonly faults?: Faults;
  }): ActorStore | Promise<ActorStore>;
  /** Path of the file that records effects in progress; see `CreateOptions.crashJournal`. */
  readonly crashJournal?: string;
}

/** Reads of what no actor and no row holds. */
export type WorkReader = Pick<ActorStore, 'effects' | 'timers' | 'counters' | 'names'>;

/** Reads of a store without the right to write. The state index may be behind. */
export type StoreReader = Pick<ActorStore, 'load' | 'actors' | 'journal' | 'rows'> &
  WorkReader & {
    close(): Promise<void>;
  };

/** A clock that other threads read too; see `threadClock`. */
export interface SharedClock extends Clock {
  /** Memory passed to threads. */
  readonly memory: SharedArrayBuffer;
}

/**
 * The other processes (nodes) on one store. An effect and a timer belong to the node that stored them: only that node
 * leases and fires them, until it is silent for its lease and another one takes over.
 */
export interface StoreNodes {
  /** Clock of the store: the same on every node. */
  readonly clock: SharedClock;
  /** Name of this node. */
  readonly name: string;
  /** Number of this node, which no other living node has. Whole number from 0 to 63. */
  readonly slot: number;
  /** Time until which no other node can take over the work of this one. */
  readonly deadline: LeaseDeadline;
  /** Nodes at the last heartbeat, this one included. */
  readonly count: number;
  /** From now on, reports each committed step of every node, in the order of commits, before its commit resolves. */
  follow(listener: NodeListener): void;
  /**
   * Resolves when the listener has received every step that any node had committed before the call; rejects with
   * `store.unavailable`.
   */
  sync(): Promise<void>;
  /** Calls `use` with the counters as of the steps reported so far. */
  countersInOrder(
    prefix: string,
    use: (counters: { readonly [name: string]: number }) => void,
  ): Promise<void>;
  /** Says that the start is over: from now on the work is taken over when the thread of the caller is blocked too long. */
  started(): void;
  /** Acquires a lease by name until it is released or this node ends. False when another node has it. */
  acquire(name: string): Promise<boolean>;
  release(name: string): Promise<void>;
  /** Takes one of `permits` permits per window over all nodes. @returns milliseconds until one is free; 0 = taken */
  takePermit(name: string, permits: number, windowSeconds: number): Promise<number>;
  list(): Promise<readonly NodeStatus[]>;
  /** Asks a node to drain. False when there is none of this name. */
  drain(name: string): Promise<boolean>;
}

export interface NodeListener {
  /** `isOwn`: this node committed it. Steps of others have no effects and timers. Must not throw; must be quick. */
  committed(step: Step, isOwn: boolean): void;
  /** Effects and timers of another node became those of this one. */
  adopted(): void;
  /** An operator asked this node to drain. May be called again. */
  draining?(): void;
}

/** A node as the store knows it. */
export interface NodeStatus {
  readonly name: string;
  /** Fencing token. */
  readonly session: number;
  /** True for the node that asks. */
  readonly isThis: boolean;
  readonly openedAt: Millis;
  /** Milliseconds since its last heartbeat. */
  readonly silentMs: number;
  readonly leaseSeconds: number;
  readonly isDraining: boolean;
  /** Leases by name. */
  readonly leases: readonly string[];
  readonly effectsLeased: number;
  /** Description that it gave of itself at its start. */
  readonly info: Json;
  /** Report of its last heartbeat. */
  readonly report: Json;
}

/** Data that another thread needs to use the store; transfer `port` to it. */
export interface SharedStore {
  readonly folder: string;
  /** A `MessagePort`. The types of the package need none of Node. */
  readonly port: object;
}

export interface HeldName {
  readonly name: string;
  readonly holder: ActorAddress;
}

export interface ListedEffect extends StoredEffect {
  /** True while a node runs it, and a moment longer. */
  readonly isLeased: boolean;
}

export interface StoredTimer {
  readonly actor: ActorAddress;
  readonly name: string;
  readonly due: Millis;
  readonly event: ActorEvent;
}

/** Time as a dependency: only `runtime/model/clock.ts` reads the system clock. */
export interface Clock {
  now(): Millis;
  /** Monotonic milliseconds with fraction, for durations. */
  elapsed(): number;
  /** Runs `task` once after `delay` milliseconds; the returned function cancels it. */
  after(delay: Millis, task: () => void): () => void;
  sleep(delay: Millis, signal?: AbortSignal): Promise<void>;
}

/** A `Buffer`; in a program without the types of Node what it extends. */
export type Bytes = typeof globalThis extends {
  readonly Buffer: { isBuffer(value: unknown): value is infer Type };
}
  ? Type
  : Uint8Array;

/** Ids and random bytes as a dependency. */
export interface Ids {
  /** UUID v4, lower case. */
  uuid(): string;
  bytes(length: number): Bytes;
}

/** Writes one structured line; never throws, never blocks. */
export interface Log {
  /** False when debug lines are discarded, so that callers need not build them. @default true */
  readonly debugging?: boolean;
  debug(text: string, properties?: LogProperties): void;
  info(text: string, properties?: LogProperties): void;
  warn(text: string, properties?: LogProperties): void;
  error(text: string, properties?: LogProperties): void;
}
export type LogProperties = { readonly [name: string]: string | number | boolean | null | undefined };
