/** The tasks of jobs by name; a missing one does not compile. */
import type { JobPoolTask, PoolResults } from '../tasks.ts';
import { putAside } from './put-aside.ts';
import { release } from './release.ts';
import { sign } from './sign.ts';
import { stageOnly } from './stage.ts';
import type { JobThread } from './thread.ts';
import { tidy } from './tidy.ts';

type Result<Name extends JobPoolTask['task']> = PoolResults[Name] | Promise<PoolResults[Name]>;

const PERFORM: {
  readonly [Name in JobPoolTask['task']]: (
    task: Extract<JobPoolTask, { readonly task: Name }>,
    thread: JobThread,
  ) => Result<Name>;
} = { sign, stage: stageOnly, release, tidy, quarantine: putAside };

export function performJob<Name extends JobPoolTask['task']>(
  task: Extract<JobPoolTask, { readonly task: Name }>,
  thread: JobThread,
): Result<Name> {
  const perform = PERFORM[task.task as Name];
  return perform(task, thread);
}
