/**
 * The session of this node: the token under which it owns effects, timers and leases, kept alive by a heartbeat on the
 * clock of the database. Another node that sees no heartbeat for longer than the lease deletes the session and takes
 * over what it owned. `commit_steps` refuses every commit of a deleted session, so a node that was suspended writes
 * nothing.
 */

import { machineTime } from '../../model/clock.ts';
import { describeFailure, Fatal } from '../../model/failures.ts';
import { LeaseDeadline } from '../../model/lease-deadline.ts';
import type { Clock, Json, Log, Millis, SharedClock } from '../../model/ports.ts';
import type { SessionStatements } from './statements.ts';

export interface SessionOptions {
  /** Name of this node among those of one database. */
  readonly node: string;
  /** Seconds without a heartbeat after which other nodes take over. */
  readonly leaseSeconds: number;
  /** Description of this node for the others. @default {} */
  readonly info?: Json;
  /** Called once when the session was taken over: the process must end. @default a new session is opened */
  readonly onLost?: (why: string) => void;
}

/** Heartbeats per lease. */
export const HEARTBEATS_PER_LEASE = 3;

/** Interval for checking that the session of an earlier process of this node is over, milliseconds. */
const WAIT_FOR_EARLIER_MS = 200;

/** Nodes of one database at most. */
const MAX_NODES = 64;

/** Contents of the heartbeat and receivers of its results. */
export interface HeartbeatDependencies {
  /** Returns the report of this node. */
  readonly report: () => Json;
  /** `pg_snapshot_xmin` of the changes read last; null before the first. */
  readonly position: () => string | null;
  /** Called after effects or timers of another session became those of this one. */
  readonly adopted: () => void;
  /** Called when an operator asked this node to drain; each heartbeat calls it. */
  readonly draining: () => void;
}

const NOTHING: HeartbeatDependencies = {
  report: () => ({}),
  position: () => null,
  adopted: () => {},
  draining: () => {},
};

export class Session {
  readonly #statements: SessionStatements;
  readonly #options: SessionOptions;
  readonly #clock: Clock;
  readonly #storeClock: StoreClock;
  readonly #log: Log;
  #dependencies = NOTHING;
  #token = 0;
  #slot = 0;
  #nodes = 1;
  #lastBeat: number;
  readonly #deadline = new LeaseDeadline(machineTime);
  /**
   * Since when the session was open and heartbeats have succeeded without a gap, infinite after a failed one: others are
   * silent only if this node was not.
   */
  #steadySince = Number.POSITIVE_INFINITY;
  #cancel: () => void = () => {};
  #closed = false;
  /** True after the answer of a take-over was lost. */
  #mayHaveAdopted = false;
  #renewing: Promise<void> | undefined;

  private constructor({
    statements,
    options,
    clock,
    storeClock,
    log,
  }: {
    readonly statements: SessionStatements;
    readonly options: SessionOptions;
    readonly clock: Clock;
    readonly storeClock: StoreClock;
    readonly log: Log;
  }) {
    this.#statements = statements;
    this.#options = options;
    this.#clock = clock;
    this.#storeClock = storeClock;
    this.#log = log;
    this.#lastBeat = clock.elapsed();
  }

  /**
   * Opens the session of a node. Waits for a session that an earlier process of this node left, at most for its lease.
   * Throws `store.locked` where a living process has this name, or as many nodes as may run.
   */
  static async open(
    statements: SessionStatements,
    options: SessionOptions,
    { clock, storeClock, log }: { readonly clock: Clock; readonly storeClock: StoreClock; readonly log: Log },
  ): Promise<Session> {
    const session = new Session({ statements, options, clock, storeClock, log });
    const deadline = clock.elapsed() + options.leaseSeconds * 1000 + 2 * WAIT_FOR_EARLIER_MS;
    while (!(await session.#begin())) {
      if (clock.elapsed() > deadline) {
        throw new Fatal(
          'store.locked',
          `A running process already has the node name "${options.node}", or ${MAX_NODES} nodes run. Give this one another name (Runtime:NodeName), or stop another.`,
        );
      }
      await clock.sleep(WAIT_FOR_EARLIER_MS);
    }
    await session.#takeOver();
    session.#beat();
    return session;
  }

  /** Fencing token: never reused. */
  get token(): number {
    return this.#token;
  }

  /** Number of this node: different for each living session, at most `MAX_NODES` - 1. */
  get slot(): number {
    return this.#slot;
  }

  /** Time until which no other node takes over; each heartbeat extends it. */
  get deadline(): LeaseDeadline {
    return this.#deadline;
  }

  /** Nodes at the last heartbeat. */
  get nodes(): number {
    return this.#nodes;
  }

  /** Sets what heartbeats report and whom they tell. */
  attach(dependencies: HeartbeatDependencies): void {
    this.#dependencies = dependencies;
  }

  /** Handles the loss of the session: opens a new one, or tells that the process must end. Calls share one attempt. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renew(): Promise<void> {
    if (this.#closed) return;
    const { node, onLost } = this.#options;
    const lost = this.#token;
    if (onLost !== undefined) {
      this.#closed = true;
      this.#cancel();
      onLost(
        `The node "${node}" was silent for longer than its lease, and others took over its work. Start it again.`,
      );
    } else if (await this.#begin()) {
      await this.#takeOver();
      this.#log.warn('This node was silent for longer than its lease; it goes on with a new session.', {
        node,
        lost,
        session: this.#token,
      });
    }
  }

  /** Ends the session; other nodes take over what it owned. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel();
    await this.#statements.end(this.#token);
  }

  async #begin(): Promise<boolean> {
    await this.#takeOver();
    const { leaseSeconds, info = {} } = this.#options;
    const asked = this.#deadline.now();
    try {
      const sent = this.#clock.elapsed();
      const row = await this.#statements.begin({
        node: this.#options.node,
        leaseSeconds,
        info: JSON.stringify(info),
        maxNodes: MAX_NODES,
      });
      if (row === undefined) return false;
      // Deadlines that are armed before the first heartbeat are on the clock of the database too.
      this.#storeClock.set(row.now, sent, this.#clock.elapsed());
      this.#token = row.token;
      this.#deadline.set(asked + leaseSeconds * 1000);
      this.#slot = row.slot;
      this.#nodes = row.nodes;
      this.#lastBeat = this.#clock.elapsed();
      this.#steadySince = this.#lastBeat;
      return true;
    } catch (error) {
      // Another node took the slot in this moment, or there are too many nodes.
      const { code } = error as { code?: string };
      if (code === '23505' || code === '23502') return false;
      throw error;
    }
  }

  async #takeOver(): Promise<void> {
    const lease = this.#options.leaseSeconds * 1000;
    const isSteady = this.#clock.elapsed() - this.#steadySince >= lease;
    // The database may run the statement after an outage that followed, when all nodes have been silent.
    const silentUntil = isSteady ? this.#storeClock.now() + lease / 2 : 0;
    let taken: Awaited<ReturnType<SessionStatements['takeOver']>>;
    try {
      taken = await this.#statements.takeOver(this.#token, silentUntil, this.#options.node);
    } catch (error) {
      this.#mayHaveAdopted = true;
      throw error;
    }
    if (this.#mayHaveAdopted) this.#dependencies.adopted();
    this.#mayHaveAdopted = false;
    if (taken === undefined || (taken.sessions_over === 0 && taken.effects_taken === 0)) return;
    this.#log.warn('The work of silent nodes was taken over.', {
      nodes: taken.sessions_over,
      effects: taken.effects_taken,
    });
    this.#dependencies.adopted();
  }

  #beat(): void {
    const pause = (this.#options.leaseSeconds * 1000) / HEARTBEATS_PER_LEASE;
    this.#cancel = this.#clock.after(pause, () => {
      this.#heartbeat().then(
        () => this.#closed || this.#beat(),
        (error) => {
          if (this.#closed) return;
          this.#log.warn('The heartbeat of this node failed.', describeFailure(error));
          this.#steadySince = Number.POSITIVE_INFINITY;
          this.#beat();
        },
      );
    });
  }

  async #heartbeat(): Promise<void> {
    const { report, position, draining } = this.#dependencies;
    const sent = this.#clock.elapsed();
    const asked = this.#deadline.now();
    const row = await this.#statements.heartbeat(this.#token, JSON.stringify(report()), position());
    if (this.#closed) return;
    if (row === undefined) {
      await this.renew();
      return;
    }
    // The database counts the lease from a moment after the request was sent.
    this.#deadline.set(asked + this.#options.leaseSeconds * 1000);
    const now = this.#clock.elapsed();
    this.#storeClock.set(row.now, sent, now);
    this.#nodes = row.nodes;
    // A failure of the database stops the heartbeats of all nodes. The others get one lease time to renew them.
    const hasGap = now - this.#lastBeat > this.#options.leaseSeconds * 1000;
    if (hasGap || this.#steadySince > now) this.#steadySince = now;
    this.#lastBeat = now;
    if (row.is_draining) draining();
    await this.#takeOver();
  }
}

/** Difference that is corrected, milliseconds; smaller ones are the noise of the measurement. */
const TOLERANCE_MS = 5;

/**
 * The clock of the database as this node knows it. Nodes whose own clocks differ by minutes agree on it within
 * milliseconds, so due times mean the same on each of them.
 */
export class StoreClock implements SharedClock {
  readonly memory = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT);
  readonly #shared = new BigInt64Array(this.memory);
  readonly #clock: Clock;
  /** Time of the database minus elapsed time of this process, milliseconds. */
  #offset: number;

  /** @param clock measures elapsed time */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offset = clock.now() - clock.elapsed();
    this.#share();
  }

  /** Takes over a time that the database gave between the elapsed times `sent` and `received`. */
  set(now: Millis, sent: number, received: number): void {
    const offset = now - (sent + received) / 2;
    if (Math.abs(offset - this.#offset) > TOLERANCE_MS + (received - sent) / 2) this.#offset = offset;
    this.#share();
  }

  now(): Millis {
    return Math.floor(this.#clock.elapsed() + this.#offset);
  }

  elapsed(): number {
    return this.#clock.elapsed();
  }

  after(delay: Millis, task: () => void): () => void {
    return this.#clock.after(delay, task);
  }

  sleep(delay: Millis, signal?: AbortSignal): Promise<void> {
    return this.#clock.sleep(delay, signal);
  }

  #share(): void {
    Atomics.store(this.#shared, 0, BigInt(Math.round(this.now() - machineTime())));
  }
}
