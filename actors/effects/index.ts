/** Every effect a job may ask for, with its handler; a missing one does not compile. */
import type { JobEffect } from '../../machines/job.ts';
import type { HandlerParts, JobHandler } from './parts.ts';
import { publishHandler } from './publish.ts';
import { quarantineHandler } from './quarantine.ts';
import { signHandler } from './sign.ts';
import { tidyHandler } from './tidy.ts';
import { verifyHandler } from './verify.ts';

export function jobHandlers(parts: HandlerParts): { readonly [Name in JobEffect['do']]: JobHandler<Name> } {
  return {
    sign: signHandler(parts),
    verify: verifyHandler(parts),
    publish: publishHandler(parts),
    tidy: tidyHandler(parts),
    quarantine: quarantineHandler(parts),
  };
}
