/** Stages a file that is signed remotely. */
import { statSync } from 'node:fs';
import { fileDigest } from '../../shared/files/digest.ts';
import { stage } from '../../shared/files/stage.ts';
import { TaskFailure } from '../task-failure.ts';
import type { PoolResults, StageTask } from '../tasks.ts';
import { type JobTaskContext, leaseHeld } from './job-task-context.ts';

/** Hashes and syncs the staged bytes, which are compared with the signed document days later. */
export function stageOnly(
  task: StageTask,
  thread: JobTaskContext,
): PoolResults['stage'] | Promise<PoolResults['stage']> {
  const folder = thread.folders.open(task.jobId);
  return leaseHeld(thread)?.then(() => stageInto(folder, task, thread)) ?? stageInto(folder, task, thread);
}

function stageInto(folder: string, task: StageTask, { clock }: JobTaskContext): PoolResults['stage'] {
  const readAt = clock.now();
  const { path, mtimeMs, inode } = stage(task.originalPath, folder, task.fileName);
  const sha256 = fileDigest(path);
  const length = statSync(path).size;
  if (length === 0) throw new TaskFailure('input.empty', 'The file to sign is empty.');
  return { input: { sha256, length, mtimeMs, inode, readAt }, path };
}
