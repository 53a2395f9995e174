/** Removes the original once its signed output is published and the job is Completed. */
import { dirname } from 'node:path';
import { describeFailure, Fatal, Retryable } from '@sealwright/runtime';
import type { DiskSync } from '../../shared/disk-sync.ts';
import type { JobHandler, JobHandlerDependencies } from './effect-handler.ts';

/** Attempts with increasing pauses before the job reports that an operator must act. */
const MAX_ATTEMPTS = 12;
/** The same for a file that the service may not remove: a further attempt rarely helps. */
const MAX_REFUSED_ATTEMPTS = 3;

/**
 * Waits until Completed is durable, because the removal is final, and finishes when the removal is durable: an original
 * that a power cut restores would be signed again.
 */
export function tidyHandler({
  pool,
  disk,
}: Pick<JobHandlerDependencies, 'pool' | 'disk'>): JobHandler<'tidy'> {
  return {
    after: 'durable',
    tries: MAX_ATTEMPTS,
    async run(effect, attempt) {
      const answer = await pool.run({
        task: 'tidy',
        jobId: attempt.actor.id,
        fileName: effect.fileName,
        originalPath: effect.originalPath,
        input: effect.input,
      });
      if (!answer.ok) throw new Retryable(answer.code, answer.message);
      const { refused } = answer.result;
      if (refused !== undefined) {
        const remedy = `Remove it, and give the user of the service the right to remove files there (${refused}).`;
        if (attempt.failures + 1 < MAX_REFUSED_ATTEMPTS) throw new Retryable('job.input-not-removed', remedy);
        throw new Fatal('job.input-not-removed', remedy);
      }
      if (effect.input && !answer.result.diverged) await syncIfPresent(disk, dirname(effect.originalPath));
      return { type: 'TIDIED', diverged: answer.result.diverged };
    },
    failed: (_, failure) => ({
      type: 'TIDY_FAILED',
      message: `The input could not be removed and stays in place. ${failure.message}`,
    }),
  };
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

/**
 * Moves the working folder of a job that did not complete to `error/<job id>/`; the input stays in place. Waits until the end of the
 * job is durable, because the effect may withdraw an unpublished output.
 */
export function quarantineHandler({ pool }: JobHandlerDependencies): JobHandler<'quarantine'> {
  return {
    after: 'durable',
    async run(effect, attempt) {
      const answer = await pool.run({
        task: 'quarantine',
        jobId: attempt.actor.id,
        fileName: effect.fileName,
        mayBePublished: effect.mayBePublished,
        subfolder: effect.subfolder ?? '',
      });
      // The error folder may be writable later; until then the content stays in processing/.
      if (!answer.ok) throw new Retryable(answer.code, answer.message);
      return { type: 'QUARANTINED' };
    },
  };
}
