/** Effects and timers of this node in a store on PostgreSQL. */
import { MAX_BACKOFF_MS } from '../../model/backoff.ts';
import { CLOCKS_DIFFER_MS } from '../../model/clock.ts';
import type { AfterQuery, Clock, EffectKey, Millis, StoredEffect, StoredTimer } from '../../model/ports.ts';
import { EffectLeases } from './effect-leases.ts';
import { encodeKey, endOfPrefix } from './key-bytes.ts';
import { EFFECT_COLUMNS, type EffectRow, effectOf, type TimerRow, timerOf } from './postgres-reads.ts';
import type { PreparedStatements } from './prepared-statements.ts';
import type { Session } from './session.ts';
import { effectKey } from './steps-as-arrays.ts';

/**
 * A condition that is true, and lets the transaction end without waiting for the disk or a standby. A lease that a crash
 * of the server loses is one that this node still knows.
 */
const UNFLUSHED = `(SELECT set_config('synchronous_commit', 'off', true)) = 'off'`;

/**
 * Leases the first effect of a queue, unless another node has it: later ones wait for it. Reads the index `effects_order` at
 * its first place, and behind effects that were set aside.
 */
const LEASE_FIRST = `UPDATE effects SET lease = $1
  WHERE key = (SELECT key FROM effects
      WHERE queue = $3 AND due <= $2::bigint + ${CLOCKS_DIFFER_MS} AND ${UNFLUSHED} ORDER BY queue, key LIMIT 1)
    AND owner = $1 AND lease IS NULL AND due <= $2
  RETURNING key, ${EFFECT_COLUMNS}`;

export class PostgresWork {
  readonly #statements: PreparedStatements;
  readonly #session: Session;
  readonly leases: EffectLeases;

  /** @param released called when effects can be leased that were not before */
  constructor(
    statements: PreparedStatements,
    session: Session,
    clock: Pick<Clock, 'elapsed'>,
    released: () => void,
  ) {
    this.#statements = statements;
    this.#session = session;
    this.leases = new EffectLeases(clock, (held) => this.#releaseAllBut(held), released);
  }

  async leaseEffects(
    now: Millis,
    limit: number,
    partition?: string,
    inOrder = false,
  ): Promise<readonly StoredEffect[]> {
    if (limit <= 0) return [];
    return this.leases.add(() =>
      inOrder && partition !== undefined
        ? this.#leaseWith('lease-first', LEASE_FIRST, [now, Buffer.from(partition)])
        : this.#leaseDue(now, limit, partition),
    );
  }

  #leaseDue(now: Millis, limit: number, partition: string | undefined): Promise<readonly StoredEffect[]> {
    const inQueue = partition === undefined ? 'queue IS NULL' : 'queue = $4';
    return this.#leaseWith(
      partition === undefined ? 'lease' : 'lease-queue',
      `UPDATE effects SET lease = $1 WHERE key IN (
          SELECT key FROM effects
          WHERE owner = $1 AND ${inQueue} AND lease IS NULL AND due <= $2 AND ${UNFLUSHED}
          ORDER BY due, key LIMIT $3 FOR UPDATE SKIP LOCKED
        ) RETURNING key, ${EFFECT_COLUMNS}`,
      [now, limit, ...(partition === undefined ? [] : [Buffer.from(partition)])],
    );
  }

  /** @param values behind the token of the session */
  async #leaseWith(name: string, text: string, values: readonly unknown[]): Promise<readonly StoredEffect[]> {
    const rows = await this.#statements.write<EffectRow & { key: Buffer }>(name, text, [
      this.#session.token,
      ...values,
    ]);
    return [...rows]
      .sort((left, right) => left.due - right.due || Buffer.compare(left.key, right.key))
      .map(effectOf);
  }

  async #releaseAllBut(held: readonly EffectKey[]): Promise<number> {
    const rows = await this.#statements.write(
      'release-leases',
      'UPDATE effects SET lease = NULL WHERE lease = $1 AND key <> ALL ($2) RETURNING 1',
      [this.#session.token, held.map(effectKey)],
    );
    return rows.length;
  }

  async deferEffect(key: EffectKey, until: Millis, error: string): Promise<void> {
    await this.#statements.write(
      'defer',
      `UPDATE effects SET due = $2, failures = failures + 1, last_error = $3, lease = NULL
        WHERE key = $1 AND owner = $4`,
      [effectKey(key), until, JSON.stringify(error), this.#session.token],
    );
    this.leases.end(key);
  }

  async releaseEffects(keys: readonly EffectKey[]): Promise<void> {
    await this.#statements.write(
      'release-effects',
      'UPDATE effects SET lease = NULL WHERE key = ANY($1) AND lease = $2',
      [keys.map(effectKey), this.#session.token],
    );
    for (const key of keys) this.leases.end(key);
  }

  async settleEffects(keys: readonly EffectKey[]): Promise<void> {
    await this.#statements.write('settle', 'DELETE FROM effects WHERE key = ANY($1) AND owner = $2', [
      keys.map(effectKey),
      this.#session.token,
    ]);
    for (const key of keys) this.leases.end(key);
  }

  async takeEffect(key: EffectKey, due: Millis, error: string | null): Promise<boolean> {
    const taken = await this.#statements.write(
      'take-effect',
      `UPDATE effects SET owner = $2, due = $3, failures = failures + CASE WHEN $4::text IS NULL THEN 0 ELSE 1 END,
          last_error = COALESCE($4, last_error)
        WHERE key = $1 AND lease IS NULL RETURNING 1`,
      [effectKey(key), this.#session.token, due, error === null ? null : JSON.stringify(error)],
    );
    return taken.length > 0;
  }

  async rescheduleAfterClockRegression(now: Millis): Promise<void> {
    await this.#statements.write(
      'hasten-new',
      'UPDATE effects SET due = $1 WHERE owner = $2 AND failures = 0 AND due > $1',
      [now, this.#session.token],
    );
    await this.#statements.write(
      'hasten-failed',
      'UPDATE effects SET due = $1 WHERE owner = $2 AND failures > 0 AND due > $1',
      [now + MAX_BACKOFF_MS, this.#session.token],
    );
  }

  async partitions(
    query: AfterQuery & { readonly prefix: string },
  ): Promise<readonly { readonly partition: string; readonly due: Millis }[]> {
    const prefix = Buffer.from(query.prefix);
    // The first key after another one, in the order of bytes.
    const next = query.after === undefined ? prefix : Buffer.from(`${query.after}\0`);
    const from = Buffer.compare(next, prefix) > 0 ? next : prefix;
    const rows = await this.#statements.read<{ queue: Buffer; due: number }>(
      'partitions',
      // One index probe per partition, however many effects wait in the partition.
      `WITH RECURSIVE next AS (
          (SELECT queue, due FROM effects
            WHERE owner = $4 AND queue >= $1 AND queue < $2 AND lease IS NULL
            ORDER BY queue, due LIMIT 1)
          UNION ALL
          SELECT found.* FROM next, LATERAL (
            SELECT queue, due FROM effects WHERE owner = $4 AND queue > next.queue AND queue < $2 AND lease IS NULL
            ORDER BY queue, due LIMIT 1
          ) AS found
        ) SELECT queue, due FROM next LIMIT $3`,
      [from, endOfPrefix(prefix), query.limit, this.#session.token],
    );
    return rows.map(({ queue, due }) => ({ partition: queue.toString(), due }));
  }

  async nextEffectDue(): Promise<Millis | undefined> {
    const [row] = await this.#statements.read<{ due: number }>(
      'next-effect',
      'SELECT due FROM effects WHERE owner = $1 AND queue IS NULL AND lease IS NULL ORDER BY due, key LIMIT 1',
      [this.#session.token],
    );
    return row?.due;
  }

  async dueTimers(now: Millis, limit: number): Promise<readonly StoredTimer[]> {
    const rows = await this.#statements.read<TimerRow>(
      'due-timers',
      // Both columns of the index as one value: a scan in the order of `key` alone would visit timers of other nodes.
      `SELECT due, body FROM timers WHERE (owner, key) >= ($3, ''::bytea) AND (owner, key) < ($3, $1)
        ORDER BY owner, key LIMIT $2`,
      [endOfPrefix(encodeKey([now])), limit, this.#session.token],
    );
    return rows.map(timerOf);
  }

  async nextTimerDue(): Promise<Millis | undefined> {
    const [row] = await this.#statements.read<{ due: number }>(
      'next-timer',
      `SELECT due FROM timers WHERE (owner, key) >= ($1, ''::bytea) AND (owner, key) < ($1 + 1, ''::bytea)
        ORDER BY owner, key LIMIT 1`,
      [this.#session.token],
    );
    return row?.due;
  }
}
