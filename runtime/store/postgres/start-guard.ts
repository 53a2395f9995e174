/**
 * Keeps the session of a node that starts. A start can block the main thread for longer than the lease, by loading modules,
 * keys and lists on a busy machine; a thread of its own renews the session meanwhile. It ends with the process, so that the
 * work of one that died is taken over as soon as ever, and after some minutes, so that one that hangs is replaced too.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describeFailure } from '../../model/failures.ts';
import type { Log } from '../../model/ports.ts';
import type { PostgresOptions } from './connection/connection.ts';

/** Longest start, milliseconds; one that lasts longer hangs. */
const LONGEST_START_MS = 5 * 60_000;

/** A session to renew. */
export interface GuardedSession {
  readonly token: number;
  readonly leaseSeconds: number;
  /** Memory of its `LeaseDeadline`. */
  readonly deadline: SharedArrayBuffer;
}

/** Message to the thread; null: the start is over. */
export type ToGuard = GuardedSession | null;

export interface StartGuard {
  renew(session: GuardedSession): void;
  end(): void;
}

/** Starts the thread. A node whose thread fails starts without it. */
export async function startGuard(
  { url, schema, statementTimeoutMs }: PostgresOptions,
  log: Log,
  longestMs = LONGEST_START_MS,
): Promise<StartGuard> {
  const workerData = { url, schema, statementTimeoutMs, longestMs };
  const worker = new Worker(new URL('./start-guard-thread.js', import.meta.url), { workerData });
  const failed = (error: unknown): void =>
    log.warn('The thread that helps a slow start has failed.', describeFailure(error));
  worker.on('error', failed);
  // Rejects with an error of the thread, which is told already.
  await once(worker, 'message').catch(() => {});
  worker.unref();
  const post = (message: ToGuard) => worker.postMessage(message);
  return { renew: post, end: () => post(null) };
}
