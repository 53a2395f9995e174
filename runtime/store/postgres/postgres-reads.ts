/** Reads of a store on PostgreSQL that need no session. */

import { systemClock } from '../../model/clock.ts';
import { parseEffectKey } from '../../model/keys.ts';
import type {
  ActorAddress,
  AfterQuery,
  Clock,
  EffectKey,
  HeldName,
  JournalLine,
  Json,
  ListedEffect,
  Row,
  RowQuery,
  StoredActor,
  StoredEffect,
  StoredTimer,
} from '../../model/ports.ts';
import { SCHEMA_VERSION } from '../../model/store-formats.ts';
import { BLOCK_ROWS, BLOCKED_VIEW, rowsOfBlock } from '../packed/row-blocks.ts';
import { unavailable } from './connection/connection.ts';
import { decodeKey, encodeKey, endOfPrefix } from './key-bytes.ts';
import { type ActorRow, actorOf, addressOf, packedLines, parsed } from './postgres-packed.ts';
import type { PreparedStatements } from './prepared-statements.ts';
import { PACKED_SINCE } from './schema.ts';
import type { Statements } from './statement-watch.ts';
import { actorKey, type EffectBody } from './steps-as-arrays.ts';

/** Maximum actors of one statement. */
const BATCH_SIZE = 128;

/** Milliseconds after which a statement counts as late. */
const LATE_MS = 1000;

/** Statements in progress at most, late ones included. */
const MAX_STATEMENTS = 3;

/** Statements that ask for one actor at most. */
const ATTEMPTS = 2;

interface WaitingLoad {
  readonly key: Buffer;
  readonly resolve: (actor: StoredActor | undefined) => void;
  readonly reject: (error: unknown) => void;
  /** Statements that have asked for it. */
  attempts: number;
  /** Statements that may still answer, and places in the queue. */
  open: number;
  isAnswered: boolean;
}

/** Reads the bodies of actors by their keys, in any order. */
type ReadActors = (keys: readonly Buffer[]) => Promise<readonly ActorRow[]>;

/**
 * Loads of actors that share statements: while one statement is in progress, the next loads are collected, so that
 * concurrent steps of a node share round trips. A statement that is not answered soon may have lost its connection
 * without a sign: its loads are asked once more on another connection, and others no longer wait for it.
 */
class ActorLoads {
  readonly #read: ReadActors;
  readonly #clock: Pick<Clock, 'after'>;
  #waiting: WaitingLoad[] = [];
  /** Statements in progress, and those of them that are not late. */
  #statements = 0;
  #punctual = 0;
  #isArmed = false;

  constructor(read: ReadActors, clock: Pick<Clock, 'after'> = systemClock) {
    this.#read = read;
    this.#clock = clock;
  }

  /** Resolves with the actor as of a moment after the call. Rejects as `read` does. */
  load(address: ActorAddress): Promise<StoredActor | undefined> {
    return new Promise((resolve, reject) => {
      const key = actorKey(address);
      this.#waiting.push({ key, resolve, reject, attempts: 0, open: 1, isAnswered: false });
      this.#arm();
    });
  }

  /** Loads of the same turn share a statement. */
  #arm(): void {
    if (this.#isArmed || this.#waiting.length === 0) return;
    if (this.#punctual > 0 || this.#statements >= MAX_STATEMENTS) return;
    this.#isArmed = true;
    queueMicrotask(() => {
      this.#isArmed = false;
      void this.#next(this.#waiting.splice(0, BATCH_SIZE));
    });
  }

  /** Never rejects. */
  async #next(batch: readonly WaitingLoad[]): Promise<void> {
    const asked = batch.filter(({ isAnswered }) => !isAnswered);
    if (asked.length === 0) {
      this.#arm();
      return;
    }
    for (const load of asked) load.attempts += 1;
    this.#statements += 1;
    this.#punctual += 1;
    let isLate = false;
    const cancel = this.#clock.after(LATE_MS, () => {
      isLate = true;
      this.#punctual -= 1;
      this.#askAgain(asked);
      this.#arm();
    });
    try {
      const rows = await this.#read(asked.map(({ key }) => key));
      const found = new Map(rows.map((row) => [row.key.toString('latin1'), row]));
      for (const load of asked) {
        if (load.isAnswered) continue;
        load.isAnswered = true;
        const row = found.get(load.key.toString('latin1'));
        try {
          load.resolve(row && actorOf(row));
        } catch (error) {
          load.reject(error);
        }
      }
    } catch (error) {
      for (const load of asked) {
        load.open -= 1;
        // Another statement may still answer.
        if (load.open === 0 && !load.isAnswered) load.reject(error);
      }
    } finally {
      cancel();
      this.#statements -= 1;
      if (!isLate) this.#punctual -= 1;
      this.#arm();
    }
  }

  #askAgain(loads: readonly WaitingLoad[]): void {
    for (const load of loads) {
      if (load.isAnswered || load.attempts >= ATTEMPTS) continue;
      load.open += 1;
      this.#waiting.push(load);
    }
  }
}

export const EFFECT_COLUMNS = 'queue, due, failures, last_error, body, is_taken_over';

/** No key begins with this byte. */
const AFTER_ALL_KEYS = Buffer.from([0xff]);

/** Lines of an actor, or the one value that has them. The limit stands inside: outside, all lines would be read and sorted. */
const journalText = (column: string) => `SELECT line, packed FROM (
    (SELECT id, line, NULL::bytea AS packed FROM journal WHERE actor = $1 AND id > $2 ORDER BY id LIMIT $3)
    UNION ALL SELECT 0, NULL, ${column} FROM actors WHERE key = $1 AND revision < 0
  ) AS every ORDER BY id`;

export interface TimerRow {
  readonly due: number;
  readonly body: string;
}

export function timerOf({ due, body }: TimerRow): StoredTimer {
  const { actor, name, event } = JSON.parse(body) as Omit<StoredTimer, 'due'>;
  return { actor, name, due, event };
}

export interface EffectRow {
  readonly queue: Buffer | null;
  readonly due: number;
  readonly failures: number;
  readonly last_error: string | null;
  readonly body: string;
  readonly is_taken_over: boolean;
}

export class PostgresReads {
  readonly #statements: PreparedStatements;
  readonly #packed: string;
  readonly #loads = new ActorLoads((keys) =>
    this.#statements.read<ActorRow>(
      'load',
      `SELECT key, body, ${this.#packed} FROM actors WHERE key = ANY ($1)`,
      [keys],
    ),
  );

  /** @param version of the schema, which a reader does not upgrade. @default that of this program */
  constructor(statements: PreparedStatements, version = SCHEMA_VERSION) {
    this.#statements = statements;
    // A node may add the column, and pack, while a reader reads.
    this.#packed = version < PACKED_SINCE ? "(to_jsonb(actors) ->> 'packed')::bytea AS packed" : 'packed';
  }

  load(actor: ActorAddress): Promise<StoredActor | undefined> {
    return this.#loads.load(actor);
  }

  async actors(query: AfterQuery & { readonly kind: string }): Promise<readonly StoredActor[]> {
    const { kind, after, limit } = query;
    const prefix = encodeKey([kind]);
    const rows = await this.#statements.read<ActorRow>(
      'actors',
      `SELECT key, body, ${this.#packed} FROM actors WHERE key > $1 AND key < $2 ORDER BY key LIMIT $3`,
      [after === undefined ? prefix : encodeKey([kind, after]), endOfPrefix(prefix), limit],
    );
    return rows.map(actorOf);
  }

  async journal(
    actor: ActorAddress,
    options: { readonly after?: number; readonly limit?: number } = {},
  ): Promise<readonly JournalLine[]> {
    const { after = 0, limit } = options;
    const key = actorKey(actor);
    const rows = await this.#statements.read<{ line: string; packed: Buffer | null }>(
      'journal',
      journalText(this.#packed),
      [key, after, limit ?? null],
    );
    const [{ packed } = { packed: null }] = rows;
    if (packed === null) return rows.map(({ line }) => parsed<JournalLine>(line));
    const lines = packedLines(key, packed).map(({ line }) => line);
    return lines.filter(({ id }) => id > after).slice(0, limit);
  }

  async rows(query: RowQuery): Promise<readonly Row[]> {
    const { view, prefix = [], after, reverse = false, offset = 0, limit } = query;
    const start = encodeKey([view, ...prefix]);
    const from = after === undefined || reverse ? start : encodeKey([view, ...after]);
    const to = after === undefined || !reverse ? endOfPrefix(start) : encodeKey([view, ...after]);
    // A key equal to the prefix belongs to the range unless the cursor is after it.
    const lower = after !== undefined && !reverse ? '>' : '>=';
    if (view === BLOCKED_VIEW) return this.#blockedRows(query, { from, to, lower });
    const rows = await this.#statements.read<{ key: Buffer; value: string }>(
      `rows${lower}${reverse}`,
      `SELECT key, value FROM rows WHERE key ${lower} $1 AND key < $2
        ORDER BY key ${reverse ? 'DESC' : 'ASC'} OFFSET $3 LIMIT $4`,
      [from, to, offset, limit],
    );
    return rows.map(({ key, value }) => ({ view, key: decodeKey(key).slice(1), value: parsed<Json>(value) }));
  }

  /**
   * A block has the key of its last row: the first one may begin before the range, and the one behind the range in it.
   * Nobody asks for the reverse order, which reads the whole range.
   */
  async #blockedRows(
    { view, reverse = false, offset = 0, limit }: RowQuery,
    { from, to, lower }: { readonly from: Buffer; readonly to: Buffer; readonly lower: string },
  ): Promise<readonly Row[]> {
    const found: Row[] = [];
    const wanted = reverse ? Number.MAX_SAFE_INTEGER : offset + limit;
    let position = from;
    let isBehind = lower === '>';
    let most = Math.min(wanted, Math.ceil(wanted / BLOCK_ROWS) + 1);
    for (;;) {
      const rows: readonly { readonly key: Buffer; readonly value: string }[] = await this.#statements.read(
        `blocks${isBehind}`,
        `SELECT key, value FROM (
            (SELECT key, value FROM rows WHERE key ${isBehind ? '>' : '>='} $1 AND key < $2 ORDER BY key LIMIT $4)
            UNION ALL (SELECT key, value FROM rows WHERE key >= $2 AND key < $3 ORDER BY key LIMIT 1)
          ) AS every ORDER BY key LIMIT $4`,
        [position, to, endOfPrefix(encodeKey([view])), most],
      );
      for (const row of rows)
        for (const { key, value } of rowsOfBlock(decodeKey(row.key), row.value)) {
          const at = encodeKey(key);
          const order = at.compare(from);
          const isInside = (lower === '>' ? order > 0 : order >= 0) && at.compare(to) < 0;
          if (isInside) found.push({ view, key: key.slice(1), value: parsed<Json>(value) });
        }
      const last = rows.at(-1)?.key;
      if (found.length >= wanted || rows.length < most || last === undefined || last.compare(to) >= 0) break;
      position = last;
      isBehind = true;
      most = wanted - found.length;
    }
    return (reverse ? found.reverse() : found).slice(offset, offset + limit);
  }

  async counters(prefix: string): Promise<{ readonly [name: string]: number }> {
    try {
      return await readCounters(this.#statements.repeatable, prefix);
    } catch (error) {
      throw unavailable(error);
    }
  }

  async holder(name: string): Promise<ActorAddress | undefined> {
    const [row] = await this.#statements.read<{ holder: Buffer }>(
      'holder',
      'SELECT holder FROM names WHERE name = $1',
      [Buffer.from(name)],
    );
    return row && addressOf(row.holder);
  }

  async names({ after, limit }: AfterQuery): Promise<readonly HeldName[]> {
    const rows = await this.#statements.read<{ name: Buffer; holder: Buffer }>(
      'names',
      'SELECT name, holder FROM names WHERE name > $1 ORDER BY name LIMIT $2',
      [Buffer.from(after ?? ''), limit],
    );
    return rows.map(({ name, holder }) => ({ name: name.toString(), holder: addressOf(holder) }));
  }

  async pendingEffects(actor: ActorAddress): Promise<readonly StoredEffect[]> {
    const prefix = actorKey(actor);
    const rows = await this.#statements.read<EffectRow>(
      'pending',
      `SELECT ${EFFECT_COLUMNS} FROM effects WHERE key > $1 AND key < $2 ORDER BY key`,
      [prefix, endOfPrefix(prefix)],
    );
    return rows.map(effectOf).filter((effect) => effect.actor.id === actor.id);
  }

  async failedEffects(query: AfterQuery<EffectKey>): Promise<readonly StoredEffect[]> {
    const after = query.after === undefined ? Buffer.alloc(0) : encodeKey(parseEffectKey(query.after));
    const rows = await this.#statements.read<EffectRow>(
      'failed',
      `SELECT ${EFFECT_COLUMNS} FROM effects WHERE failures > 0 AND key > $1 ORDER BY key LIMIT $2`,
      [after, query.limit],
    );
    return rows.map(effectOf);
  }

  async failedEffectCount(): Promise<number> {
    const [row] = await this.#statements.read<{ count: number }>(
      'failed-count',
      'SELECT count(*) AS count FROM effects WHERE failures > 0',
      [],
    );
    return row?.count ?? 0;
  }

  async effects(query: AfterQuery<EffectKey> & { readonly kind?: string }): Promise<readonly ListedEffect[]> {
    const { kind, after, limit } = query;
    const prefix = kind === undefined ? Buffer.alloc(0) : encodeKey([kind]);
    const rows = await this.#statements.read<EffectRow & { is_leased: boolean }>(
      'effects',
      `SELECT ${EFFECT_COLUMNS}, lease IS NOT NULL AS is_leased FROM effects
        WHERE key > $1 AND key < $2 ORDER BY key LIMIT $3`,
      [
        after === undefined ? prefix : encodeKey(parseEffectKey(after)),
        kind === undefined ? AFTER_ALL_KEYS : endOfPrefix(prefix),
        limit,
      ],
    );
    return rows.map((row) => ({ ...effectOf(row), isLeased: row.is_leased }));
  }

  async timers(query: AfterQuery<Omit<StoredTimer, 'event'>>): Promise<readonly StoredTimer[]> {
    const { after, limit } = query;
    const rows = await this.#statements.read<TimerRow>(
      'timers',
      'SELECT due, body FROM timers WHERE key > $1 ORDER BY key LIMIT $2',
      [
        after === undefined
          ? Buffer.alloc(0)
          : encodeKey([after.due, after.actor.kind, after.actor.id, after.name]),
        limit,
      ],
    );
    return rows.map(timerOf);
  }
}

/** Reads the counters whose names start with `prefix`. Rejects with errors of PostgreSQL. */
export async function readCounters(
  client: Statements,
  prefix: string,
): Promise<{ readonly [name: string]: number }> {
  const start = Buffer.from(prefix);
  const { rows } = await client.query<{ name: Buffer; value: string }>({
    name: 'counters',
    text: `SELECT name, sum(value) AS value FROM (
        SELECT name, value FROM counters WHERE name >= $1 AND name < $2
        UNION ALL SELECT name, delta FROM counter_deltas WHERE name >= $1 AND name < $2
      ) AS every GROUP BY name HAVING sum(value) <> 0`,
    values: [start, endOfPrefix(start)],
  });
  return Object.fromEntries(rows.map(({ name, value }) => [name.toString(), Number(value)]));
}

export function effectOf({ queue, due, failures, last_error, body, is_taken_over }: EffectRow): StoredEffect {
  const { key, actor, effect } = JSON.parse(body) as EffectBody;
  return {
    key,
    actor,
    effect: effect as StoredEffect['effect'],
    dueAt: due,
    failures,
    lastError: last_error === null ? null : JSON.parse(last_error),
    ...(queue !== null && { partition: queue.toString() }),
    ...(is_taken_over && { isTakenOver: true }),
  };
}
