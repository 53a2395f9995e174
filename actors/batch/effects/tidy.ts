/** Removes the original once its signed output is published and the job is Completed. */
import { dirname } from 'node:path';
import { describeFailure, type EffectAttempt, Fatal, isRetryable, Retryable } from '@sealwright/runtime';
import * as effects from '../../../machines/batch/job-effects.ts';
import type { DiskSync } from '../../shared/files/disk-sync.ts';
import { type BucketOriginals, isInBucket } from '../objects/bucket-originals.ts';
import { isObject } from '../objects/job-objects.ts';
import type { JobHandlerDependencies, JobMessageContent } from './effect-handler.ts';

/** Attempts with increasing pauses before the job reports that an operator must act. */
const MAX_ATTEMPTS = 12;
/** The same while a bucket is away, which its check says: one in five minutes, for about a month. */
const MAX_OUTAGE_ATTEMPTS = 10_000;
/** The same for a file that the service may not remove: a further attempt rarely helps. */
const MAX_REFUSED_ATTEMPTS = 3;

/**
 * Waits until Completed is durable, because the removal is final, and finishes when the removal is durable: an original
 * that a power cut restores would be signed again.
 */
export function tidyHandler({
  pool,
  disk,
  objects,
  originals,
}: Pick<JobHandlerDependencies, 'pool' | 'disk' | 'objects' | 'originals'>) {
  return effects.tidy.handledBy({
    tries: MAX_OUTAGE_ATTEMPTS,
    async run(effect, attempt) {
      // Of a file also what the runtime ends, as by its limit of time, counts; it is not seen below.
      if (isFile(effect.originalPath) && attempt.failures >= MAX_ATTEMPTS)
        throw new Fatal('job.input-not-removed', 'Each attempt took too long.');
      try {
        return await tidy(effect, attempt);
      } catch (error) {
        const { code, message } = describeFailure(error);
        const isOutage = !isFile(effect.originalPath) && code === 'storage.unavailable';
        if (isOutage || attempt.failures + 1 < MAX_ATTEMPTS) throw error;
        throw new Fatal(code, message);
      }
    },
    failed: (_, failure) => ({
      type: 'TIDY_FAILED',
      message: `The input could not be removed and stays in place. ${failure.message}`,
    }),
  });
  async function tidy(effect: effects.TidyInput, attempt: EffectAttempt): Promise<JobMessageContent> {
    const answer = await pool.run({
      task: 'tidy',
      jobId: attempt.actor.id,
      fileName: effect.fileName,
      originalPath: effect.originalPath,
      input: isFile(effect.originalPath) ? effect.input : null,
    });
    if (!answer.ok) throw new Retryable(answer.code, answer.message);
    if (isInBucket(effect.originalPath)) return removeFromBucket(effect, originals);
    if (isObject(effect.originalPath)) {
      await objects?.removeInput(effect.originalPath);
      return { type: 'TIDIED', diverged: false };
    }
    const { refused } = answer.result;
    if (refused !== undefined) {
      const remedy = `Remove it, and give the user of the service the right to remove files there (${refused}).`;
      if (attempt.failures + 1 < MAX_REFUSED_ATTEMPTS) throw new Retryable('job.input-not-removed', remedy);
      throw new Fatal('job.input-not-removed', remedy);
    }
    if (effect.input && !answer.result.diverged) await syncIfPresent(disk, dirname(effect.originalPath));
    return { type: 'TIDIED', diverged: answer.result.diverged };
  }
}

function isFile(originalPath: string): boolean {
  return !isObject(originalPath) && !isInBucket(originalPath);
}

async function removeFromBucket(
  { originalPath, input }: effects.TidyInput,
  originals: BucketOriginals | undefined,
): Promise<JobMessageContent> {
  if (originals === undefined || input?.etag === undefined)
    throw new Fatal(
      'job.input-not-removed',
      `Remove ${originalPath}; Storage:Inputs names no bucket any more.`,
    );
  try {
    const { etag, mtimeMs } = input;
    const outcome = await originals.remove(originalPath, { etag, mtimeMs });
    return { type: 'TIDIED', diverged: outcome === 'changed' };
  } catch (error) {
    const { code, message } = describeFailure(error);
    if (code !== 'input.unreadable' || isRetryable(error)) throw error;
    throw new Fatal(
      'job.input-not-removed',
      `Remove ${originalPath}, and give the service the right (${message}).`,
    );
  }
}

/** Syncs a folder; ignores a folder that no longer exists. */
async function syncIfPresent(disk: DiskSync, folder: string): Promise<void> {
  try {
    await disk.directory(folder);
  } catch (error) {
    const { code, message } = describeFailure(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw new Retryable(code, message);
  }
}
