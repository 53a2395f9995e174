/** Removes the original once its signed output is published. */
import { removeOriginal } from '../../shared/files/tidy.ts';
import type { PoolResults, TidyTask } from '../tasks.ts';
import type { JobTaskContext } from './job-task-context.ts';

export function tidy(task: TidyTask, { folders, faults }: JobTaskContext): PoolResults['tidy'] {
  const outcome = task.input ? removeOriginal(task.originalPath, task.input) : 'gone';
  faults.atSync('pool.tidy.removed', task.fileName);
  folders.close(task.jobId);
  return { diverged: outcome === 'diverged' };
}
