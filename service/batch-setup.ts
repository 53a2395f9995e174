/** Maps the configuration to the batch service. Source: docs/batch-values.md §5. */
import { availableParallelism } from 'node:os';
import type { Clock, Ids, Log } from '@sealwright/runtime';
import {
  type BatchOptions,
  createRemotePortal,
  type FolderOptions,
  type InputBuckets,
  type ObjectStore,
  type Profile,
  type StorageLayout,
} from '../actors/index.ts';
import { readEndedSessions, readKeyFile } from '../http/index.ts';
import type { ProfileName } from '../machines/ids.ts';
import { type InputSettings, placeOfInput, prefixOf, type Settings } from '../settings.ts';
import { ENDED_SESSIONS_FILE, jobSecretBytes, type KeyFolder, NAMED_KEYS_FILE } from './key-folder.ts';
import { portalNotices } from './portal-notices.ts';
import { deriveEncryptionKey, type SigningSetup } from './signing-setup.ts';

/** @param parts `working` receives what ends the connections to the remote portal */
export async function setUpBatch(
  settings: Settings,
  keys: KeyFolder,
  { profiles, trust, onDisk }: Pick<SigningSetup, 'profiles' | 'trust' | 'onDisk'>,
  parts: {
    readonly layout: StorageLayout;
    readonly clock: Clock;
    readonly ids: Ids;
    readonly log: Log;
    readonly objects: ObjectStore | undefined;
    readonly inputBuckets: InputBuckets | undefined;
    readonly working: (() => Promise<void>)[];
  },
): Promise<BatchOptions> {
  const { signing, pipeline, retention } = settings;
  const encryptionKey = await deriveEncryptionKey(settings);
  const readFile = <Item>(name: string, read: (text: string) => readonly Item[]): readonly Item[] => {
    const text = keys.read(name);
    try {
      return text === undefined ? [] : read(text);
    } catch {
      parts.log.error(`${name}, a file of an earlier version, cannot be read. Nothing in it counts.`);
      return [];
    }
  };
  return {
    layout: parts.layout,
    objects: parts.objects,
    inputBuckets: parts.inputBuckets,
    folders: folderOptions(settings, profiles, parts.inputBuckets),
    profiles,
    trust,
    keyTrouble: async (profile) => onDisk.get(profile)?.(),
    ...(signing.license !== undefined && { license: signing.license }),
    ...(encryptionKey && { encryptionKey }),
    secretKey: await jobSecretBytes(keys, parts.ids),
    fromFiles: {
      keys: readFile(NAMED_KEYS_FILE, readKeyFile),
      ended: readFile(ENDED_SESSIONS_FILE, readEndedSessions),
    },
    remote: remotePart(settings, parts),
    notices: portalNotices(settings).filter(({ name }) => name !== 'portal:seal'),
    maxConcurrency: pipeline.maxConcurrency,
    taskTimeout: pipeline.taskTimeoutSeconds * 1000,
    pollEvery: pipeline.pollIntervalSeconds * 1000,
    ...(retention.jobsDays > 0 && { keepJobs: retention.jobsDays * 86_400_000 }),
    webhooks: settings.notifications.webhooks,
    outputCollision: settings.storage.outputCollision === 'Suffix' ? 'suffix' : 'fail',
    threads: availableParallelism(),
  };
}

function folderOptions(
  { storage, watchedFolder }: Settings,
  profiles: readonly Profile[],
  buckets: InputBuckets | undefined,
): readonly FolderOptions[] {
  return storage.inputs.map((input) => ({
    name: input.name,
    path: placeOfInput(input),
    ...(buckets &&
      input.bucket !== undefined && {
        source: { buckets, bucket: input.bucket, prefix: prefixOf(input) },
      }),
    profile: folderProfile(input.profile, profiles),
    budget: watchedFolder.maxConsecutiveEnqueueFailures,
    settings: {
      stability: {
        intervalMs: watchedFolder.stabilityPollIntervalMs,
        requiredSamples: watchedFolder.stabilityRequiredSamples,
        timeoutMs: watchedFolder.stabilityTimeoutSeconds * 1000,
        quietMs: quietMsOf(input),
        isShare: input.pollIntervalSeconds !== undefined,
      },
      concurrency: watchedFolder.stabilityConcurrency,
      ignoredExtensions: [...watchedFolder.ignoredExtensions, ...input.ignoredExtensions],
      ignoredPrefixes: [...watchedFolder.ignoredPrefixes, ...input.ignoredPrefixes],
      recursive: input.recursive,
      sweepIntervalMs: (input.pollIntervalSeconds ?? watchedFolder.pollIntervalSeconds) * 1000,
    },
  }));
}

function quietMsOf({ stabilitySeconds }: InputSettings): number | undefined {
  return stabilitySeconds === undefined ? undefined : stabilitySeconds * 1000;
}

/** `default` names the first profile when no profile has that name. Source: docs/batch-values.md §6.1. */
function folderProfile(name: ProfileName, profiles: readonly Profile[]): ProfileName {
  if (profiles.some((profile) => profile.name === name)) return name;
  return profiles[0]?.name ?? name;
}

/**
 * Connects to the remote portal, also if no profile needs it any more: jobs of a removed profile may still wait for it.
 */
function remotePart(
  { remoteSigner }: Settings,
  { clock, ids, working }: Parameters<typeof setUpBatch>[3],
): NonNullable<BatchOptions['remote']> {
  const { endpoint, apiKey } = remoteSigner;
  const options = {
    every: remoteSigner.pollIntervalSeconds * 1000,
    timeout: remoteSigner.timeoutHours * 3_600_000,
    maxFailures: remoteSigner.maxConsecutiveApiFailures,
  };
  if (endpoint === undefined || !apiKey) return options;
  const portal = createRemotePortal({
    endpoint,
    apiKey,
    timeout: remoteSigner.requestTimeoutSeconds * 1000,
    clock,
    ids,
  });
  working.push(async () => portal.close());
  return { ...options, portal };
}
