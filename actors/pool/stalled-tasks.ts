/** Finds tasks that run longer than expected, before their time limit ends them. */
import type { Clock } from '@sealwright/runtime';
import { subjectOf } from './pool-failures.ts';
import { stalledAfter } from './task-budget.ts';
import type { RunningBatch } from './worker-group.ts';

export interface StalledTask {
  readonly task: string;
  /** Id of the job or document of the task. */
  readonly subject: string;
  readonly runningMs: number;
  /** Time limit, counted from the task's start. */
  readonly deadlineMs: number;
  /** `computing`: the thread does not respond; `waiting`: the thread responds, the task makes no progress. */
  readonly state: 'computing' | 'waiting';
}

/**
 * Milliseconds without a heartbeat after which a thread counts as unresponsive: an idle event loop beats every second.
 */
const SILENT_MS = 5000;

/** Oldest first. */
export function stalledTasks(
  batches: Iterable<RunningBatch>,
  clock: Pick<Clock, 'now' | 'elapsed'>,
): readonly StalledTask[] {
  const elapsed = clock.elapsed();
  const now = clock.now();
  const found: StalledTask[] = [];
  for (const { tasks, thread, startedAt, deadlineMs } of batches) {
    const runningMs = elapsed - startedAt;
    if (runningMs < stalledAfter(deadlineMs)) continue;
    const state = now - thread.heartbeat.lastBeat > SILENT_MS ? 'computing' : 'waiting';
    for (const { task } of tasks) {
      const subject = subjectOf(task);
      const id = 'JobId' in subject ? subject.JobId : subject.DocumentId;
      found.push({ task: task.task, subject: id, runningMs, deadlineMs, state });
    }
  }
  return found.sort((one, other) => other.runningMs - one.runningMs);
}
