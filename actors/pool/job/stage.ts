/** Staging a file that is signed elsewhere. */
import { statSync } from 'node:fs';
import { fileDigest } from '../../files/digest.ts';
import { stage } from '../../files/stage.ts';
import { TaskFailure } from '../task-failure.ts';
import type { PoolResults, StageTask } from '../tasks.ts';
import type { JobThread } from './thread.ts';

/** The staged bytes are hashed and synced: the portal may take days, and what it signs is compared with them. */
export function stageOnly(task: StageTask, { folders, clock }: JobThread): PoolResults['stage'] {
  const folder = folders.open(task.jobId);
  const readAt = clock.now();
  const { path, mtimeMs, inode } = stage(task.originalPath, folder, task.fileName);
  const sha256 = fileDigest(path);
  const length = statSync(path).size;
  if (length === 0) throw new TaskFailure('input.empty', 'The file to sign is empty.');
  return { input: { sha256, length, mtimeMs, inode, readAt }, path };
}
