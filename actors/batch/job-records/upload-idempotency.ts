/**
 * Idempotency keys of uploads. The job holds the key as a unique name, written in the commit that creates it: of two
 * concurrent uploads one creates the job and the other finds it, also after a crash. An expired key is released by the
 * next request for it, so no timers exist.
 *
 * Source: docs/batch-values.md §15.
 */
import { createHash } from 'node:crypto';
import type { JobContext, JobFormat, UploadedFile } from '../../../machines/batch/job-context.ts';
import { PARAMETER_NAMES, type SigningParameters } from '../../../machines/batch/signing-parameters.ts';
import type { Millis, ProfileName } from '../../../machines/ids.ts';
import { Refusal } from '../../../machines/refusals.ts';
import type { BatchRuntime } from './job-counts.ts';
import type { JobActor } from './job-index.ts';
import { JOB, uploadKeyName } from './kinds.ts';

/** Lifetime of a key, milliseconds. */
const UPLOAD_KEY_LIFETIME_MS = 24 * 3_600_000;

/** Idempotency key of an upload: a repeated upload creates no second job. Source: docs/batch-values.md §15. */
export interface UploadKey {
  /** API key or user that sent it. Equal keys of different callers are different keys. */
  readonly caller: string;
  /** 1 to 255 characters. */
  readonly key: string;
}

/** The stored form of a key; it includes the caller, so that callers have separate keys. */
export function uploadKeyText({ caller, key }: UploadKey): string {
  return createHash('sha256')
    .update(JSON.stringify([caller, key]))
    .digest('base64url');
}

/** True while the key of the job is valid. */
export function holdsUploadKey({ uploadKey, createdAt }: JobContext, now: Millis): boolean {
  return typeof uploadKey === 'string' && now - createdAt < UPLOAD_KEY_LIFETIME_MS;
}

/** Content of an upload under a key. */
export interface UploadContent {
  readonly fileName: string;
  readonly format: JobFormat;
  readonly profile: ProfileName;
  readonly operation?: 'Extend' | undefined;
  readonly parameters?: SigningParameters | undefined;
  readonly files?: readonly UploadedFile[] | undefined;
  /** Lower-case hex. */
  readonly sha256: string | undefined;
}

/**
 * Compares a repeated upload with the job. Jobs stored before the SHA-256 was recorded are compared once their input's
 * is known.
 * @throws {Refusal} `idempotency.mismatch`, with the differing member
 */
export function assertSameUpload(job: JobContext, upload: UploadContent): void {
  const made = job.uploadSha256 ?? job.input?.sha256;
  const differing = [
    ...(made !== undefined && made !== upload.sha256 ? ['content'] : []),
    ...(job.fileName === upload.fileName ? [] : ['file name']),
    ...(job.format === upload.format ? [] : ['format']),
    ...(job.profileName === upload.profile ? [] : ['profile']),
    ...(job.operation === upload.operation ? [] : ['operation']),
    ...PARAMETER_NAMES.filter((name) => job.parameters?.[name] !== upload.parameters?.[name]),
    ...(sameFiles(job.files, upload.files) ? [] : ['files']),
  ];
  if (differing.length === 0) return;
  throw new Refusal(
    'idempotency.mismatch',
    `The Idempotency-Key was used for an upload with another ${differing.join(', ')}. Use a new key for a new upload.`,
  );
}

function sameFiles(one: readonly UploadedFile[] = [], other: readonly UploadedFile[] = []): boolean {
  return (
    one.length === other.length &&
    one.every(({ name, length }, at) => name === other[at]?.name && length === other[at]?.length)
  );
}

export class UploadKeys {
  constructor(private readonly runtime: BatchRuntime) {}

  /** The durable job that holds the key; undefined when the key is free, also after releasing an expired one. */
  async find(text: string): Promise<JobActor | undefined> {
    const { actors, store, clock } = this.runtime;
    const holder = await store.holder(uploadKeyName(text));
    if (holder === undefined) return undefined;
    const job = await actors.read(JOB, holder.id);
    if (job === undefined) return undefined;
    if (holdsUploadKey(job.context, clock.now())) {
      await store.flushed();
      return job;
    }
    await actors.send(JOB, holder.id, { type: 'FORGET_KEY' });
    return undefined;
  }
}
