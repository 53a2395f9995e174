/** Every effect a job may ask for, with its handler; a missing one does not compile. */
import type { JobEffect } from '../../machines/job-context.ts';
import { cancelRemoteHandler } from './cancel-remote.ts';
import { dispatchHandler } from './dispatch.ts';
import type { HandlerParts, JobHandler } from './parts.ts';
import { quarantineHandler } from './quarantine.ts';
import { recordEventHandler } from './record-event.ts';
import { releaseHandler } from './release.ts';
import { signHandler } from './sign.ts';
import { tidyHandler } from './tidy.ts';

export function jobHandlers(parts: HandlerParts): { readonly [Name in JobEffect['do']]: JobHandler<Name> } {
  return {
    sign: signHandler(parts),
    dispatch: dispatchHandler(parts),
    cancelRemote: cancelRemoteHandler(parts),
    release: releaseHandler(parts),
    tidy: tidyHandler(parts),
    quarantine: quarantineHandler(parts),
    recordEvent: recordEventHandler(parts),
  };
}
