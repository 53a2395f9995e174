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
import { PostgresNodes } from './postgres-nodes.ts';
import { PostgresPacking } from './postgres-packed.ts';
import { PostgresReads } from './postgres-reads.ts';
import { changeStatements, commitStatements, sessionStatements } from './postgres-statements.ts';
import { PostgresWork } from './postgres-work.ts';
import { PreparedStatements } from './prepared-statements.ts';
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
    const statements = watch.on(pool);
    const nodes = new PostgresNodes({
      statements,
      session,
      feed,
      clock: storeClock,
      name: options.node,
      started: () => guard?.end(),
    });
    return new PostgresStore({
      ...partsOf(statements, { session, committer, feed, nodes }),
      folding: new CounterFolding(pool, clock, log, options.longestWindowSeconds),
      description: { engine, location: describeLocation(options) },
      probe: new WriteProbe(statements, clock, log),
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

/** Parts that the store delegates to. */
interface StoreDependencies {
  readonly reads: PostgresReads;
  readonly work: PostgresWork;
  readonly session: Session;
  readonly committer: Committer;
  readonly folding: CounterFolding;
  readonly feed: ChangeFeed;
  readonly nodes: PostgresNodes;
  readonly packing: PostgresPacking;
  readonly probe: WriteProbe;
  readonly description: { readonly engine: string; readonly location: string };
  readonly endConnections: () => Promise<void>;
}

function partsOf(
  statements: WatchedStatements,
  made: Pick<StoreDependencies, 'session' | 'committer' | 'feed' | 'nodes'>,
) {
  const { session, committer, feed, nodes } = made;
  const prepared = new PreparedStatements(statements);
  return {
    ...made,
    reads: new PostgresReads(prepared),
    work: new PostgresWork(prepared, session, nodes.clock, () => feed.listener?.adopted()),
    packing: new PostgresPacking(statements, nodes, () => {
      committer.hasBlocks = true;
    }),
  };
}

class PostgresStore implements ActorStore {
  readonly #needs: StoreDependencies;
  readonly nodes: PostgresNodes;
  readonly packing: PostgresPacking;
  #closing: Promise<void> | undefined;

  readonly load: ActorStore['load'] = (actor) => this.#needs.reads.load(actor);
  readonly actors: ActorStore['actors'] = (query) => this.#needs.reads.actors(query);
  readonly journal: ActorStore['journal'] = (actor, range) => this.#needs.reads.journal(actor, range);
  readonly rows: ActorStore['rows'] = (query) => this.#needs.reads.rows(query);
  readonly counters: ActorStore['counters'] = (prefix) => this.#needs.reads.counters(prefix);
  readonly holder: ActorStore['holder'] = (name) => this.#needs.reads.holder(name);
  readonly names: ActorStore['names'] = (query) => this.#needs.reads.names(query);
  readonly pendingEffects: ActorStore['pendingEffects'] = (actor) => this.#needs.reads.pendingEffects(actor);
  readonly failedEffects: ActorStore['failedEffects'] = (query) => this.#needs.reads.failedEffects(query);
  readonly failedEffectCount: ActorStore['failedEffectCount'] = () => this.#needs.reads.failedEffectCount();
  readonly effects: ActorStore['effects'] = (query) => this.#needs.reads.effects(query);
  readonly timers: ActorStore['timers'] = (query) => this.#needs.reads.timers(query);

  readonly leaseEffects: ActorStore['leaseEffects'] = (now, limit, partition, inOrder) =>
    this.#needs.work.leaseEffects(now, limit, partition, inOrder);
  readonly partitions: ActorStore['partitions'] = (query) => this.#needs.work.partitions(query);
  readonly deferEffect: ActorStore['deferEffect'] = (key, until, error) =>
    this.#needs.work.deferEffect(key, until, error);
  readonly releaseEffects: ActorStore['releaseEffects'] = (keys) => this.#needs.work.releaseEffects(keys);
  readonly settleEffects: ActorStore['settleEffects'] = (keys) => this.#needs.work.settleEffects(keys);
  readonly takeEffect: ActorStore['takeEffect'] = (key, due, error) =>
    this.#needs.work.takeEffect(key, due, error);
  readonly rescheduleAfterClockRegression: ActorStore['rescheduleAfterClockRegression'] = (now) =>
    this.#needs.work.rescheduleAfterClockRegression(now);
  readonly nextEffectDue: ActorStore['nextEffectDue'] = () => this.#needs.work.nextEffectDue();
  readonly dueTimers: ActorStore['dueTimers'] = (now, limit) => this.#needs.work.dueTimers(now, limit);
  readonly nextTimerDue: ActorStore['nextTimerDue'] = () => this.#needs.work.nextTimerDue();

  constructor(needs: StoreDependencies) {
    this.#needs = needs;
    this.nodes = needs.nodes;
    this.packing = needs.packing;
  }

  async commit(step: Step): Promise<Committed> {
    const { committer, probe, folding, work } = this.#needs;
    const committed = await committer.commit(step).catch((error) => {
      if (isRetryable(error)) probe.failed();
      throw error;
    });
    if (committed.ok) probe.stored();
    folding.wake();
    const isSettled = committed.ok || committed.reason === 'duplicate';
    if (step.settles !== null && isSettled) work.leases.end(step.settles);
    const mayBePacked = !committed.ok && committed.reason === 'stale' && step.basedOn > 0;
    if (mayBePacked && (await this.packing.unpack(step.actor.address, step.basedOn)))
      return this.commit(step);
    return committed;
  }

  flushed(): Promise<void> {
    return this.#needs.committer.idle();
  }

  refusal(): string | undefined {
    return this.#closing && 'The store is closed.';
  }

  async obstacle(): Promise<string | undefined> {
    return this.refusal() ?? this.#needs.probe.obstacle();
  }

  describe(): { readonly engine: string; readonly location: string } {
    return this.#needs.description;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { committer, feed, folding, session, endConnections } = this.#needs;
    await committer.idle();
    await feed.stop();
    await folding.stop();
    // Without an answer of the database the session ends with its lease.
    await session.close().catch(() => {});
    await endConnections();
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
  const reads = new PostgresReads(new PreparedStatements(watch.on(pool)), version);
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
