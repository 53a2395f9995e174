/** Keeps what happened for `GET /api/events`. Source: batch-gaps §15. */
import { eventIdOf, withJob } from '../events.ts';
import { JOB } from '../registry.ts';
import { type HandlerParts, type JobHandler, NOTHING_TO_TELL } from './parts.ts';

export function recordEventHandler({ record }: Pick<HandlerParts, 'record'>): JobHandler<'recordEvent'> {
  return {
    after: 'visible',
    async run({ do: _, ...event }, { key, actor }) {
      await record(withJob(event, actor.kind === JOB ? actor.id : null), eventIdOf(key));
      return NOTHING_TO_TELL;
    },
  };
}
