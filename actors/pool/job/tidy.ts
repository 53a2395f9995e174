/** Removes the original once its signed output is published. */
import { describeFailure } from '@sealwright/runtime/core';
import { removeOriginal } from '../../shared/files/tidy.ts';
import type { PoolResults, TidyTask } from '../tasks.ts';
import type { JobTaskContext } from './job-task-context.ts';

/** Error codes of files that the service has no right to remove. */
const REFUSALS: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);

export function tidy(task: TidyTask, { folders, faults }: JobTaskContext): PoolResults['tidy'] {
  const result = remove(task);
  faults.atSync('pool.tidy.removed', task.fileName);
  folders.close(task.jobId);
  return result;
}

function remove({ originalPath, input }: TidyTask): PoolResults['tidy'] {
  if (!input) return { diverged: false };
  try {
    return { diverged: removeOriginal(originalPath, input) === 'diverged' };
  } catch (error) {
    const { code, message } = describeFailure(error);
    if (!REFUSALS.has(code)) throw error;
    return { diverged: false, refused: message };
  }
}
