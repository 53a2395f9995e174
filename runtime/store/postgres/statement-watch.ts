/**
 * Statements whose connections may be dead without a sign, because packets are dropped. A statement that is not
 * answered soon is looked for on another connection: a backend that waits for its client, while the client waits for
 * it, shows that the connection is dead. The backend is then ended before anything is repeated, so that a statement
 * under way cannot run later. A backend that works or waits for a lock is alive, however long it takes.
 *
 * Source: docs/decisions/0145-dead-connections.md.
 */
import type pg from 'pg';
import { systemClock } from '../../model/clock.ts';
import { describeFailure, Retryable } from '../../model/failures.ts';
import type { Clock, Log } from '../../model/ports.ts';
import { backendOfTransaction, isUsableAfter } from './connection/connection-pool.ts';
import type { Backend } from './connection/pooler.ts';

/** Milliseconds between two looks at late statements; a statement is late after the same time. */
const LOOK_MS = 750;

/** Looks that find a backend waiting for its client after which the connection counts as dead. */
const IDLE_LOOKS = 2;

/** Failed looks after which late statements are given up: the database does not answer at all. */
const FAILED_LOOKS = 3;

/** Milliseconds for one look, and for the end of a backend. */
const ANSWER_MS = 2000;

/** Statements that run a repeatable statement at most. */
const ATTEMPTS = 3;

export type Statement = pg.QueryConfig & { readonly name?: string };

/** The client takes a time limit for a single statement; its types know none. */
declare module 'pg' {
  interface QueryConfig {
    query_timeout?: number | undefined;
  }
}

/** The connection was dead and its backend has ended: the statement is done or will never be. */
export class DeadConnection extends Error {}

/** True if the server answered the statement with an error: the connection is as it was. */
export function isRefusal(error: unknown): boolean {
  return (error as { severity?: unknown }).severity === 'ERROR';
}

/** Runs statements, each in a transaction of its own. */
export interface Statements {
  query<R extends pg.QueryResultRow>(statement: Statement): Promise<pg.QueryResult<R>>;
}

/** `Statements` that are watched. */
export interface WatchedStatements extends Statements {
  /** Runs a statement that may run more than once. */
  repeatable<R extends pg.QueryResultRow>(statement: Statement): Promise<pg.QueryResult<R>>;
  /** As `query`; `begun` receives the backend that runs the statement. */
  observed<R extends pg.QueryResultRow>(
    statement: Statement,
    begun: (backend: Backend) => void,
  ): Promise<pg.QueryResult<R>>;
}

interface Running {
  readonly client: pg.PoolClient;
  readonly backend: Backend;
  readonly since: number;
  readonly fail: (error: Error) => void;
  idleLooks: number;
  /** Bytes received on the connection at the last look. */
  bytes: number | undefined;
}

export class StatementWatch {
  readonly #backends = new WeakMap<pg.PoolClient, Backend>();
  readonly #running = new Set<Running>();
  #failedLooks = 0;
  #isArmed = false;
  #cancel: () => void = () => {};

  constructor(
    /** A connection for looks; it is opened when the first statement is late. */
    private readonly pool: pg.Pool,
    private readonly log?: Pick<Log, 'debug' | 'warn'>,
    private readonly clock: Pick<Clock, 'after' | 'elapsed'> = systemClock,
  ) {}

  /** Statements on the connections of a pool. */
  on(pool: pg.Pool): WatchedStatements {
    const observed = <R extends pg.QueryResultRow>(statement: Statement, begun: (backend: Backend) => void) =>
      this.#run<R>(pool, statement, begun);
    const query = <R extends pg.QueryResultRow>(statement: Statement) => observed<R>(statement, () => {});
    return {
      observed,
      query,
      async repeatable<R extends pg.QueryResultRow>(statement: Statement) {
        for (let attempt = 1; ; attempt++) {
          try {
            return await query<R>(statement);
          } catch (error) {
            if (!(error instanceof DeadConnection) || attempt >= ATTEMPTS) throw error;
          }
        }
      },
    };
  }

  /** Ends a backend; resolves when it is gone. Rejects if it is not, or that is unknown. */
  async end({ pid, started }: Backend): Promise<void> {
    const isGone = async () => {
      const { rows } = await this.pool.query<{ is_gone: boolean }>({
        text: `SELECT pg_terminate_backend(pid, $3) AS is_gone FROM pg_stat_activity
          WHERE pid = $1 AND backend_start = $2::timestamptz`,
        values: [pid, started, ANSWER_MS],
        query_timeout: 2 * ANSWER_MS,
      });
      return rows.every(({ is_gone }) => is_gone);
    };
    // PostgreSQL says false also for a backend that ended between its row and the call; the second look misses it.
    if (!(await isGone()) && !(await isGone()))
      throw new Retryable('store.unavailable', 'PostgreSQL: a backend of a lost connection did not end.');
  }

  /** Looks at no statement any more. */
  async close(): Promise<void> {
    this.#cancel();
    this.#isArmed = true;
    await this.pool.end();
  }

  async #run<R extends pg.QueryResultRow>(
    pool: pg.Pool,
    statement: Statement,
    begun: (backend: Backend) => void,
  ): Promise<pg.QueryResult<R>> {
    const client = await pool.connect();
    let backend: Backend;
    try {
      backend = await this.#backendOf(client);
    } catch (error) {
      client.release(true);
      throw error;
    }
    begun(backend);
    return new Promise((resolve, reject) => {
      const end = (isUsable: boolean): boolean => {
        if (!this.#running.delete(running)) return false;
        client.release(!isUsable);
        return true;
      };
      const running: Running = {
        client,
        backend,
        since: this.clock.elapsed(),
        idleLooks: 0,
        bytes: undefined,
        fail: (error) => {
          if (end(false)) reject(error);
        },
      };
      this.#running.add(running);
      this.#arm();
      client.query<R>(statement).then(
        (result) => {
          if (end(true)) resolve(result);
        },
        (error) => {
          if (end(isUsableAfter(error, client))) reject(error);
        },
      );
    });
  }

  /** The backend of a connection; asks for it once. */
  async #backendOf(client: pg.PoolClient): Promise<Backend> {
    const known = backendOfTransaction(client) ?? this.#backends.get(client);
    if (known !== undefined) return known;
    const { rows } = await client.query<Backend>({
      text: 'SELECT pid, backend_start::text AS started FROM pg_stat_activity WHERE pid = pg_backend_pid()',
      query_timeout: 2 * ANSWER_MS,
    });
    const backend = rows[0] ?? { pid: 0, started: '-infinity' };
    this.#backends.set(client, backend);
    return backend;
  }

  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.#cancel = this.clock.after(LOOK_MS, () => {
      void this.#look().then(() => {
        this.#isArmed = false;
        if (this.#running.size > 0) this.#arm();
      });
    });
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    const now = this.clock.elapsed();
    const late = [...this.#running].filter(({ since }) => now - since >= LOOK_MS);
    if (late.length === 0) {
      this.#failedLooks = 0;
      return;
    }
    try {
      const working = await this.#working(late.map(({ backend }) => backend.pid));
      this.#failedLooks = 0;
      for (const running of late) await this.#judge(running, working);
    } catch (error) {
      this.#failedLooks += 1;
      this.log?.debug('Late statements could not be looked for.', describeFailure(error));
      if (this.#failedLooks < FAILED_LOOKS) return;
      this.#failedLooks = 0;
      for (const { fail } of late)
        fail(new Retryable('store.unavailable', 'PostgreSQL does not answer on any connection.'));
    }
  }

  /** Keys of the backends that work on a statement or wait for a lock, and not for their clients. */
  async #working(pids: readonly number[]): Promise<ReadonlySet<string>> {
    const { rows } = await this.pool.query<Backend>({
      text: `SELECT pid, backend_start::text AS started FROM pg_stat_activity
        WHERE pid = ANY ($1) AND wait_event_type IS DISTINCT FROM 'Client'`,
      values: [pids],
      query_timeout: ANSWER_MS,
    });
    return new Set(rows.map(keyOf));
  }

  /** Ends the backend of a statement that is found waiting for its client again and again. */
  async #judge(running: Running, working: ReadonlySet<string>): Promise<void> {
    const { client, backend, fail } = running;
    const bytes = bytesOf(client);
    const isReceiving = running.bytes !== undefined && running.bytes !== bytes;
    running.idleLooks = working.has(keyOf(backend)) || isReceiving ? 0 : running.idleLooks + 1;
    running.bytes = bytes;
    if (running.idleLooks < IDLE_LOOKS || !this.#running.has(running)) return;
    await this.end(backend);
    this.log?.warn('A connection to PostgreSQL was dead; its backend was ended.', { pid: backend.pid });
    fail(new DeadConnection('The connection was dead.'));
  }
}

function keyOf({ pid, started }: Backend): string {
  return `${pid} ${started}`;
}

/** Bytes received on a connection: an answer that arrives slowly is an answer. */
function bytesOf(client: pg.PoolClient): number {
  const { stream } =
    (client as pg.PoolClient & { connection?: { stream?: { bytesRead?: number } } }).connection ?? {};
  return stream?.bytesRead ?? 0;
}
