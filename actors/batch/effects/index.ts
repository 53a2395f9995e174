/** The handlers of a job's effects. */
import type { JobEffect } from '../../../machines/batch/job-context.ts';
import { type EventLog, eventIdOf, withJob } from '../job-records/events.ts';
import { JOB } from '../job-records/kinds.ts';
import { cancelRemoteHandler, dispatchHandler } from './dispatch.ts';
import { type JobHandler, type JobHandlerDependencies, NO_MESSAGE, whileWritable } from './effect-handler.ts';
import { releaseHandler, signHandler } from './sign.ts';
import { quarantineHandler, tidyHandler } from './tidy.ts';

/** Wraps a handler so that its work waits while the pipeline is held. */
function waitsForRoom<Name extends JobEffect['do']>(
  handler: JobHandler<Name>,
  { storage }: Pick<JobHandlerDependencies, 'storage'>,
): JobHandler<Name> {
  return {
    ...handler,
    run: (effect, attempt, context) =>
      whileWritable(storage, attempt.signal, () => handler.run(effect, attempt, context)),
  };
}

/** Maps each effect of a job to its handler; the type requires all of them. */
export function jobHandlers(dependencies: JobHandlerDependencies): {
  readonly [Name in JobEffect['do']]: JobHandler<Name>;
} {
  return {
    sign: waitsForRoom(signHandler(dependencies), dependencies),
    dispatch: dispatchHandler(dependencies),
    cancelRemote: cancelRemoteHandler(dependencies),
    release: waitsForRoom(releaseHandler(dependencies), dependencies),
    tidy: tidyHandler(dependencies),
    quarantine: quarantineHandler(dependencies),
    recordEvent: recordEventHandler(dependencies.events),
    enqueueWebhooks: dependencies.enqueueWebhooks,
  };
}

/** Records a system event for `GET /api/events`. Source: docs/batch-values.md §15. */
export function recordEventHandler(events: Pick<EventLog, 'record'>): JobHandler<'recordEvent'> {
  return {
    after: 'visible',
    async run({ do: _, ...event }, { key, actor }) {
      await events.record(withJob(event, actor.kind === JOB ? actor.id : null), eventIdOf(key));
      return NO_MESSAGE;
    },
  };
}
