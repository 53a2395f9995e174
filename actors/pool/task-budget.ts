/** Limits of one task: duration and choice of threads. */
import type { PoolTask } from './tasks.ts';

/** Organization and size of a task. */
export interface TaskScope {
  /** Id of the requesting organization, the unit of fair queuing; absent: the service itself. */
  readonly organization?: string | undefined;
  /** Size of the task's file in bytes, where known. */
  readonly bytes?: number | undefined;
}

/** Size in bytes from which a task counts as large and runs on separate threads. */
const LARGE_BYTES = 4 * 1024 * 1024;

/** Time limits of interactive tasks, milliseconds, plus one second per 2 MiB. Others use the limit of the pool. */
const INTERACTIVE_MS: { readonly [Name in PoolTask['task']]?: number } = {
  'portal.store': 30_000,
  'portal.inspect': 30_000,
  'portal.text-tags': 30_000,
  'portal.picture': 30_000,
  'portal.describe': 30_000,
  'portal.begin': 30_000,
  'portal.render': 30_000,
  'portal.generation': 30_000,
  'portal.fill': 30_000,
  'portal.merge': 120_000,
  'portal.zip': 120_000,
};
const BYTES_PER_SECOND = 2 * 1024 * 1024;

/** Fraction of its time limit after which a task counts as stalled. */
const STALLED_PART = 1 / 4;

export function isLarge({ bytes = 0 }: TaskScope): boolean {
  return bytes >= LARGE_BYTES;
}

/** Time limit of a task in milliseconds. @param deadlineMs the maximum for any task */
export function deadlineOf({ task }: PoolTask, { bytes = 0 }: TaskScope, deadlineMs: number): number {
  const interactive = INTERACTIVE_MS[task];
  if (interactive === undefined) return deadlineMs;
  return Math.min(deadlineMs, interactive + (bytes / BYTES_PER_SECOND) * 1000);
}

/** Milliseconds after which a running task counts as stalled. */
export function stalledAfter(deadlineMs: number): number {
  return deadlineMs * STALLED_PART;
}
