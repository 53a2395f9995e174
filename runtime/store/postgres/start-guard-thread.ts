/** The thread of `start-guard.ts`: renews a session until the start is over. */
import { parentPort, workerData } from 'node:worker_threads';
import { machineTime, systemClock } from '../../model/clock.ts';
import { LeaseDeadline } from '../../model/lease-deadline.ts';
import { openPool, type PostgresOptions } from './connection/connection.ts';
import { HEARTBEATS_PER_LEASE } from './session.ts';
import type { GuardedSession, ToGuard } from './start-guard.ts';

/** A session that has ended meanwhile stays so. */
const RENEW = "UPDATE sessions SET seen_at = clock_timestamp() WHERE token = $1 AND seen_at > '-infinity'";

const isOver = new AbortController();
const { longestMs, ...database } = workerData as PostgresOptions & { readonly longestMs: number };
const pool = openPool({ ...database, poolSize: 1 }, () => {});

/** Renews until the start is over, or the session is. */
async function renew({ token, leaseSeconds, deadline }: GuardedSession): Promise<void> {
  const lease = leaseSeconds * 1000;
  const held = new LeaseDeadline(machineTime, deadline);
  const end = machineTime() + longestMs;
  while (!isOver.signal.aborted && machineTime() < end) {
    const asked = machineTime();
    // A database that does not answer is asked again.
    const renewed = await pool.query(RENEW, [token]).catch(() => undefined);
    if (renewed?.rowCount === 0) return;
    if (renewed !== undefined) held.set(asked + lease);
    await systemClock.sleep(lease / HEARTBEATS_PER_LEASE, isOver.signal).catch(() => {});
  }
}

parentPort?.on('message', (message: ToGuard) => {
  if (message !== null) {
    void renew(message).finally(() => pool.end());
    return;
  }
  isOver.abort();
  parentPort?.close();
});
parentPort?.postMessage('ready');
