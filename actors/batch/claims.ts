/** The pipeline, and what jobs wait for before it claims them: people, disk space, inputs and time-stamp authorities. */
import type { FolderName } from '../../machines/ids.ts';
import { type BatchOptions, REMOTE_DEFAULTS } from './batch-options.ts';
import { Authorities } from './pipeline/authorities.ts';
import { InputWaits } from './pipeline/input-waits.ts';
import { Pipeline } from './pipeline/pipeline.ts';
import { RemotePoll } from './pipeline/remote-poll.ts';
import { StorageMonitor, storageFolders } from './pipeline/storage-monitor.ts';
import { RemoteSigning } from './remote/remote-signing.ts';
import type { BatchCommon } from './wiring-common.ts';

export function createClaims({ options, runtime, observer, profiles }: BatchCommon) {
  const { layout, maxConcurrency, pollEvery } = options;
  const { portal, ...remoteOptions }: NonNullable<BatchOptions['remote']> = options.remote ?? REMOTE_DEFAULTS;
  const { timeout } = remoteOptions;
  const wake = () => pipeline.wake();
  const remote = new RemoteSigning({ runtime, portal, configured: profiles, observer, timeout });
  const storage = new StorageMonitor(runtime, storageFolders(layout), wake);
  const inputWaits = new InputWaits(runtime, runtime.originals, wake, quietTimes(options.folders));
  const authorities = new Authorities(runtime, profiles, options.trust, wake);
  const pipeline: Pipeline = new Pipeline({
    runtime,
    remote,
    storage,
    maxConcurrency,
    pollEvery,
    outages: inputWaits,
    authorities,
  });
  remote.onChange(wake);
  for (const profile of profiles.all)
    if (profile.method === 'Local' && profile.keyTrouble !== undefined)
      authorities.failed(profile.name, profile.keyTrouble);
  const remotePoll = new RemotePoll({ runtime, pipeline, remote, layout, options: remoteOptions });
  return { remote, storage, inputWaits, authorities, pipeline, remotePoll };
}

function quietTimes(folders: BatchOptions['folders']): ReadonlyMap<FolderName, number> {
  return new Map(
    folders.flatMap(({ name, settings: { stability } }) =>
      stability.quietMs === undefined ? [] : [[name, stability.quietMs] as const],
    ),
  );
}
