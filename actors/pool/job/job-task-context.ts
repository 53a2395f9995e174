/** Dependencies of job tasks, created once per pool thread. */
import type { Clock, Faults, Ids, LeaseDeadline } from '@sealwright/runtime';
import type { DiskSync } from '../../shared/files/disk-sync.ts';
import type { WorkingFolders } from '../../shared/files/working-folders.ts';
import { LEASE_NOT_HELD, TaskFailure } from '../task-failure.ts';
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

/** Maximum wait of a task for its lease, milliseconds: below the lowest time limit of a task, which would fail its job. */
const MAX_LEASE_WAIT_MS = 4000;

/**
 * Returns nothing to wait for while no other node can have the job; otherwise a promise that resolves once the next
 * heartbeat says so. Without it, a node that was suspended would publish the output of a job that others have failed.
 * @throws {TaskFailure} `store.unavailable` when the database does not answer for longer
 */
export function leaseHeld({
  lease,
  clock,
}: Pick<JobTaskContext, 'lease' | 'clock'>): Promise<void> | undefined {
  return lease
    ?.held((ms) => clock.sleep(ms), MAX_LEASE_WAIT_MS)
    ?.then((isHeld) => {
      if (isHeld) return;
      throw new TaskFailure(LEASE_NOT_HELD, 'The database does not answer; the task is tried again.');
    });
}

/** Does the work at once where no lease has to be waited for. Throws as `leaseHeld`. */
export function whileLeased<Result>(
  thread: Pick<JobTaskContext, 'lease' | 'clock'>,
  work: () => Result | Promise<Result>,
): Result | Promise<Result> {
  return leaseHeld(thread)?.then(work) ?? work();
}

/** @throws {TaskFailure} `profile.not-found` */
export function profileNamed({ profiles }: JobTaskContext, name: string): WorkerProfileRuntime {
  const profile = profiles.byName.get(name);
  if (!profile) throw new TaskFailure('profile.not-found', `No signing profile is called ${name}.`);
  return profile;
}
