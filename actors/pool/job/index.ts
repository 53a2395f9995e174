/** Maps task names to implementations; the type requires all of them. */
import type { JobPoolTask, PoolResults } from '../tasks.ts';
import { type JobTaskContext, leaseHeld } from './job-task-context.ts';
import { quarantineJob } from './quarantine.ts';
import { release } from './release.ts';
import { sign } from './sign.ts';
import { stageOnly } from './stage.ts';
import { tidy } from './tidy.ts';

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
  return leaseHeld(thread)?.then(() => perform(task, thread)) ?? perform(task, thread);
}
