/**
 * A store on PostgreSQL as the source or the target of a copy. While it is open, a transaction locks the table of
 * sessions, so that no node starts, and reads of a source see one snapshot.
 */
import type pg from 'pg';
import { Fatal } from '../../model/failures.ts';
import type { Clock } from '../../model/ports.ts';
import {
  BATCH_LENGTH,
  BATCH_SIZE,
  COPIED_TABLES,
  type CopiedEffect,
  type CopiedTable,
  type CopyMarker,
  type CopySide,
  effectText,
  type RecordKey,
  type StoreRecord,
} from '../copy/copy-side.ts';
import { COUNT_IN_BLOCK, inBlocks, rowsOfBlock } from '../packed/row-blocks.ts';
import {
  describeLocation,
  openPool,
  type PostgresOptions,
  schemaName,
  unavailable,
} from './connection/connection.ts';
import { decodeKey, encodeKey } from './key-bytes.ts';
import { assertNotLocked, migrateSchema } from './migrate-schema.ts';
import { type ActorRow, actorText, packedLines } from './postgres-packed.ts';
import type { EffectBody } from './steps-as-arrays.ts';

/** The tables of a store on PostgreSQL as the records of a copy. */
interface CopyTable {
  /** Table, or a query in parentheses. */
  readonly from: string;
  /** In place of `from`, the records of one batch, behind the position ($1, $2) if there is one. */
  readonly batch?: (hasPosition: boolean) => string;
  readonly columns: string;
  /** Columns whose order is the order of keys. */
  readonly order: string;
  /** The long column. */
  readonly text: string;
  /** Values of the columns `order`. */
  readonly position: (key: RecordKey) => unknown[];
  readonly records: (row: pg.QueryResultRow) => readonly StoreRecord[];
  readonly insert: string;
  /** Parameters of `insert`: an array for each column. */
  readonly values: (records: readonly StoreRecord[]) => unknown[][];
}

const keyed = { order: 'key', position: (key: RecordKey) => [encodeKey(key)] };
const named = { order: 'name', position: ([name]: RecordKey) => [Buffer.from(String(name))] };

const keysOf = (records: readonly StoreRecord[]) => records.map(({ key }) => encodeKey(key));
const namesOf = (records: readonly StoreRecord[]) => records.map(({ key }) => Buffer.from(String(key[0])));
const valuesOf = (records: readonly StoreRecord[]) => records.map(({ value }) => value);
const addressOf = ([kind, id]: RecordKey) => ({ kind: String(kind), id: String(id) });

export const COPY_TABLES: { readonly [table in CopiedTable]: CopyTable } = {
  actors: {
    ...keyed,
    from: 'actors',
    columns: 'key, body, packed',
    text: 'body',
    records: (row) => [{ key: decodeKey(row['key']), value: actorText(row as ActorRow) }],
    insert:
      'INSERT INTO actors (key, revision, body) SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::text[])',
    values: (records) => [
      keysOf(records),
      records.map(({ value }) => (JSON.parse(value) as { readonly revision: number }).revision),
      valuesOf(records),
    ],
  },
  journal: {
    // A packed actor is one row, behind all of its lines.
    from: `(SELECT actor, id, line, NULL::bytea AS packed FROM journal
        UNION ALL SELECT key, ${Number.MAX_SAFE_INTEGER}, body, packed FROM actors WHERE packed IS NOT NULL) AS every`,
    // Each side has its own limit: one sorted union would read all actors for each batch. Packed actors behind the last of
    // many lines belong to a later batch.
    batch: (hasPosition) => `(WITH lines AS (
          SELECT actor, id, line FROM journal${hasPosition ? ' WHERE (actor, id) > ($1, $2)' : ''}
          ORDER BY actor, id LIMIT ${BATCH_SIZE}
        )
        SELECT actor, id, line, NULL::bytea AS packed FROM lines
        UNION ALL SELECT * FROM (
          SELECT key, ${Number.MAX_SAFE_INTEGER}, body, packed FROM actors
          WHERE packed IS NOT NULL${hasPosition ? ' AND key >= $1' : ''}
            AND key <= CASE WHEN (SELECT count(*) FROM lines) < ${BATCH_SIZE} THEN '\\xff'::bytea
              ELSE (SELECT actor FROM lines ORDER BY actor DESC LIMIT 1) END
          ORDER BY key LIMIT ${BATCH_SIZE}
        ) AS ended) AS every`,
    columns: 'actor, id, line, packed',
    order: 'actor, id',
    text: 'line',
    position: ([kind, id, line]) => [encodeKey([kind ?? '', id ?? '']), line],
    records: ({ actor, id, line, packed }) => {
      const address = decodeKey(actor);
      if (packed === null) return [{ key: [...address, id], value: line }];
      return packedLines(actor, packed).map(({ line: { id: number }, text }) => ({
        key: [...address, number],
        value: text,
      }));
    },
    insert:
      'INSERT INTO journal (actor, id, line) SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::text[])',
    values: (records) => [
      records.map(({ key }) => encodeKey(key.slice(0, 2))),
      records.map(({ key }) => key[2]),
      valuesOf(records),
    ],
  },
  rows: {
    ...keyed,
    from: 'rows',
    columns: 'key, value',
    text: 'value',
    records: ({ key, value }) => rowsOfBlock(decodeKey(key), value),
    insert: 'INSERT INTO rows (key, value) SELECT * FROM unnest($1::bytea[], $2::text[])',
    values: (records) => {
      const stored = inBlocks(records);
      return [keysOf(stored), valuesOf(stored)];
    },
  },
  names: {
    ...named,
    from: 'names',
    columns: 'name, holder',
    text: 'holder',
    records: ({ name, holder }) => [
      { key: [name.toString()], value: JSON.stringify(addressOf(decodeKey(holder))) },
    ],
    insert: 'INSERT INTO names (name, holder) SELECT * FROM unnest($1::bytea[], $2::bytea[])',
    values: (records) => [
      namesOf(records),
      records.map(({ value }) => {
        const { kind, id } = JSON.parse(value) as { readonly kind: string; readonly id: string };
        return encodeKey([kind, id]);
      }),
    ],
  },
  counters: {
    ...named,
    from: `(SELECT name, sum(value)::bigint::text AS value FROM (
        SELECT name, value FROM counters UNION ALL SELECT name, delta FROM counter_deltas
      ) AS every GROUP BY name HAVING sum(value) <> 0) AS counted`,
    columns: 'name, value',
    text: 'value',
    records: ({ name, value }) => [{ key: [name.toString()], value }],
    insert: 'INSERT INTO counters (name, value) SELECT * FROM unnest($1::bytea[], $2::bigint[])',
    values: (records) => [namesOf(records), valuesOf(records)],
  },
  effects: {
    ...keyed,
    from: 'effects',
    columns: 'key, queue, due, failures, last_error, body',
    text: 'body',
    records: ({ key, queue, due, failures, last_error, body }) => [
      {
        key: decodeKey(key),
        value: effectText({
          dueAt: due,
          lane: queue?.toString(),
          failures,
          lastError: last_error === null ? null : JSON.parse(last_error),
          effect: (JSON.parse(body) as EffectBody).effect,
        }),
      },
    ],
    insert: `INSERT INTO effects (key, queue, due, failures, last_error, body)
      SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bigint[], $4::integer[], $5::text[], $6::text[])`,
    values: (records) => {
      const effects = records.map(({ value }) => JSON.parse(value) as CopiedEffect);
      return [
        keysOf(records),
        effects.map(({ lane }) => (lane === undefined ? null : Buffer.from(lane))),
        effects.map(({ dueAt }) => dueAt),
        effects.map(({ failures }) => failures),
        effects.map(({ lastError }) => (lastError === null ? null : JSON.stringify(lastError))),
        records.map(({ key }, at) =>
          JSON.stringify({
            key: key.join('/'),
            actor: addressOf(key),
            effect: effects[at]?.effect,
          } satisfies EffectBody),
        ),
      ];
    },
  },
  timers: {
    ...keyed,
    from: 'timers',
    columns: 'key, body',
    text: 'body',
    records: ({ key, body }) => [
      {
        key: decodeKey(key),
        value: JSON.stringify((JSON.parse(body) as { readonly event: unknown }).event),
      },
    ],
    insert: 'INSERT INTO timers (key, due, body) SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::text[])',
    values: (records) => [
      keysOf(records),
      records.map(({ key }) => key[0]),
      records.map(({ key, value }) =>
        JSON.stringify({ actor: addressOf(key.slice(1)), name: key[3], event: JSON.parse(value) }),
      ),
    ],
  },
};

const COUNT_ROWS = `SELECT COALESCE(sum(${COUNT_IN_BLOCK}), 0)::bigint AS count FROM rows`;

const COUNT_LINES = `SELECT (SELECT count(*) FROM journal)
    + COALESCE((SELECT sum(split_part(body, ' ', 1)::bigint) FROM actors WHERE packed IS NOT NULL), 0) AS count`;

/** Statement timeout of a copy, milliseconds: its statements count and lock whole tables. */
const STATEMENT_TIMEOUT_MS = 600_000;

const LIVING = `SELECT node, seen_at::text AS seen, (seen_at + lease > clock_timestamp()) AS is_living,
    (extract(epoch FROM lease) * 1000)::float8 AS lease_ms
  FROM sessions WHERE seen_at > '-infinity' ORDER BY node`;

interface SessionRow {
  readonly node: string;
  readonly seen: string;
  readonly is_living: boolean;
  readonly lease_ms: number;
}

/**
 * Opens a store for a copy. Throws `store.locked` while a node or another copy runs on it; `store.missing` for a source
 * that is none; `store.copy-incomplete` for a source that is an unfinished copy; `store.too-new`, `store.unavailable`.
 */
export async function openPostgresCopy(
  options: PostgresOptions,
  role: 'source' | 'target',
  clock: Clock,
): Promise<CopySide> {
  const settings = { ...options, poolSize: 2, statementTimeoutMs: STATEMENT_TIMEOUT_MS };
  const schema = schemaName(options);
  const location = `PostgreSQL at ${describeLocation(options)}`;
  const pool = openPool(settings, () => {});
  try {
    if (role === 'source') {
      const found = await pool.query<{ has_store: boolean }>(
        'SELECT to_regclass($1) IS NOT NULL AS has_store',
        [`${schema}.schema_version`],
      );
      if (found.rows[0]?.has_store !== true)
        throw new Fatal('store.missing', `There is no store in ${location}.`);
    }
    await migrateSchema(pool, schema, { isCopy: role === 'target' });
    await assertNotLocked(pool, schema);
    const guard = await lockOutNodes(pool, location, clock);
    return new PostgresCopy(pool, guard, location, schema);
  } catch (error) {
    await pool.end();
    throw error instanceof Fatal ? error : unavailable(error);
  }
}

/**
 * Begins the transaction that keeps nodes out. A node that was silent for its lease is over only if it stays silent for
 * a whole lease more: the database may have been away.
 */
async function lockOutNodes(pool: pg.Pool, location: string, clock: Clock): Promise<pg.PoolClient> {
  const before = (await pool.query<SessionRow>(LIVING)).rows;
  refuseLiving(before, location);
  if (before.length > 0) {
    await clock.sleep(Math.max(...before.map(({ lease_ms }) => lease_ms)));
    const after = (await pool.query<SessionRow>(LIVING)).rows;
    refuseLiving(after, location);
  }
  // Ends sessions whose lease is over; a process that wakes up then commits nothing.
  await pool.query(`SELECT take_over(0, true, '')`);
  const guard = await pool.connect();
  try {
    await guard.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await guard.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    // Commits, starts and heartbeats of nodes wait for it.
    await guard.query('LOCK TABLE sessions IN EXCLUSIVE MODE');
    refuseLiving((await guard.query<SessionRow>(LIVING)).rows, location);
    return guard;
  } catch (error) {
    guard.release(true);
    throw error;
  }
}

function refuseLiving(sessions: readonly SessionRow[], location: string): void {
  const living = sessions.filter(({ is_living }) => is_living).map(({ node }) => `"${node}"`);
  if (living.length > 0) {
    throw new Fatal(
      'store.locked',
      `The service runs on ${location}: ${living.join(', ')}. Stop these nodes first.`,
    );
  }
}

class PostgresCopy implements CopySide {
  readonly location: string;
  readonly howToEmpty: string;
  readonly #pool: pg.Pool;
  readonly #guard: pg.PoolClient;
  #isTarget = false;

  constructor(pool: pg.Pool, guard: pg.PoolClient, location: string, schema: string) {
    this.#pool = pool;
    this.#guard = guard;
    this.location = location;
    this.howToEmpty = `DROP SCHEMA ${schema} CASCADE`;
  }

  async count(table: CopiedTable): Promise<number> {
    const { from } = COPY_TABLES[table];
    const counted: { readonly [table: string]: string } = { journal: COUNT_LINES, rows: COUNT_ROWS };
    const text = counted[table] ?? `SELECT count(*) AS count FROM ${from}`;
    const [row] = await this.#read<{ count: number }>(text, []);
    return row?.count ?? 0;
  }

  async read(table: CopiedTable, after: RecordKey | undefined): Promise<readonly StoreRecord[]> {
    const copied = COPY_TABLES[table];
    const { order, columns, text } = copied;
    const range =
      copied.batch?.(after !== undefined) ??
      copied.from + (after === undefined ? '' : ` WHERE ${afterKey(copied)}`);
    // The sum ends a batch of long texts before they are in memory.
    const rows = await this.#read<pg.QueryResultRow>(
      `SELECT * FROM (
          SELECT *, sum(octet_length(${text})) OVER (ORDER BY ${order}) - octet_length(${text}) AS before FROM (
            SELECT ${columns} FROM ${range} ORDER BY ${order} LIMIT ${BATCH_SIZE}
          ) AS batch
        ) AS summed WHERE before < ${BATCH_LENGTH} ORDER BY ${order}`,
      after === undefined ? [] : copied.position(after),
    );
    const records = rows.flatMap(copied.records);
    if (after === undefined) return records;
    // A batch ended inside of a block, or of a packed actor.
    if (table === 'rows') return records.filter(({ key }) => encodeKey(key).compare(encodeKey(after)) > 0);
    if (table !== 'journal') return records;
    const [kind, id, line = 0] = after;
    return records.filter(({ key }) => key[0] !== kind || key[1] !== id || Number(key[2]) > Number(line));
  }

  async lastKey(table: CopiedTable): Promise<RecordKey | undefined> {
    const { from, order, columns, records } = COPY_TABLES[table];
    const last = order
      .split(', ')
      .map((column) => `${column} DESC`)
      .join(', ');
    const [row] = await this.#read<pg.QueryResultRow>(
      `SELECT ${columns} FROM ${from} ORDER BY ${last} LIMIT 1`,
      [],
    );
    return row && records(row).at(-1)?.key;
  }

  async marker(): Promise<CopyMarker | undefined> {
    const [there] = await this.#query<{ has_marker: boolean }>(
      this.#pool,
      `SELECT to_regclass('copy_in_progress') IS NOT NULL AS has_marker`,
    );
    if (there?.has_marker !== true) return undefined;
    const [marker] = await this.#query<CopyMarker>(this.#pool, 'SELECT source, digest FROM copy_in_progress');
    if (marker !== undefined) this.#isTarget = true;
    return marker;
  }

  async begin({ source, digest }: CopyMarker): Promise<void> {
    this.#isTarget = true;
    await this.#run(
      // It may exist, empty: a copy that was killed between this statement and the next one left it.
      `CREATE TABLE IF NOT EXISTS copy_in_progress (
        only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row), source text NOT NULL, digest text NOT NULL
      )`,
    );
    await this.#run('INSERT INTO copy_in_progress (source, digest) VALUES ($1, $2)', [source, digest]);
  }

  async write(table: CopiedTable, records: readonly StoreRecord[]): Promise<void> {
    const { insert, values } = COPY_TABLES[table];
    await this.#run(insert, values(records));
  }

  async finish(): Promise<void> {
    // Fails if the connection that keeps nodes out was lost meanwhile.
    await this.#query(this.#guard, 'SELECT 1');
    // Not all tables: the one of sessions is locked.
    await this.#run(`ANALYZE ${COPIED_TABLES.join(', ')}`);
    await this.#run('DROP TABLE copy_in_progress');
  }

  async close(): Promise<void> {
    this.#guard.release(true);
    await this.#pool.end();
  }

  async #run(text: string, values: readonly unknown[] = []): Promise<void> {
    await this.#query(this.#pool, text, values);
  }

  /** A source is read in the transaction of the lock, a target as it was written last. */
  #read<R extends pg.QueryResultRow>(text: string, values: readonly unknown[]): Promise<readonly R[]> {
    return this.#query<R>(this.#isTarget ? this.#pool : this.#guard, text, values);
  }

  /** Rejects with `store.unavailable`. */
  async #query<R extends pg.QueryResultRow>(
    client: pg.Pool | pg.PoolClient,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<readonly R[]> {
    try {
      return (await client.query<R>({ text, values: [...values] })).rows;
    } catch (error) {
      throw unavailable(error);
    }
  }
}

function afterKey({ order }: CopyTable): string {
  return order.includes(',') ? `(${order}) > ($1, $2)` : `${order} > $1`;
}
