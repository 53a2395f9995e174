/** Options of the batch service. */

import type { ProfileName } from '../../machines/ids.ts';
import type { StorageLayout } from '../shared/files/storage-layout.ts';
import type { InputBuckets } from '../shared/objects/input-buckets.ts';
import type { ObjectStore } from '../shared/objects/object-store.ts';
import type { Profile } from '../shared/signing/profiles.ts';
import type { TrustOptions } from '../shared/signing/trust-options.ts';
import type { FileAccessKey } from './access/access-keys.ts';
import type { FolderOptions } from './folders/folders.ts';
import type { RemotePollOptions } from './pipeline/remote-poll.ts';
import type { RemotePortal } from './remote/ports.ts';
import type { JobWebhookOptions } from './webhooks/job-webhook.ts';

export interface BatchOptions {
  readonly layout: StorageLayout;
  /** Holds uploads, outputs and the files of failed jobs. @default the folders of `layout` do */
  readonly objects?: ObjectStore | undefined;
  readonly folders: readonly FolderOptions[];
  /** Buckets of originals. @default no input is a bucket */
  readonly inputBuckets?: InputBuckets | undefined;
  /** Named keys and ended sessions that an earlier version kept in files of this node. @default none */
  readonly fromFiles?: {
    readonly keys: readonly FileAccessKey[];
    readonly ended: readonly { readonly id: string; readonly until: number }[];
  };
  /** At least one. */
  readonly profiles: readonly Profile[];
  /** Says why the next start could not load the key of a profile, which works; undefined when it could. @default unknown */
  readonly keyTrouble?: (profile: ProfileName) => Promise<string | undefined>;
  /** `Signing:Trust`. @default only the anchors of each profile */
  readonly trust?: TrustOptions;
  /** `Signing:License`: not needed; one that is not Base64 makes the service not ready. */
  readonly license?: string;
  /** Settings that need attention: a Degraded check each. @default none */
  readonly notices?: readonly { readonly name: string; readonly says: string }[];
  /** Key of the encryption envelopes, 32 bytes; needed when a profile encrypts. */
  readonly encryptionKey?: Uint8Array;
  /** Encrypts the passwords of uploads at rest, 32 bytes; left out: uploads with a password fail. */
  readonly secretKey?: Buffer;
  /** `Pipeline:MaxConcurrency`: jobs in flight. */
  readonly maxConcurrency: number;
  /** `Pipeline:PollIntervalSeconds`, in milliseconds. */
  readonly pollEvery: number;
  /** `Retention:JobsDays`, in milliseconds. @default finished jobs are kept */
  readonly keepJobs?: number | undefined;
  /** `Notifications:Webhooks`. @default none */
  readonly webhooks?: readonly JobWebhookOptions[] | undefined;
  /** `Storage:OutputCollision`. */
  readonly outputCollision: 'suffix' | 'fail';
  /** @default the defaults of `RemoteSigner:*`, and no portal */
  readonly remote?: RemotePollOptions & {
    /** Left out where no endpoint is configured; jobs that wait for one then end by their time limit. */
    readonly portal?: RemotePortal;
  };
  /** Milliseconds one task of the pool may take. @default 15 minutes */
  readonly taskTimeout?: number;
  /** Threads of the pool; more than jobs in flight are of no use. */
  readonly threads: number;
  /** Those of them that start before the first task. @default 1 */
  readonly eagerThreads?: number;
}

/** Defaults of `RemoteSigner:*`. */
export const REMOTE_DEFAULTS: RemotePollOptions = { every: 30_000, timeout: 168 * 3_600_000, maxFailures: 0 };
