/** Takes the original away once its signed output is published and the job is Completed. */
import { dirname } from 'node:path';
import { describeFailure, Retryable } from '../../runtime/index.ts';
import type { DiskSync } from '../disk-sync.ts';
import type { HandlerParts, JobHandler } from './parts.ts';

/** Tried this often, with growing pauses, before the job says that somebody has to look. */
const TRIES = 12;

/**
 * Waits until Completed is durable: nothing brings a removed original back. And answers only when the removal is
 * durable: an original that a power cut brought back, of a job that calls itself tidy, would be signed again.
 */
export function tidyHandler({ pool, disk }: Pick<HandlerParts, 'pool' | 'disk'>): JobHandler<'tidy'> {
  return {
    after: 'durable',
    tries: TRIES,
    async run(effect, attempt) {
      const answer = await pool.run({
        task: 'tidy',
        jobId: attempt.actor.id,
        fileName: effect.fileName,
        originalPath: effect.originalPath,
        input: effect.input,
      });
      if (!answer.ok) throw new Retryable(answer.code, answer.message);
      if (effect.input && !answer.result.diverged) await syncIfPresent(disk, dirname(effect.originalPath));
      return { type: 'TIDIED', diverged: answer.result.diverged };
    },
    failed: (_, failure) => ({
      type: 'TIDY_FAILED',
      message: `The input could not be removed and stays in place: ${failure.message}`,
    }),
  };
}

/** A folder that is gone has taken the original with it. */
async function syncIfPresent(disk: DiskSync, folder: string): Promise<void> {
  try {
    await disk.directory(folder);
  } catch (error) {
    const { code, message } = describeFailure(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw new Retryable(code, message);
  }
}
