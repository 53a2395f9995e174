import type { HandledEffect } from '@sealwright/runtime';
import { cancelRemoteHandler, dispatchHandler } from './dispatch.ts';
import type { JobHandlerDependencies } from './effect-handler.ts';
import { quarantineHandler } from './quarantine.ts';
import { recordEventHandler } from './record-event.ts';
import { releaseHandler, signHandler } from './sign-and-release.ts';
import { tidyHandler } from './tidy.ts';

/** Handlers of a job's effects, but for that of its webhooks. */
export function jobHandlers(dependencies: JobHandlerDependencies): readonly HandledEffect<unknown>[] {
  return [
    signHandler(dependencies),
    dispatchHandler(dependencies),
    cancelRemoteHandler(dependencies),
    releaseHandler(dependencies),
    tidyHandler(dependencies),
    quarantineHandler(dependencies),
    recordEventHandler(dependencies.events),
  ];
}
