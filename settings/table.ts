/**
 * Every configuration key this version reads: type, default, unit, rule and meaning, in one table. The settings
 * type, the checks, `check-config` and docs/configuration.md all come from it.
 *
 * Source: running.md, "Configuration"; batch-gaps §§5, 6.2 and 12.
 */
import { join, resolve } from 'node:path';
import { type FolderName, type ProfileName, parseFolderName } from '../machines/ids.ts';
import { HOSTING_KEYS } from './hosting-table.ts';
import { computed, key, optional, records, required, type Shape } from './keys.ts';
import { choice, flag, type ListenUrl, list, listenUrl, path, pattern, secretText, whole } from './kinds.ts';
import { LOGGING_KEYS } from './logging-table.ts';
import { ORGANIZATION_KEYS, PORTAL_KEYS } from './portal-table.ts';
import { REMOTE_KEYS } from './remote-table.ts';
import { ENCRYPTION_KEYS, PROFILE_KEYS, profileName, SIGNING_KEYS } from './signing-table.ts';
import type { EnvironmentName } from './sources.ts';

const extension = pattern('file extension', 'must be a file extension that begins with a dot', (value) =>
  /^\.[^/\\\0]+$/.test(value) ? value : undefined,
);
const namePrefix = pattern('beginning of a file name', 'must be the beginning of a file name', (value) =>
  /^[^/\\\0]+$/.test(value) ? value : undefined,
);
const nameRule = 'must be 1 to 40 lower-case letters, digits and inner hyphens';
const folderName = pattern<FolderName>('name', nameRule, parseFolderName);
const headerName = pattern('header name', 'must be the name of an HTTP header', (value) =>
  /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(value) ? value : undefined,
);

/** Members of one entry of `Storage:Inputs`. */
export const INPUT_KEYS = {
  Name: required(folderName, 'unnamed' as FolderName, {
    says: 'Name of the folder in the API and in metrics; unique.',
  }),
  Path: required(path(), '', {
    says: 'Where files are dropped. Not equal to, inside or around another input or a work folder below `Storage:Root`.',
  }),
  Profile: key(profileName, 'default' as ProfileName, {
    says: 'Signing profile of the files; `default` stands for the first one when none is called so.',
  }),
  IgnoredExtensions: key(list(extension), [], { says: 'Added to `WatchedFolder:IgnoredExtensions`.' }),
  IgnoredPrefixes: key(list(namePrefix), [], { says: 'Added to `WatchedFolder:IgnoredPrefixes`.' }),
  PollIntervalSeconds: optional(whole(5, 3600), {
    unit: 'seconds',
    says: 'Present: the folder is also listed this often, for network mounts that report no changes.',
  }),
  Recursive: key(flag(), false, {
    says: 'Take files from the directories below the folder too; their relative path is repeated below `output/`. Directories with ignored names, and links, are left out.',
  }),
} as const;

/** One input folder. */
export type InputSettings = Shape<typeof INPUT_KEYS>;

export const KEYS = {
  'Storage:Root': computed(path(), '`data`', ({ cwd }) => resolve(cwd, 'data'), {
    says: 'Folder of everything the program keeps: `input/ processing/ output/ error/ portal/ mail/ db/ logs/ keys/`. Relative paths start at the working directory.',
  }),
  'Storage:Inputs': computed(
    records(INPUT_KEYS),
    'one: `default`, `{Root}/input`',
    ({ root }): readonly InputSettings[] => [
      {
        name: 'default' as FolderName,
        path: join(root, 'input'),
        profile: 'default' as ProfileName,
        ignoredExtensions: [],
        ignoredPrefixes: [],
        pollIntervalSeconds: undefined,
        recursive: false,
      },
    ],
    {
      says: 'Watched input folders. Entries replace the default; an empty list watches nothing and leaves uploads.',
    },
  ),
  'Storage:OutputCollision': key(choice(['Suffix', 'Fail']), 'Suffix', {
    says: 'When the wanted output name exists: `Suffix` adds the first eight characters of the job id, `Fail` fails the job. Nothing is ever overwritten.',
  }),
  'Batch:Enabled': key(flag(), true, { says: 'Serve the batch API. Folders are watched either way.' }),
  'Batch:Url': computed(
    listenUrl(),
    '`http://127.0.0.1:8080`',
    (): ListenUrl => ({ scheme: 'http', host: '127.0.0.1', port: 8080, href: 'http://127.0.0.1:8080' }),
    {
      says: 'Where the batch service listens; `http://0.0.0.0:8080` serves the network, port 0 takes a free one.',
    },
  ),
  'Hosting:Tls:CertificatePath': optional(path(), {
    says: 'PEM certificate chain; with `Hosting:Tls:KeyPath` the service speaks https.',
  }),
  'Hosting:Tls:KeyPath': optional(path(), { says: 'PEM private key of that certificate.' }),
  'Hosting:ShutdownTimeoutSeconds': key(whole(0, 600), 30, {
    unit: 'seconds',
    says: 'How long a stop waits for running jobs. What is left is handled by the recovery of the next start.',
  }),
  ...HOSTING_KEYS,
  'Auth:ApiKey': optional(secretText(), {
    says: 'The API key. Left out: a random one is made at first start and kept under `{Root}/keys/`. Present but empty: protected endpoints answer `auth.misconfigured`.',
  }),
  'Auth:ApiKeyHeader': key(headerName, 'X-API-Key', { says: 'Header that carries the API key.' }),
  'Auth:PreviousApiKey': optional(secretText(), {
    says: 'A second key accepted while keys are rotated. Empty counts as none.',
  }),
  'Upload:MaxBytes': key(whole(1024), 104_857_600, {
    unit: 'bytes',
    says: 'Largest file an upload may hold.',
  }),
  'Pipeline:PollIntervalSeconds': key(whole(1, 3600), 2, {
    unit: 'seconds',
    says: 'How often the queue is looked at when nothing wakes the worker; an enqueue wakes it at once.',
  }),
  'Pipeline:MaxConcurrency': key(whole(1, 32), 1, { unit: 'jobs', says: 'Jobs signed at the same time.' }),
  'WatchedFolder:StabilityPollIntervalMs': key(whole(50, 10_000), 500, {
    unit: 'milliseconds',
    says: 'Pause between two looks at a file that may still be written.',
  }),
  'WatchedFolder:StabilityRequiredSamples': key(whole(1, 100), 3, {
    unit: 'looks',
    says: 'Looks in a row that must find the same size and time.',
  }),
  'WatchedFolder:StabilityTimeoutSeconds': key(whole(1, 3600), 60, {
    unit: 'seconds',
    says: 'After this long a file that keeps changing is left until its next event.',
  }),
  'WatchedFolder:StabilityConcurrency': key(whole(1, 1024), 64, {
    unit: 'files',
    says: 'Looks and offers under way at once in one folder.',
  }),
  'WatchedFolder:IgnoredExtensions': key(list(extension), ['.tmp', '.part', '.crdownload', '.swp'], {
    says: 'Files with these extensions are never taken; compared without case.',
  }),
  'WatchedFolder:IgnoredPrefixes': key(list(namePrefix), ['.', '~$'], {
    says: 'Files whose names begin like this are never taken.',
  }),
  'WatchedFolder:PollIntervalSeconds': key(whole(5, 3600), 30, {
    unit: 'seconds',
    says: 'How often every folder is listed in full, besides its change events.',
  }),
  'WatchedFolder:MaxConsecutiveEnqueueFailures': key(whole(1, 1000), 10, {
    unit: 'failures',
    says: 'Failures in a row after which a watcher stops for good, until the next start.',
  }),
  'RateLimiting:Enabled': key(flag(), true, { says: 'Limit requests per client address.' }),
  'RateLimiting:Upload:PermitsPerWindow': key(whole(1), 30, {
    unit: 'requests',
    says: 'Uploads per window.',
  }),
  'RateLimiting:Upload:WindowSeconds': key(whole(1), 60, { unit: 'seconds', says: 'Length of that window.' }),
  'RateLimiting:Actions:PermitsPerWindow': key(whole(1), 60, {
    unit: 'requests',
    says: 'Retries, cancellations and other actions per window.',
  }),
  'RateLimiting:Actions:WindowSeconds': key(whole(1), 60, {
    unit: 'seconds',
    says: 'Length of that window.',
  }),
  ...SIGNING_KEYS,
  ...ENCRYPTION_KEYS,
  ...REMOTE_KEYS,
  ...PORTAL_KEYS,
  'Metrics:RequireApiKey': key(flag(), true, {
    says: 'Ask for the API key or a session on `GET /api/metrics`.',
  }),
  ...LOGGING_KEYS,
  'Runtime:Shards': key(whole(1, 64), 1, {
    unit: 'threads',
    says: 'Threads that host actors; `1` keeps them on the main thread.',
  }),
  'Runtime:Store': key(choice(['lmdb']), 'lmdb', { says: 'The embedded store, at `{Root}/db`.' }),
} as const;

/** Every setting, checked; paths absolute; a missing optional is undefined. */
export type Settings = Shape<typeof KEYS> & {
  readonly environment: EnvironmentName;
  /** True when errors are stripped for clients and nothing is made up for development. */
  readonly production: boolean;
  /** Configured secret values, which no line of output may contain. */
  readonly secrets: readonly string[];
};

/** Every key as documented, members of lists written `Storage:Inputs:#:Name`. */
export function readNames(): readonly string[] {
  const inputs = Object.keys(INPUT_KEYS).map((name) => `Storage:Inputs:#:${name}`);
  const profiles = Object.keys(PROFILE_KEYS).map((name) => `Signing:Profiles:#:${name}`);
  const organizations = Object.keys(ORGANIZATION_KEYS).map((name) => `Portal:Organizations:#:${name}`);
  return [...Object.keys(KEYS), ...inputs, ...profiles, ...organizations];
}
