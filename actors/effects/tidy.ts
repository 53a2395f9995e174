/** Takes the original away once its signed output is published and the job is Completed. */
import { Retryable } from '../../runtime/index.ts';
import type { HandlerParts, JobHandler } from './parts.ts';

/** Tried this often, with growing pauses, before the job says that somebody has to look. */
const TRIES = 12;

/** Waits until Completed is durable: nothing brings a removed original back. */
export function tidyHandler({ pool, clock }: HandlerParts): JobHandler<'tidy'> {
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
        at: clock.now(),
      });
      if (!answer.ok) throw new Retryable(answer.code, answer.message);
      return { type: 'TIDIED', diverged: answer.result.diverged };
    },
    failed: (_, failure) => ({
      type: 'TIDY_FAILED',
      message: `The input could not be removed and stays in place: ${failure.message}`,
    }),
  };
}
