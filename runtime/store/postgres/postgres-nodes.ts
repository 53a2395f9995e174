/** Queries and requests of this node about the other nodes on its database. */
import type pg from 'pg';
import type { LeaseDeadline } from '../../model/lease-deadline.ts';
import type { NodeListener, NodeStatus, SharedClock, StoreNodes } from '../../model/ports.ts';
import type { ChangeFeed } from './change-feed.ts';
import { unavailable } from './connection/connection.ts';
import { MAX_PERMIT_SECONDS } from './counter-folding.ts';
import type { Session } from './session.ts';
import type { WatchedStatements } from './statement-watch.ts';

/** A lease belongs to a session; it is over with it. */
const ACQUIRE = `WITH own AS (SELECT token FROM sessions WHERE token = $2 FOR KEY SHARE)
  INSERT INTO leases (name, session) SELECT $1, token FROM own
  ON CONFLICT (name) DO UPDATE SET session = EXCLUDED.session
    WHERE leases.session = EXCLUDED.session OR NOT EXISTS (SELECT FROM sessions WHERE token = leases.session)
  RETURNING session`;

const TAKE_PERMIT = `WITH now AS (SELECT clock_timestamp() AS at)
  INSERT INTO permits (name, since, used) SELECT $1, at, 1 FROM now
  ON CONFLICT (name) DO UPDATE SET
    since = CASE WHEN permits.since + make_interval(secs => $3) <= EXCLUDED.since
      THEN EXCLUDED.since ELSE permits.since END,
    used = CASE WHEN permits.since + make_interval(secs => $3) <= EXCLUDED.since
      THEN 1 ELSE LEAST(permits.used + 1, $2 + 1) END
  RETURNING used,
    ceil(extract(epoch FROM since + make_interval(secs => $3) - clock_timestamp()) * 1000)::float8 AS left`;

/** Most permits of a window: the statement adds one to it as an `integer`. */
const MAX_PERMITS = 2 ** 31 - 2;

export class PostgresNodes implements StoreNodes {
  readonly clock: SharedClock;
  readonly name: string;

  constructor(
    private readonly needs: {
      readonly statements: WatchedStatements;
      readonly session: Session;
      readonly feed: ChangeFeed;
      /** Clock of the database. */
      readonly clock: SharedClock;
      readonly name: string;
      readonly started: () => void;
    },
  ) {
    this.clock = needs.clock;
    this.name = needs.name;

    needs.session.attach({
      report: () => {
        const { sinceMs, tookMs } = needs.feed.lag;
        return { feedLagMs: Math.round(sinceMs), readMs: Math.round(tookMs * 100) / 100 };
      },
      position: () => needs.feed.position,
      adopted: () => needs.feed.listener?.adopted(),
      draining: () => needs.feed.listener?.draining?.(),
    });
  }

  get slot(): number {
    return this.needs.session.slot;
  }

  get deadline(): LeaseDeadline {
    return this.needs.session.deadline;
  }

  get count(): number {
    return this.needs.session.nodes;
  }

  follow(listener: NodeListener): void {
    this.needs.feed.follow(listener);
  }

  sync(): Promise<void> {
    return this.needs.feed.sync();
  }

  async countersInOrder(
    prefix: string,
    use: (counters: { readonly [name: string]: number }) => void,
  ): Promise<void> {
    await this.needs.feed.readCounters(prefix, use);
  }

  started(): void {
    this.needs.started();
  }

  async acquire(name: string): Promise<boolean> {
    const { session } = this.needs;
    const rows = await this.#repeatable<{ session: number }>('acquire', ACQUIRE, [name, session.token]);
    return rows.length > 0;
  }

  async release(name: string): Promise<void> {
    const { session } = this.needs;
    await this.#repeatable('release', 'DELETE FROM leases WHERE name = $1 AND session = $2', [
      name,
      session.token,
    ]);
  }

  async takePermit(name: string, permits: number, windowSeconds: number): Promise<number> {
    // Not repeated: each run takes one more.
    const [row] = await this.#rows(
      this.needs.statements.query<{ used: number; left: number }>({
        name: 'permit',
        text: TAKE_PERMIT,
        values: [name, Math.min(permits, MAX_PERMITS), Math.min(windowSeconds, MAX_PERMIT_SECONDS)],
      }),
    );
    return row === undefined || row.used <= permits ? 0 : Math.max(1, row.left);
  }

  async list(): Promise<readonly NodeStatus[]> {
    const { statements, session } = this.needs;
    try {
      return await readNodes(statements, session.token);
    } catch (error) {
      throw unavailable(error);
    }
  }

  async drain(name: string): Promise<boolean> {
    const rows = await this.#repeatable(
      'drain',
      'UPDATE sessions SET is_draining = true WHERE node = $1 RETURNING 1',
      [name],
    );
    return rows.length > 0;
  }

  #repeatable<R extends pg.QueryResultRow>(
    name: string,
    text: string,
    values: unknown[],
  ): Promise<readonly R[]> {
    return this.#rows(this.needs.statements.repeatable<R>({ name, text, values }));
  }

  async #rows<R extends pg.QueryResultRow>(result: Promise<pg.QueryResult<R>>): Promise<readonly R[]> {
    try {
      return (await result).rows;
    } catch (error) {
      throw unavailable(error);
    }
  }
}

/** Reads all nodes, in the order of their names. */
async function readNodes(statements: WatchedStatements, own: number): Promise<readonly NodeStatus[]> {
  const { rows } = await statements.repeatable<{
    node: string;
    token: number;
    opened: number;
    silent: number;
    lease: number;
    info: string;
    report: string;
    is_draining: boolean;
    leases: string[];
    effects: number;
  }>({
    name: 'nodes',
    text: `SELECT node, token, is_draining, info, report,
        (extract(epoch FROM opened_at) * 1000)::float8 AS opened,
        (extract(epoch FROM clock_timestamp() - seen_at) * 1000)::float8 AS silent,
        extract(epoch FROM lease)::float8 AS lease,
        ARRAY(SELECT name FROM leases WHERE session = token ORDER BY name) AS leases,
        (SELECT count(*) FROM effects WHERE effects.lease = token)::integer AS effects
      FROM sessions WHERE seen_at > '-infinity' ORDER BY node`,
  });
  return rows.map(({ node, token, opened, silent, lease, info, report, is_draining, leases, effects }) => ({
    name: node,
    session: token,
    isThis: token === own,
    openedAt: Math.round(opened),
    silentMs: Math.max(0, Math.round(silent)),
    leaseSeconds: lease,
    isDraining: is_draining,
    leases,
    effectsLeased: effects,
    info: JSON.parse(info),
    report: JSON.parse(report),
  }));
}
