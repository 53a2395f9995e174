/** Maps the configuration to the input folders. Source: docs/batch-values.md §5. */
import type { FolderOptions, Profile } from '../actors/index.ts';
import type { ProfileName } from '../machines/ids.ts';
import type { Settings } from '../settings.ts';

export function folderOptions(
  { storage, watchedFolder }: Settings,
  profiles: readonly Profile[],
): readonly FolderOptions[] {
  return storage.inputs.map((input) => ({
    name: input.name,
    path: input.path,
    profile: folderProfile(input.profile, profiles),
    budget: watchedFolder.maxConsecutiveEnqueueFailures,
    settings: {
      stability: {
        intervalMs: watchedFolder.stabilityPollIntervalMs,
        requiredSamples: watchedFolder.stabilityRequiredSamples,
        timeoutMs: watchedFolder.stabilityTimeoutSeconds * 1000,
      },
      concurrency: watchedFolder.stabilityConcurrency,
      ignoredExtensions: [...watchedFolder.ignoredExtensions, ...input.ignoredExtensions],
      ignoredNames: watchedFolder.ignoredNames,
      ignoredPrefixes: [...watchedFolder.ignoredPrefixes, ...input.ignoredPrefixes],
      recursive: input.recursive,
      sweepIntervalMs: (input.pollIntervalSeconds ?? watchedFolder.pollIntervalSeconds) * 1000,
    },
  }));
}

/** `default` names the first profile when no profile has that name. Source: docs/batch-values.md §6.1. */
function folderProfile(name: ProfileName, profiles: readonly Profile[]): ProfileName {
  if (profiles.some((profile) => profile.name === name)) return name;
  return profiles[0]?.name ?? name;
}
