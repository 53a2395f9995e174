/** The actor store on PostgreSQL 15 or newer, which several nodes can share. */
import { Fatal, isRetryable } from '../../model/failures.ts';
import { Faults } from '../../model/faults.ts';
import { jsonType } from '../../model/json.ts';
import type { ActorStore, Clock, Committed, Log, Step, StoreReader } from '../../model/ports.ts';
import { ChangeFeed } from './change-feed.ts';
import { Committer } from './committer.ts';
import {
  describeLocation,
  openPool,
  type PostgresOptions,
  schemaName,
  unavailable,
} from './connection/connection.ts';
import { CounterFolding } from './counter-folding.ts';
import { assertMayRun, assertNoCopy, assertNotLocked, migrateSchema } from './migrate-schema.ts';
import { postgresMarks } from './postgres-marks.ts';
import { PostgresNodes } from './postgres-nodes.ts';
import { PostgresPacking } from './postgres-packed.ts';
import { PostgresReads } from './postgres-reads.ts';
import { changeStatements, commitStatements, sessionStatements } from './postgres-statements.ts';
import { PostgresWork } from './postgres-work.ts';
import { Session, type SessionOptions, StoreClock } from './session.ts';
import { type StartGuard, startGuard } from './start-guard.ts';
import { StatementWatch, type WatchedStatements } from './statement-watch.ts';
import { WriteProbe } from './write-probe.ts';

const INFO = jsonType<{ readonly version?: string }>();

/** Connection timeout of the connection for looks at late statements, milliseconds. */
const LOOK_CONNECT_MS = 2000;

export interface PostgresStoreOptions extends PostgresOptions, SessionOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** @default none armed */
  readonly faults?: Faults;
  /** True: a thread renews the session until `nodes.started()`, also while this one is blocked. @default false */
  readonly guardsStart?: boolean;
  /** Length of the longest rate window: permits are kept as long, and a day at least. @default a day */
  readonly longestWindowSeconds?: number;
}

/**
 * Opens the store: creates or upgrades the schema and opens the session of this node. Throws `store.too-new`,
 * `store.locked`, `store.postgres-options`, `store.copy-incomplete`; `store.unavailable` if the database does not answer.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<ActorStore> {
  const { clock, log } = options;
  const lostConnection = (error: Error) =>
    log.warn('A connection to PostgreSQL was lost.', { message: error.message });
  const pool = openPool(options, lostConnection);
  // Heartbeats have their own connection: behind reads they could be late, and the session of this node would expire.
  const heartbeats = openPool({ ...options, poolSize: 1 }, lostConnection);
  // Looks for late statements have one too, which is opened when it is needed.
  const watch = openWatch(options, lostConnection, log);
  let guard: StartGuard | undefined;
  try {
    const { version: program = '' } = INFO.read(options.info ?? {});
    const guarding = options.guardsStart ? startGuard(options, log) : undefined;
    await migrateSchema(pool, schemaName(options), { version: program });
    const version = await pool.query<{ server_version: string }>('SHOW server_version');
    await assertNotLocked(pool, schemaName(options));
    const storeClock = new StoreClock(clock);
    guard = await guarding;
    const session = await Session.open(sessionStatements(watch.on(heartbeats)), options, {
      clock,
      storeClock,
      log,
    });
    guard?.renew({
      token: session.token,
      leaseSeconds: options.leaseSeconds,
      deadline: session.deadline.memory,
    });
    try {
      // A copy that began meanwhile has kept the session from opening until it ended.
      await assertNoCopy(pool, schemaName(options));
      // An upgrade may have been finished before this session could be seen.
      await assertMayRun(pool, schemaName(options), program);
    } catch (error) {
      await session.close();
      throw error;
    }
    const engine = `PostgreSQL ${version.rows[0]?.server_version ?? ''}`.trim();
    let committer: Committer | undefined;
    const feed = await ChangeFeed.open(changeStatements(pool, watch), clock, {
      log,
      session,
      commits: {
        answered: async () => committer?.answered(),
        tellUncertain: async () => committer?.tellUncertain(),
      },
    });
    committer = new Committer(commitStatements(pool, watch), session, options.faults ?? new Faults(), feed);
    const nodes = new PostgresNodes({
      statements: watch.on(pool),
      session,
      feed,
      clock: storeClock,
      name: options.node,
      started: () => guard?.end(),
    });
    const folding = new CounterFolding(pool, clock, log, options.longestWindowSeconds);
    const description = { engine, location: describeLocation(options) };
    const probe = new WriteProbe(watch.on(pool), clock, log);
    return new PostgresStore(watch.on(pool), session, {
      committer,
      folding,
      feed,
      nodes,
      description,
      probe,
      endConnections: async () => {
        guard?.end();
        // Statements in progress are looked for until they end.
        await Promise.all([pool.end(), heartbeats.end()]);
        await watch.close();
      },
    });
  } catch (error) {
    guard?.end();
    await Promise.all([pool.end(), heartbeats.end()]);
    await watch.close();
    throw typeof (error as { code?: unknown }).code === 'string' &&
      String((error as { code: string }).code).startsWith('store.')
      ? error
      : unavailable(error);
  }
}

/** A look has to fail soon where the database does not answer. */
function openWatch(options: PostgresOptions, failed: (error: Error) => void, log?: Log): StatementWatch {
  const pool = openPool({ ...options, poolSize: 1, connectTimeoutMs: LOOK_CONNECT_MS }, failed);
  return new StatementWatch(pool, log);
}

class PostgresStore extends PostgresWork implements ActorStore {
  readonly nodes: PostgresNodes;
  readonly marks: NonNullable<ActorStore['marks']>;
  readonly packing: PostgresPacking;
  readonly #committer: Committer;
  readonly #folding: CounterFolding;
  readonly #feed: ChangeFeed;
  readonly #endConnections: () => Promise<void>;
  readonly #description: { readonly engine: string; readonly location: string };
  readonly #probe: WriteProbe;
  #closing: Promise<void> | undefined;

  constructor(
    statements: WatchedStatements,
    session: Session,
    made: {
      readonly committer: Committer;
      readonly folding: CounterFolding;
      readonly feed: ChangeFeed;
      readonly nodes: PostgresNodes;
      readonly endConnections: () => Promise<void>;
      readonly description: { readonly engine: string; readonly location: string };
      readonly probe: WriteProbe;
    },
  ) {
    super(statements, session, made.nodes.clock, () => made.feed.listener?.adopted());
    this.#committer = made.committer;
    this.#folding = made.folding;
    this.#feed = made.feed;
    this.#endConnections = made.endConnections;
    this.nodes = made.nodes;
    this.marks = postgresMarks(statements, session, async () => {
      await made.committer.answered();
      await made.feed.sync();
    });
    this.packing = new PostgresPacking(statements, made.nodes, () => {
      made.committer.hasBlocks = true;
    });
    this.#description = made.description;
    this.#probe = made.probe;
  }

  async commit(step: Step): Promise<Committed> {
    const committed = await this.#committer.commit(step).catch((error) => {
      if (isRetryable(error)) this.#probe.failed();
      throw error;
    });
    if (committed.ok) this.#probe.stored();
    this.#folding.wake();
    const isSettled = committed.ok || committed.reason === 'duplicate';
    if (step.settles !== null && isSettled) this.leases.end(step.settles);
    const mayBePacked = !committed.ok && committed.reason === 'stale' && step.basedOn > 0;
    if (mayBePacked && (await this.packing.unpack(step.actor.address, step.basedOn)))
      return this.commit(step);
    return committed;
  }

  flushed(): Promise<void> {
    return this.#committer.idle();
  }

  refusal(): string | undefined {
    return this.#closing && 'The store is closed.';
  }

  async obstacle(): Promise<string | undefined> {
    return this.refusal() ?? this.#probe.obstacle();
  }

  describe(): { readonly engine: string; readonly location: string } {
    return this.#description;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#committer.idle();
    await this.#feed.stop();
    await this.#folding.stop();
    // Without an answer of the database the session ends with its lease.
    await this.session.close().catch(() => {});
    await this.#endConnections();
  }
}

/**
 * Opens a store for reading that another process may be writing. Throws `store.copy-incomplete`, `store.unavailable`.
 */
export async function openPostgresReader(options: PostgresOptions): Promise<StoreReader> {
  const pool = openPool(options, () => {});
  let version: number | undefined;
  try {
    version = (await pool.query<{ version: number }>('SELECT version FROM schema_version')).rows[0]?.version;
    await assertNoCopy(pool, schemaName(options));
  } catch (error) {
    await pool.end();
    throw error instanceof Fatal ? error : unavailable(error);
  }
  const watch = openWatch(options, () => {});
  const reads = new PostgresReads(watch.on(pool), version);
  return {
    load: (actor) => reads.load(actor),
    actors: (query) => reads.actors(query),
    journal: (actor, range) => reads.journal(actor, range),
    rows: (query) => reads.rows(query),
    counters: (prefix) => reads.counters(prefix),
    names: (query) => reads.names(query),
    effects: (query) => reads.effects(query),
    timers: (query) => reads.timers(query),
    close: async () => {
      await pool.end();
      await watch.close();
    },
  };
}
