/** Replies for tasks whose thread was lost or ended. */
import type { PoolReply, PoolTask } from './tasks.ts';

/** The thread was terminated because a task exceeded its time limit. */
export class DeadlineMissed extends Error {
  readonly deadlineMs: number;

  constructor(deadlineMs: number) {
    super(`was given up after ${deadlineMs / 1000} s.`);
    this.name = 'DeadlineMissed';
    this.deadlineMs = deadlineMs;
  }
}

/** Codes: `pool.deadline`, `pool.memory-exceeded`, `pool.worker-lost`. */
export function lostAnswer(
  { task }: PoolTask,
  error: unknown,
): PoolReply & { readonly ok: false; readonly message: string } {
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof DeadlineMissed)
    return {
      ok: false,
      ms: error.deadlineMs,
      code: 'pool.deadline',
      message: `The ${task} task ${reason}`,
    };
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return {
      ok: false,
      ms: 0,
      code: 'pool.memory-exceeded',
      message: `The ${task} task needs more memory than one task may have.`,
    };
  return {
    ok: false,
    ms: 0,
    code: 'pool.worker-lost',
    message: `The thread of the ${task} task was lost: ${reason}`,
  };
}

/** The job or document of a task, for the log. */
export function subjectOf(task: PoolTask): { readonly JobId: string } | { readonly DocumentId: string } {
  return 'jobId' in task ? { JobId: task.jobId } : { DocumentId: task.documentId };
}
