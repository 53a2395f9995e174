/** What a pool thread brings to the tasks of jobs. */
import type { Clock, Faults, Ids } from '../../../runtime/index.ts';
import type { DiskSync } from '../../disk-sync.ts';
import type { WorkingFolders } from '../../files/working-folders.ts';
import type { WorkerSetup } from '../setup.ts';
import { TaskFailure } from '../task-failure.ts';
import type { ThreadProfile, ThreadProfiles } from '../worker-profiles.ts';

export interface JobThread {
  readonly setup: WorkerSetup;
  readonly profiles: ThreadProfiles;
  readonly folders: WorkingFolders;
  readonly disk: Pick<DiskSync, 'file'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly faults: Faults;
}

/** @throws {TaskFailure} `profile.not-found` */
export function profileNamed({ profiles }: JobThread, name: string): ThreadProfile {
  const profile = profiles.byName.get(name);
  if (!profile) throw new TaskFailure('profile.not-found', `No signing profile is called ${name}.`);
  return profile;
}
