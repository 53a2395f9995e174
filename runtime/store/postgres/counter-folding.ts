/**
 * Adds `counter_deltas`, which steps append, to `counters`, in the background. Readers add both, so the time, the
 * frequency and the number of nodes doing this do not matter. Also removes changes that every node has read, and permits of
 * rate windows that are over.
 */
import type pg from 'pg';
import { describeFailure } from '../../model/failures.ts';
import type { Clock, Log } from '../../model/ports.ts';

/** Milliseconds between two rounds after steps, and without any: other nodes, or a crash, may have left some. */
const INTERVAL_MS = 1000;
const IDLE_INTERVAL_MS = 10_000;

/** Shortest and longest retention of rate-limit permits, seconds: a day and a hundred years. */
const MIN_PERMIT_SECONDS = 86_400;
export const MAX_PERMIT_SECONDS = 36_525 * 86_400;

/** Maximum number of changes in one transaction. */
const BATCH_SIZE = 10_000;

const FOLD = `WITH folded AS (
    DELETE FROM counter_deltas WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM counter_deltas LIMIT $1 FOR UPDATE SKIP LOCKED
    )) RETURNING name, delta
  ), sums AS (
    SELECT name, sum(delta) AS delta, count(*) AS changes FROM folded GROUP BY name ORDER BY name
  ), added AS (
    INSERT INTO counters (name, value) SELECT name, delta FROM sums
    ON CONFLICT (name) DO UPDATE SET value = counters.value + EXCLUDED.value
    RETURNING 1
  )
  SELECT COALESCE(sum(changes), 0)::integer AS changes FROM sums`;

/** Removes changes that every session has read. */
const FORGET = `DELETE FROM changes WHERE xid < (
    SELECT CASE WHEN count(*) = count(position) THEN min(position) END FROM sessions WHERE seen_at > '-infinity'
  )`;

export class CounterFolding {
  readonly #pool: pg.Pool;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #permitSeconds: number;
  #cancel: () => void = () => {};
  /** True while the next round is an idle one; true after a step since the last round began. */
  #isIdle = false;
  #hasSteps = false;
  #stopped = false;
  #round: Promise<void> = Promise.resolve();

  /** @param longestWindowSeconds length of the longest rate window; shorter than a day = a day */
  constructor(pool: pg.Pool, clock: Clock, log: Log, longestWindowSeconds = 0) {
    this.#pool = pool;
    this.#clock = clock;
    this.#log = log;
    this.#permitSeconds = Math.min(Math.max(MIN_PERMIT_SECONDS, longestWindowSeconds), MAX_PERMIT_SECONDS);
    this.#arm();
  }

  /** Makes the next round soon, after a step. */
  wake(): void {
    this.#hasSteps = true;
    if (!this.#isIdle) return;
    this.#cancel();
    this.#arm(INTERVAL_MS);
  }

  /** Starts no further round and waits for the one in progress. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#round;
  }

  /** Adds all pending changes. Returns false if there was nothing to do. */
  async fold(): Promise<boolean> {
    let total = 0;
    for (;;) {
      const { rows } = await this.#pool.query<{ changes: number }>({
        name: 'fold-counters',
        text: FOLD,
        values: [BATCH_SIZE],
      });
      const changes = rows[0]?.changes ?? 0;
      total += changes;
      if (changes < BATCH_SIZE) break;
    }
    await this.#pool.query('DELETE FROM counters WHERE value = 0');
    const forgotten = await this.#pool.query(FORGET);
    await this.#pool.query(
      'DELETE FROM permits WHERE since < clock_timestamp() - make_interval(secs => $1)',
      [this.#permitSeconds],
    );
    return total > 0 || (forgotten.rowCount ?? 0) > 0;
  }

  #arm(interval = INTERVAL_MS): void {
    if (this.#stopped) return;
    this.#isIdle = interval > INTERVAL_MS;
    this.#cancel = this.#clock.after(interval, () => {
      this.#isIdle = false;
      this.#hasSteps = false;
      this.#round = this.fold().then(
        (hadWork) => this.#arm(hadWork || this.#hasSteps ? INTERVAL_MS : IDLE_INTERVAL_MS),
        (error) => {
          this.#log.warn('Counters could not be folded; the next round does it.', describeFailure(error));
          this.#arm();
        },
      );
    });
  }
}
