/** The statements of `statements.ts` on PostgreSQL. */
import type pg from 'pg';
import type { Step } from '../../model/ports.ts';
import type { Backend } from './connection/pooler.ts';
import { readCounters } from './postgres-reads.ts';
import {
  DeadConnection,
  isRefusal,
  type Statements,
  type StatementWatch,
  type WatchedStatements,
} from './statement-watch.ts';
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

const OPEN = `INSERT INTO sessions (node, lease, info, slot, reads_packed, reads_blocks)
  SELECT $1, make_interval(secs => $2), $3, min(slot), true, true FROM generate_series(0, $4 - 1) AS slot
    WHERE slot NOT IN (SELECT slot FROM sessions)
  ON CONFLICT (node) DO NOTHING
  RETURNING token, slot, (SELECT count(*) + 1 FROM sessions WHERE seen_at > '-infinity')::integer AS nodes,
    (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`;

const HEARTBEAT = `UPDATE sessions SET seen_at = clock_timestamp(), report = $2, position = COALESCE($3::xid8, position)
  WHERE token = $1
  RETURNING is_draining, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
    (SELECT count(*) FROM sessions WHERE seen_at > '-infinity')::integer AS nodes`;

const TAKE_OVER = `SELECT sessions_over, effects_taken
  FROM take_over($1, clock_timestamp() < to_timestamp($2::float8 / 1000), $3)`;

/** Marks the session as over; the next heartbeat of another node takes over what it owned. */
const END = `UPDATE sessions SET seen_at = '-infinity' WHERE token = $1`;

const READ = `SELECT pg_current_snapshot()::text AS snapshot, pg_snapshot_xmin(pg_current_snapshot())::text AS xmin,
    c.seq, c.session, c.steps
  FROM (SELECT 1) AS one LEFT JOIN LATERAL (
    SELECT seq, session, CASE WHEN session = $2 AND seq = ANY ($3::bigint[]) THEN NULL
        ELSE array_to_string(steps, E'\\n') END AS steps
      FROM changes
      WHERE xid >= pg_snapshot_xmin($1::pg_snapshot) AND NOT pg_visible_in_snapshot(xid, $1::pg_snapshot)
        AND pg_visible_in_snapshot(xid, COALESCE($5::pg_snapshot, pg_current_snapshot())) AND seq > $4
      ORDER BY seq LIMIT $6
  ) AS c ON true ORDER BY c.seq`;

/** Statements that commit one group at most. */
const COMMIT_ATTEMPTS = 3;

export function sessionStatements(statements: WatchedStatements): SessionStatements {
  return {
    async begin({ node, leaseSeconds, info, maxNodes }) {
      const { rows } = await statements.query<{ token: number; slot: number; nodes: number; now: number }>({
        text: OPEN,
        values: [node, leaseSeconds, info, maxNodes],
      });
      return rows[0];
    },
    async heartbeat(token, report, position) {
      const { rows } = await statements.repeatable<{ is_draining: boolean; now: number; nodes: number }>({
        text: HEARTBEAT,
        values: [token, report, position],
      });
      return rows[0];
    },
    async takeOver(token, silentUntil, node) {
      const { rows } = await statements.query<{ sessions_over: number; effects_taken: number }>({
        text: TAKE_OVER,
        values: [token, silentUntil, node],
      });
      return rows[0];
    },
    async end(token) {
      await statements.repeatable({ text: END, values: [token] });
    },
  };
}

export function commitStatements(pool: pg.Pool, watch: StatementWatch): CommitStatements {
  const statements = watch.on(pool);
  /** The backend of a commit without an answer; it may still be at work. Other statements use that of an answered one. */
  let lost: Backend | undefined;
  return {
    async commit(token, steps, isReported) {
      for (let attempt = 1; ; attempt++) {
        try {
          const { rows } = await statements.observed<CommitRow>(
            { name: 'commit-steps', text: COMMIT_STEPS, values: commitParameters(token, steps, isReported) },
            (backend) => {
              lost = backend;
            },
          );
          lost = undefined;
          const [row] = rows;
          if (row === undefined) throw new Error('commit_steps returned nothing.');
          return row;
        } catch (error) {
          if (isRefusal(error)) lost = undefined;
          if (!(error instanceof DeadConnection)) throw error;
          const found = await findCommit(statements, token, steps);
          if (typeof found === 'object') return found;
          if (found === 'uncertain' || attempt >= COMMIT_ATTEMPTS) throw error;
        }
      }
    },
    async stored(token, steps) {
      // A commit under way could end after the read.
      if (lost !== undefined) await watch.end(lost);
      lost = undefined;
      // Waits for commits of the session that another client of the server may hold.
      await statements.repeatable({
        text: 'SELECT FROM sessions WHERE token = $1 FOR UPDATE',
        values: [token],
      });
      return readStored(statements, steps);
    },
  };
}

export function changeStatements(pool: pg.Pool, watch: StatementWatch): ChangeStatements {
  const statements = watch.on(pool);
  const repeatable = { query: statements.repeatable };
  return {
    async open(session) {
      // Waits for commits in progress that may not have seen the new session.
      const text = 'SELECT FROM sessions WHERE token <> $1 FOR UPDATE';
      await statements.repeatable({ text, values: [session] });
      const { rows } = await statements.repeatable<{ snapshot: string; xmin: string }>({
        text: 'SELECT pg_current_snapshot()::text AS snapshot, pg_snapshot_xmin(pg_current_snapshot())::text AS xmin',
      });
      return rows[0] ?? { snapshot: '', xmin: '' };
    },
    page: (query) => readPage(repeatable, query),
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
  client: Statements,
  { snapshot, session, own, after, target, limit }: ChangePageQuery,
): Promise<readonly ChangeRow[]> {
  const { rows } = await client.query<Omit<ChangeRow, 'steps'> & { readonly steps: string | null }>({
    name: 'read-changes',
    text: READ,
    values: [snapshot, session, own, after, target, limit],
  });
  return rows.map((row) => ({ ...row, steps: row.steps?.split('\n') ?? null }));
}

/** Returns the steps that are stored and that no change reports. */
async function readStored(
  statements: WatchedStatements,
  steps: readonly EncodedStep[],
): Promise<readonly Step[]> {
  const { rows } = await statements.repeatable<{ at: number; body: string | null; is_told: boolean }>({
    text: `SELECT at, body, EXISTS (SELECT FROM changes WHERE steps @> ARRAY[text]) AS is_told
      FROM unnest($1::bytea[], $2::text[]) WITH ORDINALITY AS asked (own, text, at) LEFT JOIN actors ON key = own
      ORDER BY at`,
    values: [steps.map(keyOf), steps.map(changeText)],
  });
  return rows.flatMap(({ at, body, is_told }) => {
    const stored = steps[at - 1];
    return stored !== undefined && body === stored.columns['body']?.[0] && !is_told ? [stored.step] : [];
  });
}

/**
 * Finds what became of a commit whose transaction is over and whose answer was lost: the answer if every step is
 * stored, `nothing` if none is, otherwise `uncertain`. The change of a commit of this session is kept until the commit
 * is answered. Actors that another node has changed or ended since then count as uncertain.
 */
async function findCommit(
  statements: WatchedStatements,
  token: number,
  steps: readonly EncodedStep[],
): Promise<CommitRow | 'nothing' | 'uncertain'> {
  const { rows } = await statements.repeatable<{
    at: number;
    revision: number | null;
    body: string | null;
    change: number | null;
  }>({
    text: `SELECT at, abs(revision) AS revision, body,
        (SELECT seq FROM changes WHERE session = $3 AND steps @> ARRAY[text] LIMIT 1) AS change
      FROM unnest($1::bytea[], $2::text[]) WITH ORDINALITY AS asked (own, text, at) LEFT JOIN actors ON key = own
      ORDER BY at`,
    values: [steps.map(keyOf), steps.map(changeText), token],
  });
  const found = rows.map(({ at, revision, body, change }) => {
    const { step, columns } = steps[at - 1] as EncodedStep;
    if (change !== null) return 'told';
    if (!step.ends && body === columns['body']?.[0]) return 'stored';
    const isNew = step.basedOn === 0 && !step.ends;
    return (revision === null ? isNew : revision <= step.basedOn) ? 'nothing' : 'uncertain';
  });
  if (found.every((one) => one === 'nothing')) return 'nothing';
  const isWhole = found.every((one) => one === 'told') || found.every((one) => one === 'stored');
  if (!isWhole) return 'uncertain';
  return {
    outcomes: steps.map(() => 'ok' as const),
    taken_names: steps.map(() => null),
    holders: steps.map(() => null),
    change: rows[0]?.change ?? null,
  };
}

function keyOf({ columns }: EncodedStep): unknown {
  return columns['key']?.[0];
}
