/** What the portal's tasks find in each thread. */
import type { Clock, Faults } from '../../../runtime/index.ts';
import { TaskFailure } from '../task-failure.ts';
import type { ThreadProfile, ThreadProfiles } from '../worker-profiles.ts';

export interface PortalThread {
  readonly profiles: ThreadProfiles;
  readonly clock: Clock;
  readonly faults: Faults;
}

/** @throws {TaskFailure} `profile.not-found` */
export function sealingProfile(
  { profiles }: PortalThread,
  name: string,
): ThreadProfile & { readonly signer: NonNullable<ThreadProfile['signer']> } {
  const profile = profiles.byName.get(name);
  if (profile?.signer === undefined)
    throw new TaskFailure('profile.not-found', `The profile ${name} has no certificate here.`);
  return { ...profile, signer: profile.signer };
}
