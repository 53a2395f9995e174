/** Dependencies of portal tasks, created once per pool thread. */
import type { Clock, Faults } from '@sealwright/runtime';
import type { DiskSync } from '../../shared/files/disk-sync.ts';
import { TaskFailure } from '../task-failure.ts';
import type { WorkerProfileRuntime, WorkerProfiles } from '../worker-profiles.ts';

export interface PortalTaskContext {
  readonly profiles: WorkerProfiles;
  readonly clock: Clock;
  readonly faults: Faults;
  readonly disk: DiskSync;
}

/** A profile with loaded certificate and key. */
export type ServiceProfile = WorkerProfileRuntime & {
  readonly signer: NonNullable<WorkerProfileRuntime['signer']>;
};

/** For tasks that need no key. @throws {TaskFailure} `profile.not-found` */
export function profileOf({ profiles }: PortalTaskContext, name: string): WorkerProfileRuntime {
  const profile = profiles.byName.get(name);
  if (profile === undefined)
    throw new TaskFailure('profile.not-found', `No signing profile is called ${name}.`);
  return profile;
}

/** @throws {TaskFailure} `profile.not-found`; `profile.no-certificate` where certificate and key could not be loaded */
export function serviceProfile(thread: PortalTaskContext, name: string): ServiceProfile {
  const profile = profileOf(thread, name);
  if (profile.signer === undefined)
    throw new TaskFailure(
      'profile.no-certificate',
      `The signing profile ${name} has no certificate that can be used; the operator of the service must correct it.`,
    );
  return { ...profile, signer: profile.signer };
}
