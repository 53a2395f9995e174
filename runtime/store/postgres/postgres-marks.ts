/**
 * Named moments, and where rows may have changed since one of them. PostgreSQL writes each row that it changes anew, with the
 * number of the transaction (`xmin`), which stays when it is frozen; numbers of 32 bits are compared around the circle, so
 * that a very old row counts as changed. A row that was removed is found by the number of rows in its part of the keys.
 *
 * A mark counts while its own row is the one that its transaction wrote: a schema that was restored from a dump has its rows
 * from other transactions, and of a moment before the mark it has no such row. The table of marks is no part of the version
 * of the schema: nodes of earlier versions do not need it.
 *
 * Source: docs/decisions/0294-tables-kept-over-a-start.md.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Retryable } from '../../model/failures.ts';
import type { ActorStore, KeyRange, SnapshotKeys } from '../../model/ports.ts';
import { unavailable } from './connection/connection.ts';
import { encodeKey, endOfPrefix } from './key-bytes.ts';
import type { WatchedStatements } from './statement-watch.ts';

type Marks = NonNullable<ActorStore['marks']>;

const TABLE = `CREATE TABLE IF NOT EXISTS marks (
  name text PRIMARY KEY,
  since xid8 NOT NULL,
  own xid8 NOT NULL,
  has_ended boolean NOT NULL DEFAULT false
)`;

/** Transactions below `since` have ended. */
const BEGIN = `INSERT INTO marks (name, since, own)
  VALUES ($1, pg_snapshot_xmin(pg_current_snapshot()), pg_current_xact_id())
  ON CONFLICT (name) DO UPDATE SET since = EXCLUDED.since, own = EXCLUDED.own`;

/** Only for a session that is not over: afterwards, other nodes tell it of no steps, and what they wrote would count as kept. */
const END = `UPDATE marks SET has_ended = true, own = pg_current_xact_id()
  WHERE name = $1 AND EXISTS (SELECT FROM sessions WHERE token = $2 AND seen_at > '-infinity') RETURNING name`;

/** Marks of one kind: each node may keep files for its own. */
const MARKS_KEPT = 128;

const FORGET = `DELETE FROM marks WHERE starts_with(name, $1)
  AND name NOT IN (SELECT name FROM marks WHERE starts_with(name, $1) ORDER BY own DESC LIMIT ${MARKS_KEPT})`;

const SINCE = `SELECT since::text::bigint AS since FROM marks
  WHERE name = $1 AND has_ended AND own::text::bigint & 4294967295 = xmin::text::bigint
    AND pg_snapshot_xmax(pg_current_snapshot())::text::bigint - since::text::bigint BETWEEN 0 AND 2147483647`;

const CHANGED = `SELECT at::integer AS at
  FROM unnest($1::bytea[], $2::bytea[], $3::integer[]) WITH ORDINALITY AS part (first, behind, kept, at),
    LATERAL (
      SELECT count(*) AS stored, bool_or((xmin::text::bigint - $4::bigint) & 4294967295 < 2147483648) AS is_written
        FROM rows WHERE key >= first AND key < behind
    ) AS found
  WHERE stored <> kept OR is_written ORDER BY at`;

/** Parts of a statement, each with some dozens of rows. */
const PARTS_PER_STATEMENT = 512;

const UNDEFINED_TABLE = '42P01';

/**
 * @param session one since whose beginning steps are observed; another has another token
 * @param observed resolves when every step is observed that was committed before the call
 */
export function postgresMarks(
  statements: WatchedStatements,
  session: { readonly token: number },
  observed: () => Promise<void>,
): Marks {
  async function run<Found extends object>(
    text: string,
    values: readonly unknown[],
  ): Promise<readonly (Found & { [column: string]: unknown })[]> {
    try {
      return (
        await statements.repeatable<Found & { [column: string]: unknown }>({ text, values: [...values] })
      ).rows;
    } catch (error) {
      throw codeOf(error) === UNDEFINED_TABLE ? error : unavailable(error);
    }
  }
  /** Session in which each mark was begun. */
  const begun = new Map<string, number>();
  return {
    async begin(name) {
      begun.set(name, session.token);
      await run(TABLE, []);
      await run(BEGIN, [name]);
      await observed();
      // Who sent a step observes it in the turn of its answer.
      await nextTurn();
    },
    async end(name) {
      const [ended] = await run(END, [name, begun.get(name)]);
      if (ended === undefined)
        throw new Retryable('store.unavailable', 'The session of this node is over; what it keeps is old.');
      await run(FORGET, [name.slice(0, name.indexOf('/') + 1)]);
    },
    async changed(name, { view, prefix = [] }, kept) {
      const [mark] = await run<{ since: number }>(SINCE, [name]).catch((error: unknown) => {
        if (codeOf(error) === UNDEFINED_TABLE) return [];
        throw error;
      });
      if (mark === undefined) return undefined;
      const { starts, counts } = await kept();
      const all = encodeKey([view, ...prefix]);
      const firstOf = (part: number) => (part === 0 ? all : encodeKey([view, ...(starts[part] ?? [])]));
      const count = Math.max(1, starts.length);
      const ranges: KeyRange[] = [];
      for (let first = 0; first < count; first += PARTS_PER_STATEMENT) {
        const parts = Array.from(
          { length: Math.min(PARTS_PER_STATEMENT, count - first) },
          (_, at) => first + at,
        );
        const found = await run<{ at: number }>(CHANGED, [
          parts.map(firstOf),
          parts.map((part) => (part + 1 < count ? firstOf(part + 1) : endOfPrefix(all))),
          parts.map((part) => counts[part] ?? 0),
          mark.since,
        ]);
        for (const { at } of found) addPart(ranges, starts, first + at - 1);
      }
      return ranges;
    },
  };
}

/** Adds a part to ranges, or to the last one if it follows it. */
function addPart(ranges: KeyRange[], starts: SnapshotKeys['starts'], part: number): void {
  const start = starts[part];
  const to = starts[part + 1];
  const last = ranges.at(-1);
  const follows = part > 0 && last?.to === start;
  if (follows) ranges.pop();
  const from = follows ? last?.from : part === 0 ? undefined : start;
  ranges.push({ ...(from && { from }), ...(to && { to }) });
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code;
}
