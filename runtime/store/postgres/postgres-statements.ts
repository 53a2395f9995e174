/** The statements of `statements.ts` on PostgreSQL. */
import type pg from 'pg';
import type { Step } from '../../ports.ts';
import { readCounters } from './postgres-reads.ts';
import type {
  ChangePageQuery,
  ChangeRow,
  ChangeStatements,
  CommitStatements,
  SessionStatements,
} from './statements.ts';
import {
  COMMIT_STEPS,
  type CommitRow,
  changeText,
  commitParameters,
  type EncodedStep,
} from './steps-as-arrays.ts';

const OPEN = `INSERT INTO sessions (node, lease, info, slot)
  SELECT $1, make_interval(secs => $2), $3, min(slot) FROM generate_series(0, $4 - 1) AS slot
    WHERE slot NOT IN (SELECT slot FROM sessions)
  ON CONFLICT (node) DO NOTHING
  RETURNING token, slot, (SELECT count(*) + 1 FROM sessions WHERE seen_at > '-infinity')::integer AS nodes,
    (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`;

const HEARTBEAT = `UPDATE sessions SET seen_at = clock_timestamp(), report = $2, position = COALESCE($3::xid8, position)
  WHERE token = $1
  RETURNING is_draining, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
    (SELECT count(*) FROM sessions WHERE seen_at > '-infinity')::integer AS nodes`;

const TAKE_OVER = 'SELECT sessions_over, effects_taken FROM take_over($1, $2, $3)';

/** Marks the session as over; the next heartbeat of another node takes over what it owned. */
const END = `UPDATE sessions SET seen_at = '-infinity' WHERE token = $1`;

const READ = `SELECT pg_current_snapshot()::text AS snapshot, pg_snapshot_xmin(pg_current_snapshot())::text AS xmin,
    c.seq, c.session, c.steps
  FROM (SELECT 1) AS one LEFT JOIN LATERAL (
    SELECT seq, session, CASE WHEN session = $2 AND seq = ANY ($3::bigint[]) THEN NULL ELSE steps END AS steps
      FROM changes
      WHERE xid >= pg_snapshot_xmin($1::pg_snapshot) AND NOT pg_visible_in_snapshot(xid, $1::pg_snapshot)
        AND pg_visible_in_snapshot(xid, COALESCE($5::pg_snapshot, pg_current_snapshot())) AND seq > $4
      ORDER BY seq LIMIT $6
  ) AS c ON true ORDER BY c.seq`;

export function sessionStatements(pool: pg.Pool): SessionStatements {
  return {
    async begin({ node, leaseSeconds, info, maxNodes }) {
      const { rows } = await pool.query<{ token: number; slot: number; nodes: number; now: number }>(OPEN, [
        node,
        leaseSeconds,
        info,
        maxNodes,
      ]);
      return rows[0];
    },
    async heartbeat(token, report, position) {
      const { rows } = await pool.query<{ is_draining: boolean; now: number; nodes: number }>(HEARTBEAT, [
        token,
        report,
        position,
      ]);
      return rows[0];
    },
    async takeOver(token, silent, node) {
      const { rows } = await pool.query<{ sessions_over: number; effects_taken: number }>(TAKE_OVER, [
        token,
        silent,
        node,
      ]);
      return rows[0];
    },
    async end(token) {
      await pool.query(END, [token]);
    },
  };
}

export function commitStatements(pool: pg.Pool): CommitStatements {
  return {
    async commit(token, steps, isTold) {
      const { rows } = await pool.query<CommitRow>({
        name: 'commit-steps',
        text: COMMIT_STEPS,
        values: commitParameters(token, steps, isTold),
      });
      const [row] = rows;
      if (row === undefined) throw new Error('commit_steps returned nothing.');
      return row;
    },
    async stored(token, steps) {
      // Waits for the transaction, if it is still in progress.
      await pool.query('SELECT FROM sessions WHERE token = $1 FOR UPDATE', [token]);
      return readStored(pool, steps);
    },
  };
}

export function changeStatements(pool: pg.Pool): ChangeStatements {
  return {
    async open(session) {
      // Waits for commits in progress that may not have seen the new session.
      await pool.query('SELECT FROM sessions WHERE token <> $1 FOR UPDATE', [session]);
      const { rows } = await pool.query<{ snapshot: string; xmin: string }>(
        'SELECT pg_current_snapshot()::text AS snapshot, pg_snapshot_xmin(pg_current_snapshot())::text AS xmin',
      );
      return rows[0] ?? { snapshot: '', xmin: '' };
    },
    page: (query) => readPage(pool, query),
    async consistently(read) {
      const client = await pool.connect();
      try {
        await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
        await read({
          page: (query) => readPage(client, query),
          counters: (prefix) => readCounters(client, prefix),
        });
        await client.query('COMMIT');
        client.release();
      } catch (error) {
        client.release(true);
        throw error;
      }
    },
  };
}

async function readPage(
  client: pg.Pool | pg.PoolClient,
  { snapshot, session, own, after, target, limit }: ChangePageQuery,
): Promise<readonly ChangeRow[]> {
  const { rows } = await client.query<ChangeRow>({
    name: 'read-changes',
    text: READ,
    values: [snapshot, session, own, after, target, limit],
  });
  return rows;
}

/** Returns the steps that are stored and that no change reports. */
async function readStored(pool: pg.Pool, steps: readonly EncodedStep[]): Promise<readonly Step[]> {
  const keys = steps.map(({ columns }) => columns['key']?.[0]);
  const texts = steps.map(({ step }) => changeText(step));
  const { rows } = await pool.query<{ at: number; body: string | null; is_told: boolean }>(
    `SELECT at, body, EXISTS (SELECT FROM changes WHERE steps @> ARRAY[text]) AS is_told
      FROM unnest($1::bytea[], $2::text[]) WITH ORDINALITY AS asked (own, text, at) LEFT JOIN actors ON key = own
      ORDER BY at`,
    [keys, texts],
  );
  return rows.flatMap(({ at, body, is_told }) => {
    const stored = steps[at - 1];
    return stored !== undefined && body === stored.columns['body']?.[0] && !is_told ? [stored.step] : [];
  });
}
