/** Performs the tasks of jobs, by name. */
import { statSync } from 'node:fs';
import { describeFailure } from '@sealwright/runtime/core';
import { fileDigest } from '../../shared/files/digest.ts';
import { stage } from '../../shared/files/stage.ts';
import { removeOriginal } from '../../shared/files/tidy.ts';
import { TaskFailure } from '../task-failure.ts';
import type { JobPoolTask, PoolResults, StageTask, TidyTask } from '../tasks.ts';
import { type JobTaskContext, whileLeased } from './job-task-context.ts';
import { watchOriginal } from './original-watch.ts';
import { quarantineJob } from './quarantine.ts';
import { release } from './release.ts';
import { sign } from './sign-job.ts';

/** Hashes and syncs the staged bytes, which are compared with the signed document days later. */
function stageOnly(
  task: StageTask,
  thread: JobTaskContext,
): PoolResults['stage'] | Promise<PoolResults['stage']> {
  const folder = thread.folders.open(task.jobId);
  return whileLeased(thread, () => stageInto(folder, task, thread));
}

function stageInto(folder: string, task: StageTask, { clock }: JobTaskContext): PoolResults['stage'] {
  const readAt = clock.now();
  const { path, mtimeMs, inode } = stage(task.originalPath, folder, task.fileName);
  const watch = watchOriginal(task);
  const sha256 = fileDigest(path);
  const length = statSync(path).size;
  watch?.confirm({ sha256, length });
  if (length === 0) throw new TaskFailure('input.empty', 'The file to sign is empty.');
  return { input: { sha256, length, mtimeMs, inode, readAt }, path };
}

/** Error codes of files that the service has no right to remove. */
const REFUSALS: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);

/** Removes the original once its signed output is published. */
function tidy(task: TidyTask, { folders, faults }: JobTaskContext): PoolResults['tidy'] {
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

type Result<Name extends JobPoolTask['task']> = PoolResults[Name] | Promise<PoolResults[Name]>;

const PERFORM: {
  readonly [Name in JobPoolTask['task']]: (
    task: Extract<JobPoolTask, { readonly task: Name }>,
    thread: JobTaskContext,
  ) => Result<Name>;
} = { sign, stage: stageOnly, release, tidy, quarantine: quarantineJob };

export function performJob<Name extends JobPoolTask['task']>(
  task: Extract<JobPoolTask, { readonly task: Name }>,
  thread: JobTaskContext,
): Result<Name> {
  const perform = PERFORM[task.task as Name];
  return whileLeased(thread, () => perform(task, thread));
}
