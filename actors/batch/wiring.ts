/** Connects the parts of the batch service that exist before the runtime, whose effect handlers need them. */
import type { ServiceRuntime } from '../hosting/service-plan.ts';
import { AccessKeys } from './access/access-keys.ts';
import { EndedSessions } from './access/ended-sessions.ts';
import { UsedSignInAnswers } from './access/used-sign-in-answers.ts';
import type { BatchOptions } from './batch-options.ts';
import { createClaims } from './claims.ts';
import { FolderIntake } from './folders/folder-intake.ts';
import { Folders } from './folders/folders.ts';
import { createJobServices } from './job-services.ts';
import type { BatchObserver } from './observer.ts';
import { createCommon } from './wiring-common.ts';

export type BatchWiring = Awaited<ReturnType<typeof createWiring>>;

export async function createWiring(options: BatchOptions, service: ServiceRuntime, observer: BatchObserver) {
  const common = await createCommon(options, service, observer);
  const { runtime } = common;
  const claims = createClaims(common);
  const jobs = await createJobServices(common);
  const intake = new FolderIntake(runtime, jobs.factory, jobs.uploads);
  return {
    ...common,
    claims,
    jobs,
    intake,
    folders: new Folders(options.folders, runtime, intake),
    access: {
      keys: new AccessKeys(service),
      ended: new EndedSessions(service),
      used: new UsedSignInAnswers(service),
    },
  };
}
