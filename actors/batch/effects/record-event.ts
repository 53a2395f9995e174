/** Records a system event for `GET /api/events`. Source: docs/batch-values.md §15. */
import { eventIdOf, withJob } from '../job-records/events.ts';
import { JOB } from '../job-records/kinds.ts';
import { type JobHandler, type JobHandlerDependencies, NO_MESSAGE } from './effect-handler.ts';

export function recordEventHandler({
  record,
}: Pick<JobHandlerDependencies, 'record'>): JobHandler<'recordEvent'> {
  return {
    after: 'visible',
    async run({ do: _, ...event }, { key, actor }) {
      await record(withJob(event, actor.kind === JOB ? actor.id : null), eventIdOf(key));
      return NO_MESSAGE;
    },
  };
}
