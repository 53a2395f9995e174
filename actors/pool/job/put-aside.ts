/** Moving away what a job left that did not complete, and taking back what it may have published. */
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { outputName, possibleOutputNames } from '../../file-names.ts';
import { envelopePath } from '../../files/seal.ts';
import { type MaybePublished, quarantine } from '../../files/tidy.ts';
import type { WorkerSetup } from '../setup.ts';
import type { PoolResults, QuarantineTask } from '../tasks.ts';
import type { JobThread } from './thread.ts';

export function putAside(
  task: QuarantineTask,
  { setup, folders, faults }: JobThread,
): PoolResults['quarantine'] {
  const folder = folders.pathOf(task.jobId);
  mkdirSync(setup.error, { recursive: true, mode: 0o750 });
  quarantine(
    folder,
    join(setup.error, task.jobId),
    task.mayBePublished ? maybePublished(task, folder, setup) : null,
  );
  faults.atSync('pool.quarantine.moved', task.fileName);
  return {};
}

/** Where to look for an output of this job that no step knows of. */
export function maybePublished(
  { fileName, jobId, subfolder }: Pick<QuarantineTask, 'fileName' | 'jobId' | 'subfolder'>,
  folder: string,
  setup: WorkerSetup,
): MaybePublished {
  return {
    output: join(setup.output, subfolder),
    names: possibleOutputNames(fileName, jobId),
    signedNames: [outputName(fileName), basename(envelopePath(folder))],
  };
}
