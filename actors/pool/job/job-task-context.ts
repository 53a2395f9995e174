/** Dependencies of job tasks, created once per pool thread. */
import type { LeaseDeadline } from '../../../base/lease-deadline.ts';
import type { Clock, Faults, Ids } from '../../../runtime/index.ts';
import type { DiskSync } from '../../shared/disk-sync.ts';
import type { WorkingFolders } from '../../shared/files/working-folders.ts';
import { TaskFailure } from '../task-failure.ts';
import type { WorkerProfileRuntime, WorkerProfiles } from '../worker-profiles.ts';
import type { WorkerSetup } from '../worker-setup.ts';

export interface JobTaskContext {
  readonly setup: WorkerSetup;
  readonly profiles: WorkerProfiles;
  readonly folders: WorkingFolders;
  readonly disk: Pick<DiskSync, 'file'>;
  /** Undefined where there is one process. */
  readonly lease?: LeaseDeadline | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly faults: Faults;
}

/**
 * Returns nothing to wait for while no other node can have the job; otherwise a promise that resolves once the next
 * heartbeat says so. Without it, a node that was suspended would publish the output of a job that others have failed.
 */
export function leaseHeld({ lease, clock }: JobTaskContext): Promise<void> | undefined {
  return lease?.held((ms) => clock.sleep(ms));
}

/** @throws {TaskFailure} `profile.not-found` */
export function profileNamed({ profiles }: JobTaskContext, name: string): WorkerProfileRuntime {
  const profile = profiles.byName.get(name);
  if (!profile) throw new TaskFailure('profile.not-found', `No signing profile is called ${name}.`);
  return profile;
}
