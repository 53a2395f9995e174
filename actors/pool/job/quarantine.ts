/** Moves the working folder of a job that did not complete, and withdraws an output it may have published. */
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { envelopePath } from '../../shared/files/encrypt-output.ts';
import { outputName, possibleOutputNames } from '../../shared/files/output-names.ts';
import { type PossibleOutput, quarantine } from '../../shared/files/tidy.ts';
import type { PoolResults, QuarantineTask } from '../tasks.ts';
import type { WorkerSetup } from '../worker-setup.ts';
import type { JobTaskContext } from './job-task-context.ts';

export function quarantineJob(
  task: QuarantineTask,
  { setup, folders, faults }: JobTaskContext,
): PoolResults['quarantine'] {
  const folder = folders.pathOf(task.jobId);
  mkdirSync(setup.error, { recursive: true, mode: 0o750 });
  quarantine(
    folder,
    join(setup.error, task.jobId),
    task.mayBePublished ? possibleOutput(task, folder, setup) : null,
  );
  faults.atSync('pool.quarantine.moved', task.fileName);
  return {};
}

/** Path of a possible output that no committed step records. */
export function possibleOutput(
  { fileName, jobId, subfolder }: Pick<QuarantineTask, 'fileName' | 'jobId' | 'subfolder'>,
  folder: string,
  setup: WorkerSetup,
): PossibleOutput {
  return {
    output: join(setup.output, subfolder),
    names: possibleOutputNames(fileName, jobId),
    signedNames: [outputName(fileName), basename(envelopePath(folder))],
  };
}
