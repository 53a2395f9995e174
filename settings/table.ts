/**
 * Every configuration key this version reads: type, default, unit, rule and meaning, in one table. The settings
 * type, the checks, `check-config` and docs/configuration.md all come from it.
 *
 * Source: docs/configuration.md; docs/batch-values.md §§5, 6.2 and 12.
 */
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { type FolderName, type ProfileName, parseFolderName } from '../machines/ids.ts';
import { IDENTITY_KEYS, PROVIDER_KEYS, PROVIDER_ROLE_KEYS } from './identity-table.ts';
import { below, computed, key, optional, records, required, type Shape } from './keys.ts';
import {
  choice,
  commaList,
  flag,
  headerSecret,
  type ListenUrl,
  list,
  listenUrl,
  parsedBy,
  path,
  pattern,
  plainListenUrl,
  secretText,
  webOrigin,
  webUrl,
  whole,
} from './kinds.ts';
import { LOGGING_KEYS } from './logging-table.ts';
import { JOB_WEBHOOK_KEYS, NOTIFICATIONS_KEYS } from './notifications-table.ts';
import { bucketName, inputPrefix, OBJECTS_KEYS } from './objects-table.ts';
import { ORGANIZATION_KEYS, PORTAL_KEYS } from './portal-table.ts';
import { REMOTE_KEYS } from './remote-table.ts';
import { SIGNING_PROVIDER_KEYS, SIGNING_PROVIDERS_KEYS } from './signing-providers-table.ts';
import { ENCRYPTION_KEYS, PROFILE_KEYS, profileName, SIGNING_KEYS } from './signing-table.ts';
import type { EnvironmentName } from './sources.ts';
import { TOKEN_KEYS, TOKEN_RIGHT_KEYS, TOKENS_KEYS } from './token-table.ts';

/** `token` of RFC 9110 §5.6.2. */
const httpToken = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/);
const ipAddress = z.union([z.ipv4(), z.ipv6()]);

const address = pattern('IP address', 'must be an IP address', ipAddress);
const network = pattern(
  'network',
  'must be a network in CIDR notation, as 10.0.0.0/8',
  z.union([z.cidrv4(), z.cidrv6()]),
);
const cookieName = pattern('cookie name', 'must be the name of a cookie', httpToken);
const hostNames = commaList(
  'host name',
  'must be *, or host names without ports, separated by commas; *.name stands for everything below a name',
  z.union([z.literal('*'), ipAddress, z.string().regex(/^(?:\*\.)?[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?$/i)]),
);

/**
 * Keys of access control: hosts, https, proxies, sessions, limits.
 *
 * Source: docs/batch-values.md §5 and §10.
 */
const HOSTING_KEYS = {
  AllowedHosts: key(hostNames, ['*'], {
    says: 'Accepted host names of requests; others are answered 400 `host.not-allowed`.',
  }),
  'Hosting:HttpLibrary': key(choice(['auto', 'node']), 'auto', {
    says: '`auto`: uWebSockets where its binary loads, otherwise `node:http`, with a warning at the start. `node`: `node:http` everywhere, which answers fewer requests per second; see [benchmarks](../bench/README.md).',
  }),
  'Hosting:KeepAliveSeconds': optional(whole(1, 3600), {
    unit: 'seconds',
    says: 'Time that `node:http` keeps a connection after an answer, longer than the time-out of the proxy. Left out: 75. uWebSockets closes after 8 to 12 s, whatever is set here: see [operations.md](operations.md#reverse-proxy).',
  }),
  'Hosting:RequireHttps': key(flag(), false, {
    says: 'Redirect http requests (307) to https on the default port. Behind a proxy this needs `Hosting:ForwardedHeaders`.',
  }),
  'Hosting:ForwardedHeaders:Enabled': key(flag(), false, {
    says: 'Use `X-Forwarded-For`, `-Proto` and `-Host` of trusted proxies. Needs `TrustAnyProxy` or one of the two lists.',
  }),
  'Hosting:ForwardedHeaders:TrustAnyProxy': key(flag(), false, {
    says: 'Trust every peer; use it only where the proxy alone can connect. Excludes the two lists.',
  }),
  'Hosting:ForwardedHeaders:KnownProxies': key(list(address), [], { says: 'Addresses of trusted proxies.' }),
  'Hosting:ForwardedHeaders:KnownNetworks': key(list(network), [], {
    says: 'Networks of trusted proxies, as `10.0.0.0/8`.',
  }),
  'Hosting:ForwardedHeaders:ForwardLimit': key(whole(1, 16), 1, {
    unit: 'proxies',
    says: 'Maximum number of proxies in a row.',
  }),
  'Auth:CookieName': key(cookieName, 'batch-auth', { says: 'Name of the session cookie.' }),
  'Auth:SessionHours': key(whole(1, 24), 8, {
    unit: 'hours',
    says: 'Lifetime of an unused session; it is extended when more than half has passed.',
  }),
  'RateLimiting:Upload:QueueLimit': key(whole(0), 0, {
    unit: 'requests',
    says: 'Uploads above the limit that wait for the next window instead of being refused, per client address.',
  }),
  'RateLimiting:Actions:QueueLimit': key(whole(0), 0, {
    unit: 'requests',
    says: 'The same for actions.',
  }),
  'Dashboard:PollIntervalSeconds': key(whole(1, 60), 5, {
    unit: 'seconds',
    says: 'Refresh interval of the operator pages while the service works. After a quiet time a change is shown within a second.',
  }),
} as const;

const schemaName = pattern(
  'name',
  'must begin with a lower-case letter and go on with lower-case letters, digits and underscores, at most 63',
  z.string().regex(/^[a-z][a-z0-9_]{0,62}$/),
);
const nodeName = pattern(
  'name',
  'must be 1 to 100 printable characters without spaces',
  z.string().regex(/^[!-~]{1,100}$/),
);

const RUNTIME_KEYS = {
  'Runtime:Shards': key(whole(1, 64), 1, {
    unit: 'threads',
    says: 'Threads that host actors; `1` keeps them on the main thread. With `Runtime:Store=postgres` it must be `1`.',
  }),
  'Runtime:Store': key(choice(['lmdb', 'postgres']), 'lmdb', {
    says: '`lmdb`: the embedded store at `{Root}/db`. `postgres`: a PostgreSQL database, version 15 or newer.',
  }),
  ...below('Runtime:Postgres', {
    Url: optional(secretText(), {
      says: 'Database for `Runtime:Store=postgres`: `postgres://user:password@host:port/database`. Several hosts, Unix sockets and TLS: [several-nodes.md](several-nodes.md#the-url-of-the-database).',
    }),
    PoolSize: key(whole(2, 200), 10, {
      unit: 'connections',
      says: 'Connections of this process at most, besides one for its heartbeats.',
    }),
    Schema: key(schemaName, 'sealwright', { says: 'Schema of the tables; created when missing.' }),
    StatementTimeoutMs: key(whole(100, 600_000), 30_000, {
      unit: 'milliseconds',
      says: 'Time limit of a statement; then it fails and is tried again.',
    }),
  }),
  'Runtime:NodeName': optional(nodeName, {
    says: 'Name of this process in the database. Default: host name and port of `Batch:Url`.',
  }),
  'Runtime:LeaseSeconds': key(whole(1, 300), 5, {
    unit: 'seconds',
    says: 'Silence after which the work of a process on PostgreSQL is taken over.',
  }),
} as const;

const HISTORY_KEYS = {
  'History:CheckpointMinutes': key(whole(1, 1440), 10, {
    unit: 'minutes',
    says: 'Interval of checkpoints: a signed checkpoint over all changes is written to the log and the store.',
  }),
  'History:WebhookUrl': optional(webUrl(), {
    says: 'Address that receives each checkpoint as JSON, so that a copy exists elsewhere. Checkpoints are sent again until it answers with 2xx.',
  }),
  'History:TimestampUrl': optional(webUrl(), {
    says: 'Time-stamp authority (RFC 3161) for checkpoints; the token is stored and sent with the checkpoint.',
  }),
} as const;

const extension = pattern(
  'file extension',
  'must be a file extension that begins with a dot',
  z.string().regex(/^\.[^/\\\0]+$/),
);
const namePrefix = pattern(
  'beginning of a file name',
  'must be the beginning of a file name',
  z.string().regex(/^[^/\\\0]+$/),
);
const nameRule = 'must be 1 to 40 lower-case letters, digits and inner hyphens';
const folderName = pattern<FolderName>('name', nameRule, parsedBy(parseFolderName));
const headerName = pattern('header name', 'must be the name of an HTTP header', httpToken);

/** Members of one entry of `Storage:Inputs`. */
export const INPUT_KEYS = {
  Name: required(folderName, 'unnamed' as FolderName, {
    says: 'Name of the folder in the API and in metrics; unique.',
  }),
  Kind: key(choice(['FileSystem', 'S3']), 'FileSystem', {
    says: 'Where the files are: in a folder, or in a bucket that other programs fill ([object-store.md](object-store.md#inputs-in-buckets)).',
  }),
  Path: computed(path(), 'required by `FileSystem`', () => '', {
    says: 'Folder that is watched. Must not be equal to, inside or around another input or a work folder below `Storage:Root`.',
  }),
  Bucket: optional(bucketName, {
    says: 'Bucket that is watched; required by `S3`. `Storage:Objects:S3` has its server and keys.',
  }),
  Prefix: key(inputPrefix, '', { says: 'Folder in the bucket; empty: the whole bucket.' }),
  Profile: key(profileName, 'default' as ProfileName, {
    says: 'Signing profile of the files; `default` means the first profile when no profile has that name.',
  }),
  IgnoredExtensions: key(list(extension), [], { says: 'Added to `WatchedFolder:IgnoredExtensions`.' }),
  IgnoredPrefixes: key(list(namePrefix), [], { says: 'Added to `WatchedFolder:IgnoredPrefixes`.' }),
  PollIntervalSeconds: optional(whole(5, 3600), {
    unit: 'seconds',
    says: 'Present: the input is listed this often, for network mounts that report no changes.',
  }),
  StabilitySeconds: optional(whole(1, 3600), {
    unit: 'seconds',
    says: 'Time for which a file must stay unchanged; longer than the mount remembers attributes ([operations.md](operations.md#shares)). If absent: 10 on shares and with `PollIntervalSeconds`, else the time of the checks.',
  }),
  Recursive: key(flag(), false, {
    says: 'Also process files in subdirectories; `output/` repeats their relative path. Directories with ignored names and links are skipped.',
  }),
} as const;

/** One input folder. */
export type InputSettings = Shape<typeof INPUT_KEYS>;

export const KEYS = {
  'Storage:Root': computed(path(), '`data`', ({ cwd }) => resolve(cwd, 'data'), {
    says: 'Folder of all data of the program: `input/ processing/ output/ error/ portal/ mail/ db/ logs/ keys/`. Relative paths start at the working directory.',
  }),
  'Storage:KeysPath': computed(path(), '`{Root}/keys`', ({ root }) => join(root, 'keys'), {
    says: 'Folder of the keys that all nodes have in common: `api-key`, `job-secret`, `history-key`, `portal-secret` and others. It may be a secret that is mounted read-only; what the program changes stays in `{Root}/keys`.',
  }),
  'Storage:Inputs': computed(
    records(INPUT_KEYS),
    'one: `default`, `{Root}/input`',
    ({ root }): readonly InputSettings[] => [
      {
        name: 'default' as FolderName,
        kind: 'FileSystem',
        path: join(root, 'input'),
        bucket: undefined,
        prefix: '',
        profile: 'default' as ProfileName,
        ignoredExtensions: [],
        ignoredPrefixes: [],
        pollIntervalSeconds: undefined,
        stabilitySeconds: undefined,
        recursive: false,
      },
    ],
    {
      says: 'Watched input folders. Entries replace the default; with an empty list, files enter by upload only.',
    },
  ),
  ...OBJECTS_KEYS,
  'Storage:OutputCollision': key(choice(['Suffix', 'Fail']), 'Suffix', {
    says: 'What happens when the output name exists: `Suffix` adds the first eight characters of the job id (the whole id where that name exists, too), `Fail` fails the job. Nothing is ever overwritten.',
  }),
  'Batch:Enabled': key(flag(), true, { says: 'Serve the batch API. Folders are watched either way.' }),
  'Batch:Url': computed(
    listenUrl(),
    '`http://127.0.0.1:8080`',
    (): ListenUrl => ({ scheme: 'http', host: '127.0.0.1', port: 8080, href: 'http://127.0.0.1:8080' }),
    {
      says: 'Address of the batch service; `http://0.0.0.0:8080` accepts connections from the network, port 0 chooses a free port.',
    },
  ),
  'Batch:PublicUrl': optional(webOrigin(), {
    says: 'Address under which operators reach the batch service; identity providers lead back to it. Left out: the host of the request, if it is this machine, that of `Batch:Url` or named in `AllowedHosts`; sign-in at a provider from any other is answered `host.not-allowed`.',
  }),
  'Hosting:Tls:CertificatePath': optional(path(), {
    says: 'PEM certificate chain; with `Hosting:Tls:KeyPath` the service speaks https.',
  }),
  'Hosting:Tls:KeyPath': optional(path(), { says: 'PEM private key of that certificate.' }),
  'Hosting:HealthUrl': optional(plainListenUrl(), {
    says: 'Additional address that answers `GET /api/health` and, without reasons, `GET /api/ready` over plain http, also to HTTP/1.0, which some load balancers use and the listeners of both services refuse.',
  }),
  'Hosting:ShutdownTimeoutSeconds': key(whole(0, 600), 30, {
    unit: 'seconds',
    says: 'Time that a stop waits for running jobs. The recovery of the next start handles jobs that did not end.',
  }),
  ...HOSTING_KEYS,
  'Auth:ApiKey': optional(headerSecret(), {
    says: 'The API key. If absent, a random key is generated at first start and stored under `{Root}/keys/`. If empty, protected endpoints answer `auth.misconfigured`.',
  }),
  'Auth:ApiKeyHeader': key(headerName, 'X-API-Key', { says: 'Header that carries the API key.' }),
  'Auth:PreviousApiKey': optional(headerSecret(), {
    says: 'Second key, accepted during a rotation. Empty means none.',
  }),
  'Upload:MaxBytes': key(whole(1024), 104_857_600, {
    unit: 'bytes',
    says: 'Maximum size of an uploaded file.',
  }),
  'Pipeline:PollIntervalSeconds': key(whole(1, 3600), 2, {
    unit: 'seconds',
    says: 'Interval of checking the queue; a new job starts the worker at once.',
  }),
  'Pipeline:MaxConcurrency': key(whole(1, 64), 1, { unit: 'jobs', says: 'Jobs signed at the same time.' }),
  'Pipeline:TaskTimeoutSeconds': key(whole(10, 86_400), 900, {
    unit: 'seconds',
    says: 'Time limit of one task of the pool; then the task is ended and its job fails. After a quarter of it, the task counts as stalled: the readiness, the metrics and `GET /api/runtime` show it.',
  }),
  'Retention:JobsDays': key(whole(0, 36_500), 0, {
    unit: 'days',
    says: 'Finished jobs older than this are removed with their history and the records of their outputs, every hour. Files stay. 0 keeps all jobs.',
  }),
  'WatchedFolder:StabilityPollIntervalMs': key(whole(50, 10_000), 500, {
    unit: 'milliseconds',
    says: 'Interval between two checks of a file that may still be written.',
  }),
  'WatchedFolder:StabilityRequiredSamples': key(whole(1, 100), 3, {
    unit: 'checks',
    says: 'Consecutive checks that must find the same file: size, times and blocks.',
  }),
  'WatchedFolder:StabilityTimeoutSeconds': key(whole(1, 3600), 60, {
    unit: 'seconds',
    says: 'Time after which a file that keeps changing is skipped until its next event.',
  }),
  'WatchedFolder:StabilityConcurrency': key(whole(1, 1024), 64, {
    unit: 'files',
    says: 'Concurrent checks and enqueues of one folder.',
  }),
  'WatchedFolder:IgnoredExtensions': key(list(extension), ['.tmp', '.part', '.crdownload', '.swp'], {
    says: 'Files with these extensions are ignored; compared without case.',
  }),
  'WatchedFolder:IgnoredPrefixes': key(list(namePrefix), ['.', '~$'], {
    says: 'Files whose names begin with one of these are ignored.',
  }),
  'WatchedFolder:PollIntervalSeconds': key(whole(5, 3600), 30, {
    unit: 'seconds',
    says: 'Interval of listing each folder in full, in addition to change events.',
  }),
  'WatchedFolder:MaxConsecutiveEnqueueFailures': key(whole(1, 1000), 10, {
    unit: 'failures',
    says: 'Consecutive failures after which a watcher stops until the next start.',
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
  ...HISTORY_KEYS,
  ...NOTIFICATIONS_KEYS,
  ...PORTAL_KEYS,
  ...SIGNING_PROVIDERS_KEYS,
  ...IDENTITY_KEYS,
  ...TOKENS_KEYS,
  'Metrics:RequireApiKey': key(flag(), true, {
    says: 'Require the API key or a session for `GET /api/metrics`.',
  }),
  ...LOGGING_KEYS,
  ...RUNTIME_KEYS,
} as const;

/** Every setting, validated; paths absolute; a missing optional is undefined. */
export type Settings = Shape<typeof KEYS> & {
  readonly environment: EnvironmentName;
  /** True when errors are reported to clients without details and nothing is generated for development. */
  readonly production: boolean;
  /** Configured secret values, which are redacted in every output. */
  readonly secrets: readonly string[];
};

/** Every key as documented, members of lists written `Storage:Inputs:#:Name`. */
export function readNames(): readonly string[] {
  const inputs = Object.keys(INPUT_KEYS).map((name) => `Storage:Inputs:#:${name}`);
  const profiles = Object.keys(PROFILE_KEYS).map((name) => `Signing:Profiles:#:${name}`);
  const organizations = Object.keys(ORGANIZATION_KEYS).map((name) => `Portal:Organizations:#:${name}`);
  const webhooks = Object.keys(JOB_WEBHOOK_KEYS).map((name) => `Notifications:Webhooks:#:${name}`);
  const signing = Object.keys(SIGNING_PROVIDER_KEYS).map((name) => `Portal:SigningProviders:#:${name}`);
  const providers = Object.keys(PROVIDER_KEYS).map((name) => `Identity:Providers:#:${name}`);
  const roles = Object.keys(PROVIDER_ROLE_KEYS).map((name) => `Identity:Providers:#:Roles:#:${name}`);
  const tokens = Object.keys(TOKEN_KEYS).map((name) => `Identity:Tokens:#:${name}`);
  const tokenRights = Object.keys(TOKEN_RIGHT_KEYS).map((name) => `Identity:Tokens:#:Rights:#:${name}`);
  return [
    ...Object.keys(KEYS),
    ...inputs,
    ...profiles,
    ...webhooks,
    ...organizations,
    ...signing,
    ...providers,
    ...roles,
    ...tokens,
    ...tokenRights,
  ];
}
