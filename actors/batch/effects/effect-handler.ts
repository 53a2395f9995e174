/** Dependencies and types of the handlers of a job's effects, and the conversion of failures to messages. */

import { type Clock, type EffectAttempt, Fatal, type Log, Retryable } from '@sealwright/runtime';
import type { WithoutTime } from '@sealwright/runtime/actions';
import type { JobMessage } from '../../../machines/batch/job-context.ts';
import type { SignInput } from '../../../machines/batch/job-effects.ts';
import { describeDiskError, INPUT_CHANGED, isStorageCode } from '../../pool/disk-errors.ts';
import type { SigningPool } from '../../pool/pool.ts';
import { LEASE_NOT_HELD } from '../../pool/task-failure.ts';
import type { PoolReply, PoolResults } from '../../pool/tasks.ts';
import type { DiskSync } from '../../shared/files/disk-sync.ts';
import type { StorageLayout } from '../../shared/files/storage-layout.ts';
import type { SecretBox } from '../../shared/secrets/secret-box.ts';
import type { CertificateChecks } from '../../shared/signing/certificate-checks.ts';
import type { EventLog } from '../job-records/events.ts';
import type { BucketOriginals } from '../objects/bucket-originals.ts';
import type { JobObjects } from '../objects/job-objects.ts';
import { stampOfOriginal } from '../objects/originals.ts';
import type { Authorities } from '../pipeline/authorities.ts';
import type { StorageFault, StorageMonitor } from '../pipeline/storage-monitor.ts';
import type { RemoteSigning } from '../remote/remote-signing.ts';

export interface JobHandlerDependencies {
  readonly pool: SigningPool;
  /** Checks the certificate before each signature. */
  readonly certificates?: Pick<CertificateChecks, 'check'>;
  /** Learns of time-stamp authorities that do not answer. */
  readonly authorities?: Pick<Authorities, 'failed'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly remote: RemoteSigning;
  readonly events: Pick<EventLog, 'record'>;
  readonly disk: DiskSync;
  readonly storage: StorageMonitor;
  readonly layout: Pick<StorageLayout, 'processing' | 'output'>;
  /** Undefined: jobs have their files in folders. */
  readonly objects?: JobObjects | undefined;
  /** Undefined: no input is a bucket. */
  readonly originals?: BucketOriginals | undefined;
  /** `Storage:OutputCollision`. */
  readonly outputCollision: 'suffix' | 'fail';
  /** Decrypts the passwords of uploads. */
  readonly secrets?: SecretBox | undefined;
}

/** Additional authenticated data of the encryption: binds the ciphertext to this use. */
export const PASSWORD_PLACE = 'job/password';

/** Decrypts the password of a job for its task. @throws {Fatal} `sealed.unreadable` when the key differs */
export function passwordOf(
  { sealedPassword }: { readonly sealedPassword?: string },
  secrets: SecretBox | undefined,
): { readonly password?: string } {
  if (!sealedPassword || secrets === undefined) return {};
  return { password: secrets.decrypt(sealedPassword, PASSWORD_PLACE) };
}

/** A message to a job; the host adds the time. */
export type JobMessageContent = WithoutTime<JobMessage>;

/**
 * No time limit: these effects wait for space, the pool or a remote portal, which have limits of their own. A second
 * attempt beside the first would publish or upload twice.
 */
export const NO_TIME_LIMIT = Number.POSITIVE_INFINITY;

/**
 * Returns the result of the pool; throws its failure, which is final, except that of a task that did not begin while
 * the database was away.
 */
export function messageOf<Name extends keyof PoolResults>(answer: PoolReply<Name>): PoolResults[Name] {
  if (answer.ok) return answer.result;
  if (answer.code === LEASE_NOT_HELD) throw new Retryable(answer.code, answer.message);
  throw new Fatal(answer.code, answer.message);
}

/** Times that a job waits for its input, which goes on being written: some hours. It is taken anew when it is complete. */
const MAX_INPUT_CHANGES = 50;

/** The message of a job whose file is still being written; undefined for any other failure. */
export async function waitsForInput(
  { code, message }: { readonly code: string; readonly message: string },
  { originalPath, seen, inputChanges = 0 }: Pick<SignInput, 'originalPath' | 'seen' | 'inputChanges'>,
): Promise<JobMessageContent | undefined> {
  if (code !== INPUT_CHANGED || seen === undefined || inputChanges >= MAX_INPUT_CHANGES) return undefined;
  const now = await stampOfOriginal(originalPath, {});
  // Gone: the attempt that follows says so.
  return { type: 'INPUT_AWAY', message: message.replace(/\.$/, ''), seen: now ?? seen };
}

/** Attempts of a file that needs more room than there is while others have enough: over a minute (`StorageMonitor`). */
const MAX_LARGE_ATTEMPTS = 6;
/** Free bytes with which other jobs go on. */
const ROOMY_BYTES = 64 << 20;

/**
 * Runs work that writes files. On a full disk or a folder that is not writable, waits until the storage monitor ends
 * its hold and runs the work again; the job does not fail, unless it alone is too large for what is free: it would fill the disk
 * at each attempt, and keep its slot from the others. Rejects with the signal's reason on a stop.
 * @param bytes length of the input. @default 0: unknown
 */
export async function whileWritable<Result>(
  storage: StorageMonitor,
  attempt: Pick<EffectAttempt, 'signal'>,
  work: () => Promise<Result>,
  bytes = 0,
): Promise<Result> {
  for (let attempts = 1; ; attempts += 1) {
    // The signal of an attempt is only made when it is read.
    if (attempts > 1 || storage.held !== null) await storage.writable(attempt.signal);
    // As the last check found it, after the files of the failed attempt were removed.
    const { freeBytes } = storage;
    try {
      return await work();
    } catch (error) {
      const fault = storageFault(error);
      if (fault === undefined) throw error;
      const isTooLarge = freeBytes >= ROOMY_BYTES && 2 * bytes > freeBytes;
      if (fault.code === 'disk.full' && isTooLarge && attempts >= MAX_LARGE_ATTEMPTS) throw error;
      storage.report(fault);
    }
  }
}

/** Returns the fault that holds the pipeline: a full disk, a folder that is not writable, an object store that cannot be used. */
export function storageFault(error: unknown): StorageFault | undefined {
  const { code, message } = describeDiskError(error);
  if (isStorageCode(code)) return { code, reason: message };
  return code === 'storage.unavailable' ? { code: 'disk.not-writable', reason: message } : undefined;
}

/** Rounds milliseconds to two decimals. */
export function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}

/** Creates the message that fails a job after any failure of signing or releasing. */
export function jobFailed(
  _: unknown,
  failure: { readonly code: string; readonly message: string },
): JobMessageContent {
  return { type: 'FAIL', code: failure.code, message: failure.message };
}

/** Message to a job in flight whose node ended. */
export function interrupted(): JobMessageContent {
  return { type: 'RESTARTED', takenOver: true };
}
