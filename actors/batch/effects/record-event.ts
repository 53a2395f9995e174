import { recordEvent } from '../../../machines/batch/system-event.ts';
import { type EventLog, eventIdOf, withJob } from '../job-records/events.ts';
import { JOB } from '../job-records/kinds.ts';

/** Records a system event for `GET /api/events`. Source: docs/batch-values.md §15. */
export function recordEventHandler(events: Pick<EventLog, 'record'>) {
  return recordEvent.handledBy({
    after: 'visible',
    async run(event, { key, actor }) {
      await events.record(withJob(event, actor.kind === JOB.kind ? actor.id : null), eventIdOf(key));
      return null;
    },
  });
}
