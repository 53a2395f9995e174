/** The handlers of a job's effects. */
import type { JobEffect } from '../../../machines/batch/job-context.ts';
import { cancelRemoteHandler } from './cancel-remote.ts';
import { dispatchHandler } from './dispatch.ts';
import { type JobHandler, type JobHandlerDependencies, whileWritable } from './effect-handler.ts';
import { quarantineHandler } from './quarantine.ts';
import { recordEventHandler } from './record-event.ts';
import { releaseHandler } from './release.ts';
import { signHandler } from './sign.ts';
import { tidyHandler } from './tidy.ts';

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
    recordEvent: recordEventHandler(dependencies),
    enqueueWebhooks: dependencies.enqueueWebhooks,
  };
}
