/** Taking the original away once its signed output is published. */
import { removeOriginal } from '../../files/tidy.ts';
import type { PoolResults, TidyTask } from '../tasks.ts';
import type { JobThread } from './thread.ts';

export function tidy(task: TidyTask, { folders, faults }: JobThread): PoolResults['tidy'] {
  const outcome = task.input ? removeOriginal(task.originalPath, task.input) : 'gone';
  faults.atSync('pool.tidy.removed', task.fileName);
  folders.close(task.jobId);
  return { diverged: outcome === 'diverged' };
}
