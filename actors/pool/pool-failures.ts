/** Replies for tasks whose thread was lost or ended. */
import { isAbsolute } from 'node:path';
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

/**
 * The message without the place of files on this server: callers and job records see it. Files of a job keep their
 * name, and the files of a list are called by their titles; others are stored under names of the service.
 * @param workingFolder folder of the task's job; undefined for a task without one
 */
export function withoutPaths(message: string, task: PoolTask, workingFolder: string | undefined): string {
  if (workingFolder !== undefined) return message.replaceAll(`${workingFolder}/`, '');
  let text = message;
  for (const [path, name] of filesIn(task).sort(([left], [right]) => right.length - left.length))
    text = text.replaceAll(path, (_, at: number) => name ?? (at === 0 ? 'The file' : 'the file'));
  return text;
}

/** The absolute paths among the values of a task, at any depth, with the title of the object that they are in. */
function filesIn(value: object): [path: string, name: string | undefined][] {
  const { title } = value as { readonly title?: unknown };
  const name = typeof title === 'string' ? title : undefined;
  return Object.values(value).flatMap((inner): [string, string | undefined][] => {
    if (typeof inner === 'string') return isAbsolute(inner) && inner !== '/' ? [[inner, name]] : [];
    return typeof inner === 'object' && inner !== null ? filesIn(inner) : [];
  });
}

/** The job or document of a task, for the log. */
export function subjectOf(task: PoolTask): { readonly JobId: string } | { readonly DocumentId: string } {
  return 'jobId' in task ? { JobId: task.jobId } : { DocumentId: task.documentId };
}
