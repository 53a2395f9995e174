/**
 * Whether the database stores steps at present. Steps that are stored say so by themselves; without them, and after one
 * that failed, a statement is tried that needs what a step needs: a connection, a transaction that writes, and room in
 * the files of the database. A heartbeat proves less: it rewrites a row in place.
 *
 * Source: docs/decisions/0272-ready-while-steps-are-stored.md.
 */
import { describeFailure } from '../../model/failures.ts';
import type { Clock, Log } from '../../model/ports.ts';
import type { Statements } from './statement-watch.ts';

/** Milliseconds for which a stored step proves that the next one can be stored. */
const FRESH_MS = 3500;

/** Milliseconds between two attempts. */
const PAUSE_MS = 1000;

/** Milliseconds that one attempt may take. */
const ANSWER_MS = 3000;

/** Makes a file of a table and takes it back; leaves nothing, also in the log of the server. */
const ATTEMPT = `DO $attempt$ BEGIN
    CREATE TABLE room_for_steps (at integer);
    INSERT INTO room_for_steps VALUES (1);
    RAISE SQLSTATE 'LS003';
  EXCEPTION WHEN SQLSTATE 'LS003' THEN NULL; END $attempt$`;

export class WriteProbe {
  readonly #statements: Statements;
  readonly #clock: Pick<Clock, 'elapsed' | 'sleep'>;
  readonly #log: Log;
  /** Elapsed time at which something was stored, and at which the last attempt ended. */
  #storedAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #reason: string | undefined;
  /** An attempt may outlast the time for its answer; it is the only one until it ends. */
  #attempt: Promise<string | undefined> | undefined;

  constructor(statements: Statements, clock: Pick<Clock, 'elapsed' | 'sleep'>, log: Log) {
    this.#statements = statements;
    this.#clock = clock;
    this.#log = log;
  }

  /** Records a stored step. */
  stored(): void {
    this.#storedAt = this.#clock.elapsed();
    this.#conclude(undefined);
  }

  /** Records a step that was not stored, and finds out whether others could be. */
  failed(): void {
    this.#storedAt = Number.NEGATIVE_INFINITY;
    void this.obstacle();
  }

  /** See `ActorStore.obstacle`. */
  async obstacle(): Promise<string | undefined> {
    const now = this.#clock.elapsed();
    if (now - this.#storedAt < FRESH_MS) return undefined;
    if (this.#attempt === undefined && now - this.#triedAt < PAUSE_MS) return this.#reason;
    this.#attempt ??= this.#try().finally(() => {
      this.#attempt = undefined;
    });
    const late = new AbortController();
    const reason = await Promise.race([
      this.#attempt,
      this.#clock.sleep(ANSWER_MS, late.signal).then(
        () => 'PostgreSQL has not answered for 3 s.',
        () => undefined,
      ),
    ]);
    late.abort();
    this.#conclude(reason);
    return reason;
  }

  /** Never rejects. */
  async #try(): Promise<string | undefined> {
    try {
      await this.#statements.query({ text: ATTEMPT });
      this.#storedAt = this.#clock.elapsed();
      return undefined;
    } catch (error) {
      return describeFailure(error).message;
    } finally {
      this.#triedAt = this.#clock.elapsed();
    }
  }

  #conclude(reason: string | undefined): void {
    if (reason !== undefined && this.#reason === undefined)
      this.#log.error('No step can be stored; GET /api/ready answers 503 until one can.', { reason });
    else if (reason === undefined && this.#reason !== undefined) this.#log.info('Steps are stored again.');
    this.#reason = reason;
  }
}
